#include "codemode/run_servers.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/bytes.h"
#include "base/nearest_name.h"
#include "codemode/alias.h"
#include "codemode/inner_context.h"
#include "codemode/tool_answers.h"

namespace relay::codemode {
namespace {

using protocol::ToolResult;

constexpr std::size_t kShownName = 64;  // bytes of a name that a guest made up

std::string shown(std::string_view name) {
  return to_valid_utf8(utf8_prefix(name, kShownName));
}

std::string names_of(const std::vector<CodeServer>& servers) {
  std::vector<std::string_view> names;
  for (const CodeServer& server : servers) names.push_back(server.name());
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

const CodeServer* find_in(const std::vector<CodeServer>& servers, std::string_view name) {
  for (const CodeServer& server : servers)
    if (server.name() == name) return &server;
  for (const CodeServer& server : servers)
    if (server.alias == name) return &server;
  return nullptr;
}

Result<std::string> required_string(const json::object& args, std::string_view key) {
  const auto text = json::find_string(args, key);
  if (!text || text->empty()) return fail(invalid(fmt::format("Missing '{}' value", key)));
  return std::string(*text);
}

std::string result_text(const ToolResult& result, protocol::Revision revision) {
  if (result.raw) return std::string(result.raw->text());
  std::string out = "{";
  protocol::append_members(out, result, revision);
  return out + "}";
}

Error unknown_tool(const ToolCatalog& book, std::string_view tool) {
  const std::vector<std::string> near = nearest_names(tool, book.tool_names());
  std::string hint = near.empty()
                         ? fmt::format("it has {} tools; search or describe shows them", book.tools.size())
                         : fmt::format("did you mean {}?", fmt::join(near, ", "));
  return not_found(fmt::format("Tool '{}' not found for server {}: {}", shown(tool), book.server, hint));
}

}  // namespace

Result<std::shared_ptr<RunServers>> RunServers::open(std::shared_ptr<const RunWorld> world,
                                                     serving::Context& context, std::string run,
                                                     const std::optional<std::vector<std::string>>& named) {
  std::shared_ptr<RunServers> servers(new RunServers(world, context, std::move(run)));
  std::vector<CodeServer> all = world->books.servers();
  servers->named_ = named.has_value();
  if (!named) {
    if (!world->require_servers) servers->loaded_ = std::move(all);
    return servers;
  }
  for (const std::string& name : *named) {
    const CodeServer* found = find_in(all, name);
    if (!found)
      return fail(
          invalid(fmt::format("no MCP server named \"{}\" (available: {})", shown(name), names_of(all))));
    if (!servers->is_loaded(found->name())) servers->loaded_.push_back(*found);
  }
  return servers;
}

json::array RunServers::listing() const {
  json::array list;
  for (const CodeServer& server : loaded_)
    list.push_back(json::object{{"name", server.name()},
                                {"alias", server.alias},
                                {"description", server.description()},
                                {"cwd", server.upstream->spec().cwd}});
  return list;
}

bool RunServers::is_loaded(std::string_view name) const {
  return std::ranges::any_of(loaded_, [&](const CodeServer& server) { return server.name() == name; });
}

Result<CodeServer> RunServers::find_loaded(std::string_view name) const {
  if (const CodeServer* found = find_in(loaded_, name)) return *found;
  const std::vector<CodeServer> all = world_->books.servers();
  if (!find_in(all, name))
    return fail(
        not_found(fmt::format("no MCP server named '{}' (available: {})", shown(name), names_of(loaded_))));
  if (named_)
    return fail(
        denied(fmt::format("Server '{}' is not loaded in this run: name it in \"servers\" (loaded: {})",
                           shown(name), names_of(loaded_))));
  return fail(denied(
      fmt::format("the policy wants a run to name its servers: pass \"servers\": [\"{}\"]", shown(name))));
}

Result<CodeServer> RunServers::find_any(std::string_view name) const {
  const std::vector<CodeServer> all = world_->books.servers();
  if (const CodeServer* found = find_in(all, name)) return *found;
  return fail(not_found(fmt::format("no MCP server named '{}' (available: {})", shown(name), names_of(all))));
}

io::Task<std::string> RunServers::perform(std::string op, json::object args, std::string args_text) {
  if (!context_) co_return fail(cancelled("the run is over"));
  if (op == "mcp.call") co_return co_await call(std::move(args), std::move(args_text));
  if (op == "mcp.servers") co_return servers();
  if (op == "mcp.tools") co_return co_await tools(std::move(args));
  if (op == "mcp.describe") co_return co_await describe(std::move(args));
  if (op == "mcp.search") co_return co_await search(std::move(args));
  co_return fail(invalid(fmt::format("Unknown RPC type: {}", shown(op))));
}

io::Task<void> RunServers::take_slot() {
  while (in_flight_ >= limits::kInnerCallsInFlight) {
    freed_.clear();
    RELAY_CO_CHECK(co_await freed_.wait());
  }
  ++in_flight_;
  co_return Result<void>{};
}

// The last offer is good enough for a tool that is in it; a tool that is not may be new.
io::Task<std::shared_ptr<const ToolCatalog>> RunServers::book_with(CodeServer server, std::string_view tool) {
  auto known = world_->books.find_known(server);
  if (known && known->find(tool)) co_return known;
  co_return co_await world_->books.ask(std::move(server));
}

io::Task<std::string> RunServers::call(json::object args, std::string args_text) {
  RELAY_CO_TRY(const std::string server_name, required_string(args, "server"));
  RELAY_CO_TRY(const std::string tool_name, required_string(args, "tool"));
  RELAY_CO_TRY(CodeServer server, find_loaded(server_name));
  if (const json::value* given = json::find(args, "arguments"); given && !given->is_object())
    co_return fail(invalid("Arguments must be an object"));
  // Parsed as strictly as a client's message, so that what policy sees is what the server gets.
  RELAY_CO_TRY(
      authority::Arguments arguments,
      authority::Arguments::parse(std::string(json::find_text(args_text, "arguments").value_or("{}"))));
  RELAY_CO_TRY(auto book, co_await book_with(server, tool_name));
  const ToolDoc* tool = book->find(tool_name);
  if (!tool) co_return fail(unknown_tool(*book, tool_name));
  co_return co_await call_entry(std::move(server), book, *tool, std::move(arguments));
}

io::Task<std::string> RunServers::call_entry(CodeServer server, std::shared_ptr<const ToolCatalog> book,
                                             const ToolDoc& tool, authority::Arguments arguments) {
  const auto entry = world_->books.find_entry(server, tool);
  if (!entry) co_return fail(unknown_tool(*book, tool.name));
  RELAY_CO_CHECK(co_await take_slot());
  const std::shared_ptr<void> leave(nullptr, [this](void*) {
    --in_flight_;
    freed_.set();
  });
  if (!context_) co_return fail(cancelled("the run is over"));
  InnerContext inner(*context_);
  RELAY_CO_TRY(const ToolResult result,
               co_await world_->backend.call_inner(inner, run_, entry, std::move(arguments)));
  learn(*book, tool, result);
  co_return result_text(result, inner.revision());
}

void RunServers::learn(const ToolCatalog& book, const ToolDoc& tool, const ToolResult& result) {
  if (!tool.output_schema.empty() || result.is_error || !result.raw ||
      result.raw->text().size() > limits::kLearnedSampleBytes)
    return;
  const LearnedTypes::ToolKey key{book.server, tool.name, tool.input_hash};
  if (!world_->learned.wants(key)) return;
  const auto sample = find_sample(result.raw->value());
  if (sample && world_->learned.learn(key, *sample) && world_->on_learned) world_->on_learned(book.server);
}

std::string RunServers::servers() {
  json::array list;
  for (const CodeServer& server : world_->books.servers())
    list.push_back(json::object{{"name", server.name()},
                                {"alias", server.alias},
                                {"description", server.description()},
                                {"loaded", is_loaded(server.name())},
                                {"state", upstream::name_of(server.upstream->status().phase)}});
  return json::write(json::object{{"servers", std::move(list)}});
}

io::Task<std::string> RunServers::tools(json::object args) {
  RELAY_CO_TRY(const std::string name, required_string(args, "server"));
  RELAY_CO_TRY(CodeServer server, find_any(name));
  RELAY_CO_TRY(auto book, co_await world_->books.open(std::move(server)));
  co_return write_tools(*book,
                        json::find_string(args, "detail") == "names" ? ToolDetail::names : ToolDetail::full,
                        world_->learned);
}

io::Task<std::string> RunServers::describe(json::object args) {
  RELAY_CO_TRY(const std::string name, required_string(args, "server"));
  RELAY_CO_TRY(CodeServer server, find_any(name));
  const std::string tool_name(json::find_string(args, "tool").value_or(""));
  if (tool_name.empty()) {
    RELAY_CO_TRY(auto book, co_await world_->books.open(std::move(server)));
    co_return write_server(*book, world_->learned);
  }
  RELAY_CO_TRY(auto book, co_await book_with(std::move(server), tool_name));
  const ToolDoc* tool = book->find(tool_name);
  if (!tool) co_return fail(unknown_tool(*book, tool_name));
  co_return write_tool(*book, *tool, world_->learned);
}

io::Task<std::string> RunServers::search(json::object args) {
  const auto query = json::find_string(args, "query");
  if (!query) co_return fail(invalid("Missing 'query' value"));
  std::vector<CodeServer> among = world_->books.servers();
  if (const auto only = json::find_string(args, "server")) {
    RELAY_CO_TRY(CodeServer server, find_any(*only));
    among.assign(1, std::move(server));
  }
  const std::int64_t limit = std::clamp<std::int64_t>(json::find_int(args, "limit").value_or(5), 1,
                                                      static_cast<std::int64_t>(limits::kDocsResults));
  RELAY_CO_TRY(auto books, co_await world_->books.open_all(among, limits::kDocsWait));
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < among.size(); ++i)
    if (!books[i]) missing.push_back(among[i].name());
  std::erase(books, nullptr);
  const ToolDetail detail =
      json::find_string(args, "detail") == "full" ? ToolDetail::full : ToolDetail::summary;
  co_return write_hits(books, *query, static_cast<std::size_t>(limit), detail, missing, world_->learned);
}

}  // namespace relay::codemode
