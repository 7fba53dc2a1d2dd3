#include "upstream/offer_walk.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "peer/request_scope.h"
#include "protocol/modern_headers.h"
#include "upstream/offer_items.h"

namespace relay::upstream {
namespace {

using protocol::CacheScope;
using protocol::JsonText;

/// All items of one list, as text.
struct Pages {
  std::vector<JsonText> items;
  std::optional<std::chrono::milliseconds> ttl;
  CacheScope scope = CacheScope::shared;
  bool is_whole = true;
};

struct Walk {
  peer::Peer& peer;
  const ServerSpec& spec;
  std::vector<std::string>& oddities;
};

std::string params_of(const std::optional<std::string>& cursor) {
  return cursor ? "{\"cursor\":" + json::quote(*cursor) + "}" : "{}";
}

// Each page has its own time to live; the list lives as long as the shortest. Legacy pages have none.
void take_caching(Pages& pages, const json::object& result) {
  const auto ttl = json::find_int(result, "ttlMs");
  if (ttl) {
    const std::chrono::milliseconds kept(std::clamp<std::int64_t>(*ttl, 0, 24L * 3600 * 1000));
    pages.ttl = std::min(pages.ttl.value_or(kept), kept);
  }
  if (json::find_string(result, "cacheScope") != "public") pages.scope = CacheScope::owner;
}

io::Task<Pages> walk_pages(Walk walk, std::string method, std::string member) {
  Pages pages;
  std::set<std::string> seen;
  std::optional<std::string> cursor;
  peer::SilentScope nobody;
  for (std::size_t page = 0; page < limits::kUpstreamPages && pages.items.size() < limits::kUpstreamItems;
       ++page) {
    peer::Outgoing ask{.method = method, .params = params_of(cursor)};
    ask.timeout = walk.spec.call_timeout;
    RELAY_CO_TRY(const peer::PeerAnswer answer, co_await walk.peer.request(std::move(ask), nobody));
    if (!answer) {
      walk.oddities.push_back(
          fmt::format("{}: {} (code {})", method, answer.error().message, answer.error().code));
      pages.is_whole = answer.error().code == protocol::code::kMethodNotFound;
      co_return pages;
    }
    if (!answer->value().is_object()) {
      walk.oddities.push_back(fmt::format("{}: the result is no object", method));
      co_return pages;
    }
    const json::object& result = answer->value().get_object();
    append_items(pages.items, answer->text(), member);
    take_caching(pages, result);
    const auto next = json::find_string(result, "nextCursor");
    if (!next) co_return pages;
    cursor = std::string(*next);
    if (!seen.insert(*cursor).second) {
      walk.oddities.push_back(fmt::format("{}: the same cursor came twice; the list ends there", method));
      co_return pages;
    }
  }
  walk.oddities.push_back(fmt::format("{}: more than {} pages or {} items; the rest is left out", method,
                                      limits::kUpstreamPages, limits::kUpstreamItems));
  co_return pages;
}

template <class T>
protocol::Listing<T> make_listing(const Pages& pages, std::shared_ptr<const std::vector<T>> items) {
  protocol::Listing<T> listing;
  listing.items = std::move(items);
  listing.caching = {.ttl = pages.ttl.value_or(std::chrono::milliseconds(0)), .scope = pages.scope};
  return listing;
}

// Over HTTP a modern client repeats some arguments as headers, and must not use a tool whose schema asks for
// impossible ones.
bool needs_header_check(const Walk& walk) {
  return walk.spec.transport != ServerTransport::stdio && walk.peer.info().era() == protocol::Era::modern;
}

std::string_view capability_of(peer::ListKind kind) {
  switch (kind) {
    case peer::ListKind::tools: return "tools";
    case peer::ListKind::resources: return "resources";
    case peer::ListKind::prompts: return "prompts";
  }
  return "";
}

ListCaching make_shelf(const peer::PeerInfo& info, peer::ListKind kind, const Pages& pages) {
  const json::object* declared = json::find_object(info.capabilities, capability_of(kind));
  return {.announces_changes = declared && json::find_bool(*declared, "listChanged").value_or(false),
          .ttl = pages.ttl,
          .is_whole = pages.is_whole};
}

io::Task<ListCaching> walk_tools(Walk walk, Offer& offer) {
  RELAY_CO_TRY(const Pages pages, co_await walk_pages(walk, "tools/list", "tools"));
  const HeaderParams params = needs_header_check(walk) ? HeaderParams::check : HeaderParams::ignore;
  offer.tools = make_listing(pages, read_tools(pages.items, walk.spec, params, walk.oddities));
  co_return make_shelf(walk.peer.info(), peer::ListKind::tools, pages);
}

io::Task<ListCaching> walk_resources(Walk walk, Offer& offer) {
  RELAY_CO_TRY(const Pages pages, co_await walk_pages(walk, "resources/list", "resources"));
  offer.resources =
      make_listing(pages, read_items<protocol::Resource>(pages.items, walk.oddities, parse_resource));
  RELAY_CO_TRY(Pages templates, co_await walk_pages(walk, "resources/templates/list", "resourceTemplates"));
  offer.templates = make_listing(
      templates, read_items<protocol::ResourceTemplate>(templates.items, walk.oddities, parse_template));
  if (pages.ttl) templates.ttl = std::min(templates.ttl.value_or(*pages.ttl), *pages.ttl);
  templates.is_whole = templates.is_whole && pages.is_whole;
  co_return make_shelf(walk.peer.info(), peer::ListKind::resources, templates);
}

io::Task<ListCaching> walk_prompts(Walk walk, Offer& offer) {
  RELAY_CO_TRY(const Pages pages, co_await walk_pages(walk, "prompts/list", "prompts"));
  offer.prompts = make_listing(pages, read_items<protocol::Prompt>(pages.items, walk.oddities, parse_prompt));
  co_return make_shelf(walk.peer.info(), peer::ListKind::prompts, pages);
}

io::Task<ListCaching> walk_list(Walk walk, peer::ListKind kind, Offer& offer) {
  switch (kind) {
    case peer::ListKind::tools: co_return co_await walk_tools(walk, offer);
    case peer::ListKind::resources: co_return co_await walk_resources(walk, offer);
    case peer::ListKind::prompts: co_return co_await walk_prompts(walk, offer);
  }
  co_return fail(internal("unknown kind of list"));
}

// A list the server does not have: nothing to ask for, and nothing that could change without a reconnect.
void clear_list(peer::ListKind kind, Offer& offer) {
  switch (kind) {
    case peer::ListKind::tools: offer.tools = {}; return;
    case peer::ListKind::resources:
      offer.resources = {};
      offer.templates = {};
      return;
    case peer::ListKind::prompts: offer.prompts = {}; return;
  }
}

}  // namespace

io::Task<Walked> walk_offer(peer::Peer& peer, const ServerSpec& spec, std::vector<peer::ListKind> kinds,
                            Walked before) {
  Walked walked = std::move(before);
  Offer& offer = walked.offer;
  offer.instructions = peer.info().instructions;
  offer.server = peer.info().server;
  offer.capabilities = peer.info().capabilities;
  std::vector<std::string> oddities;
  for (const peer::ListKind kind : kinds) {
    ListCaching& shelf = walked.shelves[static_cast<std::size_t>(kind)];
    if (peer.info().can(capability_of(kind))) {
      RELAY_CO_TRY(shelf, co_await walk_list({peer, spec, oddities}, kind, offer));
    } else {
      clear_list(kind, offer);
      shelf = {.announces_changes = true, .ttl = {}, .is_whole = true};
    }
  }
  // What was odd about the other lists is still so.
  if (kinds.size() == 3) offer.oddities.clear();
  for (std::string& oddity : oddities)
    if (offer.oddities.size() < kOdditiesMax &&
        std::ranges::find(offer.oddities, oddity) == offer.oddities.end())
      offer.oddities.push_back(std::move(oddity));
  co_return walked;
}

}  // namespace relay::upstream
