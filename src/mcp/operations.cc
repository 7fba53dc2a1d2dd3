// The methods that a backend answers, each a small coroutine: parameters in, members of a result out. No era
// here.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/limits.h"
#include "mcp/served_request.h"
#include "protocol/cursor.h"
#include "protocol/json_writer.h"

namespace relay::mcp {
namespace {

using protocol::Listing;

Result<std::string> take_text(ServedRequest& call, std::string_view key) {
  const auto text = json::find_string(call.params(), key);
  if (!text) return fail(invalid(fmt::format("params.{} must be a string", key)));
  if (text->size() > limits::kUriBytes) return fail(invalid(fmt::format("params.{} is too long", key)));
  return std::string(*text);
}

// Missing arguments are an empty object; arguments of another type are the client's mistake.
Result<authority::Arguments> take_arguments(ServedRequest& call) {
  json::value* arguments = call.params().if_contains("arguments");
  if (!arguments) return authority::Arguments();
  if (!arguments->is_object()) return fail(invalid("params.arguments must be an object"));
  return authority::Arguments::of_message(call.request().text, std::move(arguments->get_object()));
}

// Parameters that make no sense are a protocol error, also for tools/call.
Error refuse_params(const Error& error) {
  return protocol::to_error({protocol::code::kInvalidParams, error.message, {}});
}

std::string meta_members_of(const json::object& meta) {
  return meta.empty() ? std::string() : std::string(members_of(json::write(meta)));
}

Result<std::size_t> offset_of(ServedRequest& call, std::string_view list) {
  const json::value* cursor = json::find(call.params(), "cursor");
  if (!cursor) return 0;
  if (!cursor->is_string()) return fail(invalid("params.cursor must be a string"));
  return protocol::parse_cursor(call.server().state_key(), list, json::view(cursor->get_string()));
}

template <class T>
Result<ResultMembers> write_page(ServedRequest& call, const Listing<T>& listing, std::string_view list,
                                 std::string_view member) {
  RELAY_TRY(const std::size_t offset, offset_of(call, list));
  const auto& items = *listing.items;
  if (offset > items.size())
    return fail(invalid("the cursor is beyond the end of the list: start again without it"));
  const std::size_t count = std::min(items.size() - offset, limits::kPageItems);
  ResultMembers outcome;
  outcome.caching = listing.caching;
  json::append_quoted(outcome.members, member);
  outcome.members += ":[";
  for (std::size_t i = offset; i < offset + count; ++i) {
    if (i > offset) outcome.members += ',';
    append_json(outcome.members, items[i], call.revision());
  }
  outcome.members += ']';
  if (offset + count < items.size()) {
    outcome.members += R"(,"nextCursor":)";
    json::append_quoted(outcome.members,
                        protocol::make_cursor(call.server().state_key(), list, offset + count));
  }
  return outcome;
}

io::Task<ResultMembers> list_tools(ServedRequest& call) {
  RELAY_CO_TRY(const auto listing, co_await call.server().backend().list_tools(call.caller()));
  co_return write_page(call, listing, "tools/list", "tools");
}
io::Task<ResultMembers> list_resources(ServedRequest& call) {
  RELAY_CO_TRY(const auto listing, co_await call.server().backend().list_resources(call.caller()));
  co_return write_page(call, listing, "resources/list", "resources");
}
io::Task<ResultMembers> list_templates(ServedRequest& call) {
  RELAY_CO_TRY(const auto listing, co_await call.server().backend().list_templates(call.caller()));
  co_return write_page(call, listing, "resources/templates/list", "resourceTemplates");
}
io::Task<ResultMembers> list_prompts(ServedRequest& call) {
  RELAY_CO_TRY(const auto listing, co_await call.server().backend().list_prompts(call.caller()));
  co_return write_page(call, listing, "prompts/list", "prompts");
}

io::Task<ResultMembers> call_tool(ServedRequest& call) {
  auto name = take_text(call, "name");
  if (!name) co_return fail(refuse_params(name.error()));
  auto arguments = take_arguments(call);
  if (!arguments) co_return fail(refuse_params(arguments.error()));
  RELAY_CO_TRY(
      const protocol::ToolResult result,
      co_await call.server().backend().call_tool(call, *std::move(name), call.tool, *std::move(arguments)));
  if (result.raw) co_return outcome_of_raw(result.raw->text(), call.revision());
  ResultMembers outcome;
  protocol::append_members(outcome.members, result, call.revision());
  outcome.meta_members = meta_members_of(result.meta);
  co_return outcome;
}

io::Task<ResultMembers> read_resource(ServedRequest& call) {
  RELAY_CO_TRY(const std::string uri, take_text(call, "uri"));
  RELAY_CO_TRY(const protocol::ReadResult result, co_await call.server().backend().read_resource(call, uri));
  ResultMembers outcome;
  if (result.raw) {
    outcome = outcome_of_raw(result.raw->text(), call.revision());
  } else {
    protocol::append_members(outcome.members, result, call.revision());
    outcome.meta_members = meta_members_of(result.meta);
  }
  outcome.caching = call.server().backend().caching_of(uri);
  co_return outcome;
}

io::Task<ResultMembers> get_prompt(ServedRequest& call) {
  RELAY_CO_TRY(std::string name, take_text(call, "name"));
  RELAY_CO_TRY(authority::Arguments arguments, take_arguments(call));
  RELAY_CO_TRY(const protocol::PromptResult result,
               co_await call.server().backend().get_prompt(call, std::move(name), std::move(arguments)));
  if (result.raw) co_return outcome_of_raw(result.raw->text(), call.revision());
  ResultMembers outcome;
  protocol::append_members(outcome.members, result, call.revision());
  outcome.meta_members = meta_members_of(result.meta);
  co_return outcome;
}

io::Task<ResultMembers> complete(ServedRequest& call) {
  RELAY_CO_TRY(protocol::CompletionRequest request, protocol::parse_completion_request(call.params()));
  RELAY_CO_TRY(const protocol::Completion completion,
               co_await call.server().backend().complete(call, std::move(request)));
  ResultMembers outcome;
  protocol::append_members(outcome.members, completion);
  co_return outcome;
}

struct Entry {
  std::string_view method;
  Operation operation;
};
constexpr std::array kOperations{
    Entry{"tools/call", call_tool},         Entry{"tools/list", list_tools},
    Entry{"resources/read", read_resource}, Entry{"resources/list", list_resources},
    Entry{"prompts/get", get_prompt},       Entry{"prompts/list", list_prompts},
    Entry{"completion/complete", complete}, Entry{"resources/templates/list", list_templates},
};

}  // namespace

Operation find_operation(std::string_view method) {
  const auto* found = std::ranges::find(kOperations, method, &Entry::method);
  return found == kOperations.end() ? nullptr : found->operation;
}

}  // namespace relay::mcp
