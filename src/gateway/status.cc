#include "gateway/status.h"

#include "base/clock.h"

namespace relay::gateway {
namespace {

std::string_view name_of(upstream::Expose expose) {
  switch (expose) {
    case upstream::Expose::code: return "code";
    case upstream::Expose::tools: return "tools";
    case upstream::Expose::both: return "both";
    case upstream::Expose::none: return "none";
  }
  return "none";
}

void describe_offer(json::object& out, const upstream::Offer& offer) {
  out["tools"] = offer.tools.items->size();
  out["resources"] = offer.resources.items->size();
  out["prompts"] = offer.prompts.items->size();
  if (!offer.server.empty()) out["server"] = offer.server;
  if (!offer.oddities.empty()) out["oddities"] = json::array(offer.oddities.begin(), offer.oddities.end());
}

json::value describe_server(const upstream::Upstream& server) {
  const upstream::Status status = server.status();
  json::object out{{"name", server.spec().name},
                   {"expose", json::string(name_of(server.spec().expose))},
                   {"state", json::string(upstream::name_of(status.phase))},
                   {"since", format_iso8601(status.since)},
                   {"openCalls", status.open_calls},
                   {"calls", status.calls},
                   {"failures", status.failures},
                   {"restarts", status.restarts}};
  if (!status.reason.empty()) out["reason"] = status.reason;
  if (status.revision) out["revision"] = json::string(protocol::name_of(*status.revision));
  if (status.pid) out["pid"] = *status.pid;
  if (status.cage) out["cage"] = sandbox::to_json(*status.cage);
  if (!status.reason.empty() && !status.stderr_tail.empty())
    out["stderr"] = json::array(status.stderr_tail.begin(), status.stderr_tail.end());
  if (const auto offer = server.known_offer()) describe_offer(out, *offer);
  return out;
}

}  // namespace

json::value describe_fleet(const upstream::Fleet& fleet, const ExposedCatalog& shelf) {
  json::array servers;
  for (const auto& server : fleet.all()) servers.push_back(describe_server(*server));
  json::object out{{"servers", std::move(servers)}};
  if (!shelf.collisions.empty())
    out["collisions"] = json::array(shelf.collisions.begin(), shelf.collisions.end());
  return out;
}

}  // namespace relay::gateway
