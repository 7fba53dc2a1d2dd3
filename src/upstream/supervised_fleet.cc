#include "upstream/supervised_fleet.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "upstream/era_verdicts.h"

namespace relay::upstream {
namespace {

// A name is an identifier in the configuration; whatever else it holds must not leave the directory.
std::string file_name_of(std::string name, std::string_view ending) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  std::ranges::replace_if(name, [&](char c) { return !plain(c); }, '_');
  return name.append(ending);
}

}  // namespace

SupervisedFleet::SupervisedFleet(FleetParts parts) : parts_(std::move(parts)) {
  const bool keeps = parts_.pool && !parts_.state.empty();
  if (keeps) {
    std::error_code ignored;  // a log that cannot be written is missing, no more
    std::filesystem::create_directories(parts_.state / "logs", ignored);
    std::filesystem::permissions(parts_.state / "logs", std::filesystem::perms::owner_all, ignored);
  }
  eras_ = std::make_shared<EraVerdicts>(parts_.executor, parts_.pool, parts_.clock,
                                        keeps ? parts_.state / "eras.json" : std::filesystem::path());
}

SupervisedFleet::~SupervisedFleet() {
  for (const auto& server : servers_) server->fall_silent();
}

std::shared_ptr<SupervisedUpstream> SupervisedFleet::make(ServerSpec spec) {
  std::shared_ptr<launch::LogFile> file;
  std::shared_ptr<OfferFile> offers;
  if (parts_.pool && !parts_.state.empty()) {
    file = std::make_shared<launch::LogFile>(parts_.executor, *parts_.pool,
                                             parts_.state / "logs" / file_name_of(spec.name, ".log"));
    offers = std::make_shared<OfferFile>(parts_.executor, *parts_.pool,
                                         parts_.state / "offers" / file_name_of(spec.name, ".json"), spec);
  }
  auto log = std::make_shared<launch::ServerLog>(parts_.clock, parts_.redactor, std::move(file));
  ConnectionSetup setup{.spec = std::move(spec),
                        .executor = parts_.executor,
                        .clock = parts_.clock,
                        .connect = parts_.connect,
                        .eras = eras_,
                        .log = std::move(log),
                        .pace = parts_.pace};
  auto tell_all = [this](const ServerSpec& of, const protocol::ServerEvent& event) { tell(of, event); };
  return std::make_shared<SupervisedUpstream>(std::move(setup), std::move(tell_all), std::move(offers));
}

void SupervisedFleet::apply(std::vector<ServerSpec> specs) {
  if (is_stopped_) return;
  Servers before = std::exchange(servers_, {});
  std::vector<ServerSpec> changed;
  std::set<std::string> names;
  for (ServerSpec& spec : specs) {
    if (names.size() >= limits::kUpstreamServers || !names.insert(spec.name).second) {
      parts_.log.warn("an upstream server is left out: its name is taken, or there are too many",
                      {{"server", spec.name}});
      continue;
    }
    const auto same =
        std::ranges::find_if(before, [&](const auto& server) { return server->spec() == spec; });
    if (same != before.end()) {
      servers_.push_back(std::move(*same));
      before.erase(same);
      continue;
    }
    changed.push_back(spec);
    servers_.push_back(make(std::move(spec)));
    if (servers_.back()->spec().autostart) servers_.back()->start_ahead();
  }
  for (const auto& server : before) {
    retire(server, names.contains(server->spec().name) ? "was stopped: its configuration changed"
                                                       : "was removed from the configuration");
    if (names.contains(server->spec().name)) continue;
    server->forget_offer();
    changed.push_back(server->spec());
  }
  for (const ServerSpec& spec : changed) tell_all_changed(spec);
}

void SupervisedFleet::retire(const std::shared_ptr<SupervisedUpstream>& server, std::string reason) {
  // A coroutine begins when the loop gets to it; by then the fleet may have let go of the server.
  const auto body = [](std::shared_ptr<SupervisedUpstream> kept, std::string why) -> io::Task<void> {
    co_return co_await kept->retire(std::move(why));
  };
  io::spawn(parts_.executor, body(server, std::move(reason)), "stop of an upstream server");
}

std::vector<std::shared_ptr<Upstream>> SupervisedFleet::all() const {
  return {servers_.begin(), servers_.end()};
}

std::shared_ptr<SupervisedUpstream> SupervisedFleet::find_server(std::string_view name) const {
  const auto found =
      std::ranges::find_if(servers_, [&](const auto& server) { return server->spec().name == name; });
  return found == servers_.end() ? nullptr : *found;
}

std::shared_ptr<Upstream> SupervisedFleet::find(std::string_view name) const {
  return find_server(name);
}

std::shared_ptr<const FleetSink> SupervisedFleet::subscribe(FleetSink sink) {
  auto held = std::make_shared<const FleetSink>(std::move(sink));
  std::erase_if(sinks_, [](const auto& other) { return other.expired(); });
  sinks_.push_back(held);
  return held;
}

io::Task<void> SupervisedFleet::stop() {
  is_stopped_ = true;
  for (const auto& server : servers_) retire(server, "was stopped: relay is shutting down");
  // Each stops on its own, those of an earlier configuration too; together they take as long as the slowest.
  for (const auto& server : servers_) RELAY_CO_CHECK(co_await server->stop());
  co_return co_await parts_.heads->wait_for_none();
}

// Subscribers may come and go while they are told.
void SupervisedFleet::tell(const ServerSpec& spec, const protocol::ServerEvent& event) {
  for (const std::weak_ptr<const FleetSink>& sink : std::vector(sinks_))
    if (const auto held = sink.lock()) (*held)(spec.name, event);
}

void SupervisedFleet::tell_all_changed(const ServerSpec& spec) {
  for (const protocol::ListKind list : protocol::kLists) tell(spec, protocol::ListChanged{list});
}

}  // namespace relay::upstream
