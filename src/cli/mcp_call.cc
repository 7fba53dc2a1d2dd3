// `relay mcp call SERVER TOOL ...`: one call, in the same order as every other: judged, recorded, made,
// bounded.
#include "cli/mcp_call.h"

#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/nearest_name.h"
#include "cli/mcp_command.h"
#include "cli/mcp_live.h"
#include "cli/terminal_context.h"
#include "gateway/guarded_upstream.h"

namespace relay::cli {
namespace {

bool wants_text(const json::value& schema, std::string_view key) {
  const json::object* root = schema.if_object();
  const json::object* properties = root ? json::find_object(*root, "properties") : nullptr;
  const json::object* property = properties ? json::find_object(*properties, key) : nullptr;
  return property && json::find_string(*property, "type") == "string";
}

json::value value_of(const std::string& text, bool is_text) {
  if (is_text) return json::value(text);
  auto parsed = json::parse(text);
  return parsed ? *std::move(parsed) : json::value(text);
}

Result<std::string> checked_object(std::string text) {
  if (const auto parsed = json::parse_object(text); !parsed)
    return fail(invalid(fmt::format("the arguments: {}", parsed.error().message)));
  return text;
}

// What was typed is judged before a server is started. JSON on stdin takes the place of its "-".
Result<McpOptions> with_arguments(McpOptions options) {
  if (options.arguments == std::vector<std::string>{"-"}) {
    RELAY_TRY(const std::string text,
              checked_object(std::string(std::istreambuf_iterator<char>(std::cin), {})));
    options.arguments = {std::string(trim_ascii(text))};
  }
  RELAY_CHECK(parse_call_arguments(options.arguments, {}));
  return options;
}

// Text as it is, anything else named: a terminal is no place for an image.
void print_content(const json::object& content) {
  const std::string_view type = json::find_string(content, "type").value_or("");
  if (const auto text = json::find_string(content, "text"); type == "text" && text)
    fmt::print("{}{}", *text, text->ends_with('\n') ? "" : "\n");
  else if (const auto data = json::find_string(content, "data"))
    fmt::print("[{} {}, {} bytes]\n", type, json::find_string(content, "mimeType").value_or(""),
               data->size() / 4 * 3);
  else
    fmt::print("{}\n", json::write(content));
}

// What the server sent, unless it had to be cut.
std::string text_of(const protocol::ToolResult& result) {
  if (result.raw) return std::string(result.raw->text());
  std::string text = "{";
  protocol::append_members(text, result, protocol::kLatestLegacy);
  return text + "}";
}

int print_result(const protocol::ToolResult& result, bool as_json) {
  const std::string text = text_of(result);
  const auto members = json::parse_object(text);
  if (as_json || !members) {
    fmt::print("{}\n", text);
  } else {
    const json::array* contents = json::find_array(*members, "content");
    for (const json::value& content : contents ? *contents : json::array())
      if (const json::object* piece = content.if_object()) print_content(*piece);
    const json::value* structured = json::find(*members, "structuredContent");
    if (structured && (!contents || contents->empty())) fmt::print("{}\n", json::write_pretty(*structured));
  }
  return result.is_error ? 1 : 0;
}

std::string no_such_tool(const upstream::Offer& offer, const std::string& tool) {
  std::vector<std::string> names;
  for (const protocol::Tool& one : *offer.tools.items) names.push_back(one.name);
  const std::string near = nearest_name(tool, names);
  return fmt::format("it has no tool \"{}\"{}", tool,
                     near.empty() ? fmt::format("; `relay mcp tools` lists its {}", names.size())
                                  : fmt::format("; did you mean \"{}\"?", near));
}

// People who look after a server look its error codes up.
Error with_code(Error error) {
  if (error.rpc) error.message = fmt::format("{} (code {})", error.message, error.rpc->code);
  return error;
}

io::Task<int> call_tool(world::World& world, McpOptions options) {
  const std::shared_ptr<upstream::Upstream> server = world.fleet().find(options.names.front());
  auto offered = co_await say_while(server->offer(), [server] { return waiting_text(*server); });
  if (!offered) co_return fail(final_error(*server, std::move(offered.error())));
  const std::shared_ptr<const upstream::Offer> offer = *std::move(offered);
  const protocol::Tool* tool = offer->find_tool(options.tool);
  if (!tool)
    co_return fail(
        not_found(fmt::format("{}: {}", options.names.front(), no_such_tool(*offer, options.tool))));
  RELAY_CO_TRY(const std::string arguments,
               parse_call_arguments(options.arguments, tool->input_schema.value()));
  RELAY_CO_TRY(authority::Arguments parsed, authority::Arguments::parse(arguments));
  TerminalContext context(options.yes ? Confirmation::yes : Confirmation::ask);
  auto entry = gateway::guard_tool(server, *tool, fmt::format("{}__{}", options.names.front(), options.tool));
  auto answer = world.backend().call_inner(context, {}, std::move(entry), std::move(parsed));
  Result<protocol::ToolResult> result = co_await say_while(
      std::move(answer), [&options] { return fmt::format("the answer of {}", options.names.front()); });
  if (!result) co_return fail(with_code(std::move(result.error())));
  say_how_to_confirm(*result);
  co_return print_result(*result, options.json);
}

}  // namespace

Result<std::string> parse_call_arguments(const std::vector<std::string>& words,
                                         const json::value& input_schema) {
  if (words.size() == 1 && words[0].starts_with('{')) return checked_object(words[0]);
  json::object arguments;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(invalid(fmt::format(
          "\"{}\" is no argument; write key=value, one JSON object, or - for JSON on stdin", word)));
    const std::string key = word.substr(0, equals);
    arguments[key] = value_of(word.substr(equals + 1), wants_text(input_schema, key));
  }
  return json::write(arguments);
}

int run_mcp_call(const CommandOptions& options, const config::Config& config) {
  auto servers = pick_servers(config, options.mcp.names, Disabled::refused);
  if (!servers) return say_error(servers.error());
  auto complete = with_arguments(options.mcp);
  if (!complete) return say_error(complete.error());
  run_with_servers(config, *std::move(servers),
                   [mcp = *std::move(complete)](world::World& world) { return call_tool(world, mcp); });
}

}  // namespace relay::cli
