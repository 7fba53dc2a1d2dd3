#include "codemode/tool_catalogs.h"

#include <set>

#include <fmt/format.h>

#include "codemode/alias.h"
#include "gateway/guarded_upstream.h"
#include "io/event.h"
#include "io/spawn.h"

namespace relay::codemode {
namespace {

// What the questions of open_all share: each writes its own place, the last one wakes the asker.
struct Round {
  Round(const io::Loop& executor, std::size_t count) : answered(executor), books(count), open(count) {}
  io::Event answered;
  std::vector<std::shared_ptr<const ToolCatalog>> books;
  std::size_t open;
};

}  // namespace

std::vector<CodeServer> ToolCatalogs::servers() const {
  std::vector<CodeServer> out;
  std::set<std::string, std::less<>> taken;
  for (std::shared_ptr<upstream::Upstream>& server : fleet_.all()) {
    const upstream::ServerSpec& spec = server->spec();
    if (!spec.enabled || !spec.in_code()) continue;
    std::string alias = free_alias(spec.name, taken);
    out.push_back({std::move(server), std::move(alias)});
  }
  return out;
}

ToolCatalogs::Shelf& ToolCatalogs::shelf_for(const CodeServer& server,
                                             std::shared_ptr<const upstream::Offer> offer) {
  Shelf& shelf = shelves_[server.name()];
  const bool same = shelf.offer == offer && shelf.upstream == server.upstream && shelf.book &&
                    shelf.book->alias == server.alias;
  if (same) return shelf;
  shelf = {server.upstream, offer, make_handbook(server.upstream->spec(), server.alias, *offer), {}};
  return shelf;
}

std::shared_ptr<const ToolCatalog> ToolCatalogs::find_known(const CodeServer& server) {
  auto offer = server.upstream->known_offer();
  return offer ? shelf_for(server, std::move(offer)).book : nullptr;
}

io::Task<std::shared_ptr<const ToolCatalog>> ToolCatalogs::open(CodeServer server) {
  RELAY_CO_TRY(auto offer, co_await server.upstream->offer_at_hand());
  co_return shelf_for(server, std::move(offer)).book;
}

io::Task<std::shared_ptr<const ToolCatalog>> ToolCatalogs::ask(CodeServer server) {
  RELAY_CO_TRY(auto offer, co_await server.upstream->offer());
  co_return shelf_for(server, std::move(offer)).book;
}

io::Task<std::vector<std::shared_ptr<const ToolCatalog>>> ToolCatalogs::open_all(
    std::vector<CodeServer> servers, std::chrono::milliseconds wait) {
  auto round = std::make_shared<Round>(executor_, servers.size());
  // Each question goes on when the asker does not wait any longer: its answer is there for the next one.
  auto ask = [](ToolCatalogs& self, std::shared_ptr<Round> shared, CodeServer server,
                std::size_t place) -> io::Task<void> {
    if (auto book = co_await self.open(std::move(server))) shared->books[place] = *std::move(book);
    if (--shared->open == 0) shared->answered.set();
    co_return Result<void>{};
  };
  for (std::size_t i = 0; i < servers.size(); ++i)
    io::spawn(executor_, ask(*this, round, servers[i], i), "offer");
  if (round->open > 0)
    RELAY_CO_CHECK(co_await round->answered.wait_until(std::chrono::steady_clock::now() + wait));
  for (std::size_t i = 0; i < servers.size(); ++i)
    if (!round->books[i]) round->books[i] = find_known(servers[i]);
  co_return round->books;
}

ToolCatalogs::EntryPtr ToolCatalogs::find_entry(const CodeServer& server, const ToolDoc& tool) {
  const auto shelf = shelves_.find(server.name());
  if (shelf == shelves_.end() || shelf->second.upstream != server.upstream) return nullptr;
  EntryPtr& entry = shelf->second.entries[tool.name];
  if (entry) return entry;
  const protocol::Tool* offered = shelf->second.offer->find_tool(tool.name);
  if (!offered) return entry;
  protocol::Tool plain = *offered;
  // A program waits for its answer in any case: what need not be a task is quicker without.
  if (plain.task_support == protocol::TaskSupport::optional)
    plain.task_support = protocol::TaskSupport::forbidden;
  entry = gateway::guard_tool(server.upstream, plain, fmt::format("{}__{}", server.name(), tool.name),
                              limits::kInnerResultBytes);
  return entry;
}

}  // namespace relay::codemode
