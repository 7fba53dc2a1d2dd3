#include "gateway/guarded_upstream.h"

#include <algorithm>

#include <fmt/format.h>

#include "gateway/context_exchange.h"
#include "protocol/json_writer.h"

namespace relay::gateway {
namespace {

using authority::Recorded;
using protocol::JsonText;
using protocol::PromptResult;
using protocol::ReadResult;
using protocol::ToolResult;
using ServerPtr = std::shared_ptr<upstream::Upstream>;

// What a client says about its request beyond the protocol's own members: traces, and what servers and
// clients agreed on.
json::object meta_to_pass(const json::object& meta) {
  json::object passed;
  for (const auto& member : meta)
    if (member.key() != "progressToken" && !member.key().starts_with("io.modelcontextprotocol/"))
      passed.emplace(member.key(), member.value());
  return passed;
}

std::string named_params(std::string_view name, std::string_view arguments) {
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.text("name", name);
  writer.raw("arguments", arguments);
  writer.finish();
  return out;
}

peer::Outgoing outgoing_for(const upstream::ServerSpec& spec, const mcp::Context& context, std::string method,
                            std::string params) {
  peer::Outgoing outgoing;
  outgoing.method = std::move(method);
  outgoing.params = std::move(params);
  outgoing.meta = meta_to_pass(context.request().meta());
  outgoing.timeout = spec.call_timeout;
  return outgoing;
}

// A legacy server that could not ask says so in its own words. A modern client is told what it would have to
// declare.
std::optional<Error> find_undeclared(mcp::Context& context, const ContextExchange& exchange) {
  if (!exchange.missing() || protocol::era_of(context.revision()) == protocol::Era::legacy)
    return std::nullopt;
  return context.refuse(protocol::missing_capability_error(*exchange.missing()));
}

// Parsing a large result to find one flag would cost more than passing it on.
bool says_error(const JsonText& result) {
  if (!result.text().contains("\"isError\"")) return false;
  const json::object* members = result.value().if_object();
  return members && json::find_bool(*members, "isError").value_or(false);
}

// A server of 2025-11-25 is told; a modern one decides by itself.
bool is_better_a_task(const protocol::Tool& tool, const protocol::ClientCapabilities& client) {
  return tool.task_support == protocol::TaskSupport::required ||
         (tool.task_support == protocol::TaskSupport::optional && client.tasks);
}

io::Task<ToolResult> pass_tool(ServerPtr server, const protocol::Tool& tool, const OnResult& on_result,
                               mcp::Context& context) {
  peer::Outgoing outgoing =
      outgoing_for(server->spec(), context, "tools/call", named_params(tool.name, context.arguments_text()));
  outgoing.input_schema = tool.input_schema;
  outgoing.as_task = is_better_a_task(tool, context.client());
  ContextExchange exchange(context, server->spec().name);
  RELAY_CO_TRY(peer::PeerAnswer answer, co_await server->request(std::move(outgoing), exchange));
  if (auto undeclared = find_undeclared(context, exchange)) co_return fail(*std::move(undeclared));
  if (!answer) co_return fail(context.refuse(std::move(answer.error())));
  if (on_result) on_result(*answer);
  ToolResult result;
  result.is_error = says_error(*answer);
  result.raw = *std::move(answer);
  co_return result;
}

io::Task<PromptResult> pass_prompt(ServerPtr server, std::string name, mcp::Context& context) {
  peer::Outgoing outgoing =
      outgoing_for(server->spec(), context, "prompts/get", named_params(name, context.arguments_text()));
  ContextExchange exchange(context, server->spec().name);
  RELAY_CO_TRY(peer::PeerAnswer answer, co_await server->request(std::move(outgoing), exchange));
  if (auto undeclared = find_undeclared(context, exchange)) co_return fail(*std::move(undeclared));
  if (!answer) co_return fail(context.refuse(std::move(answer.error())));
  PromptResult result;
  result.raw = *std::move(answer);
  co_return result;
}

// The revisions disagree about the code for "there is no such resource"; our own dispatchers know which one
// the client expects.
Error resource_error(mcp::Context& context, protocol::RpcError error) {
  if (error.code == protocol::code::kResourceNotFound || error.code == protocol::code::kInvalidParams)
    return not_found(std::move(error.message));
  return context.refuse(std::move(error));
}

io::Task<ReadResult> pass_read(ServerPtr server, std::string uri, mcp::Context& context) {
  std::string params;
  protocol::ObjectWriter writer(params);
  writer.text("uri", uri);
  writer.finish();
  peer::Outgoing outgoing = outgoing_for(server->spec(), context, "resources/read", std::move(params));
  ContextExchange exchange(context, server->spec().name);
  RELAY_CO_TRY(peer::PeerAnswer answer, co_await server->request(std::move(outgoing), exchange));
  if (!answer) co_return fail(resource_error(context, std::move(answer.error())));
  ReadResult result;
  result.raw = *std::move(answer);
  co_return result;
}

std::string audited(const upstream::Upstream& server, std::string_view what) {
  return fmt::format("{}/{}", server.spec().name, what);
}

}  // namespace

authority::Tier tier_of(const upstream::ServerSpec& spec, const protocol::Tool& tool) {
  if (const auto said = spec.tiers.find(tool.name); said != spec.tiers.end())
    if (const auto tier = authority::find_tier(said->second)) return *tier;
  if (tool.annotations.read_only.value_or(false)) return authority::Tier::read_only;
  return tool.annotations.destructive.value_or(false) ? authority::Tier::irreversible
                                                      : authority::Tier::stateful;
}

std::shared_ptr<const pipeline::Provider::Entry> guard_tool(ServerPtr server, const protocol::Tool& tool,
                                                            std::string name, std::size_t budget_bytes,
                                                            OnResult on_result) {
  auto entry = std::make_shared<pipeline::Provider::Entry>();
  entry->toolset = "gateway";
  entry->upstream = audited(*server, tool.name);
  pipeline::GuardedTool& guarded = entry->guarded;
  guarded.tool = tool;
  guarded.tool.name = std::move(name);
  guarded.tool.task_start = protocol::TaskStart::when_told;
  guarded.tier = tier_of(server->spec(), tool);
  guarded.budget_bytes = budget_bytes;
  guarded.handler = [server = std::move(server), original = tool, seen = std::move(on_result)](
                        mcp::Context& context, const Recorded&) {
    return pass_tool(server, original, seen, context);
  };
  return entry;
}

std::shared_ptr<const pipeline::GuardedPrompt> guard_prompt(ServerPtr server, const protocol::Prompt& prompt,
                                                            std::string name) {
  auto guarded = std::make_shared<pipeline::GuardedPrompt>();
  guarded->prompt = prompt;
  guarded->prompt.name = std::move(name);
  guarded->upstream = audited(*server, prompt.name);
  guarded->handler = [server = std::move(server), original = prompt.name](mcp::Context& context,
                                                                          const Recorded&) {
    return pass_prompt(server, original, context);
  };
  return guarded;
}

pipeline::FoundResource guard_resource(ServerPtr server, std::string uri) {
  pipeline::FoundResource found;
  found.name = server->spec().name;
  found.upstream = audited(*server, uri);
  found.read = [server = std::move(server), uri = std::move(uri)](mcp::Context& context, const Recorded&) {
    return pass_read(server, uri, context);
  };
  return found;
}

}  // namespace relay::gateway
