#include "tools/files_tools.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "policy/grammar.h"
#include "search/async_search.h"
#include "tools/embedded.h"
#include "tools/file_resources.h"
#include "tools/files_edit.h"
#include "tools/files_read.h"
#include "tools/files_search.h"
#include "tools/files_write.h"
#include "tools/kept_results.h"
#include "tools/tool_definition.h"
#include "vfs/async_tree.h"

namespace relay::tools {
namespace {

using authority::CallField;
using authority::Recorded;
using authority::Tier;
using pipeline::GuardedTool;
using protocol::ToolResult;

// The tool keeps to the budget of other tools by itself and says how to read on. More comes only when the
// caller gives maxBytes; base64 and escapes make it longer.
constexpr std::size_t kReadBudgetBytes = 2 * limits::kFileReadBytes;

std::string clean(std::string_view text) {
  const auto path = vfs::parse_tree_path(text);
  return path ? path->text() : std::string(text);
}

std::string clean_path(const json::object& arguments) {
  return clean(json::find_string(arguments, "path").value_or(""));
}

Result<std::shared_ptr<vfs::Tree>> tree_of(const FilesWorld& world, const Recorded& recorded) {
  return world.trees.open_tree(recorded);
}

io::Task<ToolResult> read(std::shared_ptr<const FilesWorld> world, const Recorded& recorded) {
  ReadArguments arguments = read_read_arguments(recorded.call().args.object());
  if (is_kept_result(arguments.path))
    co_return read_kept(world->results, recorded.call().caller.principal, arguments);
  RELAY_CO_TRY(auto tree, tree_of(*world, recorded));
  const vfs::AsyncTree files(world->pool, std::move(tree));
  auto work = [arguments = std::move(arguments)](vfs::Tree& on) { return read_path(on, arguments); };
  co_return co_await files.run(std::move(work));
}

io::Task<ToolResult> write(std::shared_ptr<const FilesWorld> world, const Recorded& recorded) {
  RELAY_CO_TRY(auto tree, tree_of(*world, recorded));
  RELAY_CO_TRY(vfs::WriteRequest request, read_write_arguments(recorded.call().args.object()));
  const std::string path = clean(request.path);
  const bool could_make_parents =
      request.parents == vfs::Parents::required && tree->area_of(path) != vfs::Tree::Area::none;
  const vfs::AsyncTree files(world->pool, std::move(tree));
  auto receipt = co_await files.write(std::move(request));
  if (!receipt && receipt.error().number == EEXIST) {
    receipt.error().message += "; set mode to overwrite or append";
  }
  if (!receipt && receipt.error().number == ENOENT && could_make_parents)
    receipt.error().message += "; set parents to make missing directories";
  if (!receipt) co_return fail(std::move(receipt).error());
  co_return write_result(path, *receipt);
}

// What a rule forbids to the tool write, or lifts to a higher tier, edit does not do either.
Result<void> check_as_write(const FilesWorld& world, const Recorded& recorded) {
  const authority::Decision decision = world.decide(write_of_edit(recorded.call()));
  if (decision.verdict == authority::Verdict::deny) return fail(denied(policy::denied_text(decision)));
  if (decision.tier > recorded.tier())
    return fail(denied("a rule about the tool write asks for a confirmation here; use write"));
  return {};
}

io::Task<ToolResult> edit(std::shared_ptr<const FilesWorld> world, const Recorded& recorded) {
  RELAY_CO_CHECK(check_as_write(*world, recorded));
  RELAY_CO_TRY(auto tree, tree_of(*world, recorded));
  EditArguments arguments = read_edit_arguments(recorded.call().args.object());
  arguments.path = clean(arguments.path);
  const vfs::AsyncTree files(world->pool, std::move(tree));
  auto work = [arguments = std::move(arguments)](vfs::Tree& on) { return edit_file(on, arguments); };
  co_return co_await files.run(std::move(work));
}

io::Task<ToolResult> search(std::shared_ptr<const FilesWorld> world, const Recorded& recorded) {
  RELAY_CO_TRY(auto tree, tree_of(*world, recorded));
  search::SearchRequest request = read_search_arguments(recorded.call().args.object());
  request.time_max = limits::kSearchTime;
  search::SearchRequest asked = request;
  RELAY_CO_TRY(search::SearchResult found, co_await search::search(world->search_pool, world->searcher,
                                                                   std::move(tree), std::move(asked)));
  co_return search_result(request, std::move(found));
}

using Handler = io::Task<ToolResult> (*)(std::shared_ptr<const FilesWorld>, const Recorded&);

Result<GuardedTool> make_tool(std::string_view definition, const std::shared_ptr<const FilesWorld>& world,
                              Handler handler) {
  RELAY_TRY(ToolDefinition defined, ToolDefinition::parse(definition));
  defined.add_sentence(mounts_sentence(world->trees.spec().mounts));
  GuardedTool guarded;
  guarded.tool = defined.tool();
  guarded.tier = Tier::read_only;
  guarded.handler = [world, handler](serving::Context&, const Recorded& recorded) {
    return handler(world, recorded);
  };
  return guarded;
}

}  // namespace

std::string read_policy_text(const json::object& arguments) {
  return clean_path(arguments);
}

std::string write_policy_text(const json::object& arguments) {
  return fmt::format("{} {}\n{}", clean_path(arguments),
                     json::find_string(arguments, "mode").value_or("create"),
                     json::find_string(arguments, "content").value_or(""));
}

std::string search_policy_text(const json::object& arguments) {
  std::string text(json::find_string(arguments, "pattern").value_or(""));
  const json::array* paths = json::find_array(arguments, "paths");
  for (const json::value& path : paths != nullptr ? *paths : json::array{}) {
    if (path.is_string()) text += " " + clean(json::view(path.get_string()));
  }
  return text + " " + std::string(json::find_string(arguments, "filePattern").value_or(""));
}

std::vector<CallField> read_fields(const json::object& arguments) {
  return {{"path", clean_path(arguments)}};
}

std::vector<CallField> write_fields(const json::object& arguments) {
  std::string content(json::find_string(arguments, "content").value_or(""));
  if (json::find_string(arguments, "encoding") == "base64")
    if (auto bytes = find_base64(content)) content = to_valid_utf8(*bytes);
  return {{"path", clean_path(arguments)},
          {"mode", std::string(json::find_string(arguments, "mode").value_or("create"))},
          {"content", std::move(content)}};
}

std::vector<CallField> search_fields(const json::object& arguments) {
  std::vector<CallField> fields{
      {"pattern", std::string(json::find_string(arguments, "pattern").value_or(""))}};
  const json::array* paths = json::find_array(arguments, "paths");
  for (const json::value& path : paths != nullptr ? *paths : json::array{})
    if (path.is_string()) fields.push_back({"path", clean(json::view(path.get_string()))});
  if (const auto names = json::find_string(arguments, "filePattern"))
    fields.push_back({"filePattern", std::string(*names)});
  return fields;
}

authority::Call write_by_run(const authority::Call& run, std::string_view path) {
  authority::Call call;
  call.request_id = run.request_id;
  call.caller = run.caller;
  call.toolset = "files";
  call.tool = "write";
  call.tier = Tier::stateful;
  call.policy_text = path;
  call.fields = {{"path", std::string(path)}};
  call.parent = run.request_id;
  return call;
}

Result<void> add_files_tools(pipeline::Toolset& toolset, std::shared_ptr<const FilesWorld> world) {
  RELAY_TRY(GuardedTool reading, make_tool(embedded::read(), world, read));
  reading.policy_text = read_policy_text;
  reading.fields = read_fields;
  reading.budget_bytes = kReadBudgetBytes;
  RELAY_CHECK(toolset.add_tool(std::move(reading)));

  RELAY_TRY(GuardedTool writing, make_tool(embedded::write(), world, write));
  writing.tier = Tier::reversible;
  writing.classify = write_tier;
  writing.policy_text = write_policy_text;
  writing.fields = write_fields;
  RELAY_CHECK(toolset.add_tool(std::move(writing)));

  RELAY_TRY(GuardedTool editing, make_tool(embedded::edit(), world, edit));
  editing.tier = Tier::reversible;
  editing.classify = write_tier;
  editing.policy_text = edit_policy_text;
  editing.fields = edit_fields;
  RELAY_CHECK(toolset.add_tool(std::move(editing)));

  RELAY_TRY(GuardedTool searching, make_tool(embedded::search(), world, search));
  searching.policy_text = search_policy_text;
  searching.fields = search_fields;
  RELAY_CHECK(toolset.add_tool(std::move(searching)));

  world->results.set_read_tool("read");
  add_file_resources(toolset, std::move(world));
  return {};
}

}  // namespace relay::tools
