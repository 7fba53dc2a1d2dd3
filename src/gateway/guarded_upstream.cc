#include "gateway/guarded_upstream.h"

#include <algorithm>

#include <fmt/format.h>

#include "gateway/context_exchange.h"
#include "gateway/links.h"

namespace relay::gateway {
namespace {

using authority::Recorded;
using protocol::JsonText;
using protocol::PromptResult;
using protocol::ReadResult;
using protocol::ToolResult;
using upstream::PassedCall;
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

// Parsing a large result to find one flag would cost more than passing it on.
bool says_error(const JsonText& result) {
  if (!result.text().contains("\"isError\"")) return false;
  const json::object* members = result.value().if_object();
  return members && json::find_bool(*members, "isError").value_or(false);
}

bool has_failed(const Result<peer::PeerAnswer>& answer) {
  return !answer || !*answer || says_error(**answer);
}

// A server that could not ask and fails the call for it says so in its own words. A modern client is told
// what it would have to declare. A call that succeeds without the answer has succeeded.
std::optional<Error> find_undeclared(const serving::Context& context, const ContextExchange& exchange,
                                     const Result<peer::PeerAnswer>& answer) {
  if (!exchange.missing() || protocol::era_of(context.revision()) == protocol::Era::legacy ||
      !has_failed(answer))
    return std::nullopt;
  return protocol::to_error(protocol::missing_capability_error(*exchange.missing()));
}

// One call to the server and its answer; an error that the server answered with reaches the client as it is.
io::Task<JsonText> pass(upstream::Upstream& server, const Recorded& recorded, PassedCall passed,
                        serving::Context& context) {
  passed.meta = meta_to_pass(context.meta());
  ContextExchange exchange(context, recorded.call().caller, server.spec().name);
  Result<peer::PeerAnswer> answer = co_await server.request(recorded, std::move(passed), exchange);
  if (auto undeclared = find_undeclared(context, exchange, answer)) co_return fail(*std::move(undeclared));
  if (!answer) co_return fail(std::move(answer.error()));
  if (!*answer) co_return fail(protocol::to_error(std::move(answer->error())));
  co_return **std::move(answer);
}

// A server of 2025-11-25 is told; a modern one decides by itself.
bool is_better_a_task(const protocol::Tool& tool, const protocol::ClientCapabilities& client) {
  return tool.task_support == protocol::TaskSupport::required ||
         (tool.task_support == protocol::TaskSupport::optional && client.tasks);
}

io::Task<ToolResult> pass_tool(ServerPtr server, const protocol::Tool& tool, const OnResult& on_result,
                               serving::Context& context, const Recorded& recorded) {
  PassedCall passed{.kind = PassedCall::Kind::tool, .name = tool.name};
  passed.input_schema = tool.input_schema;
  passed.as_task = is_better_a_task(tool, context.client());
  RELAY_CO_TRY(JsonText answer, co_await pass(*server, recorded, std::move(passed), context));
  if (on_result) answer = on_result(std::move(answer));
  ToolResult result;
  result.is_error = says_error(answer);
  result.raw = std::move(answer);
  co_return result;
}

io::Task<PromptResult> pass_prompt(ServerPtr server, std::string name, const OnResult& on_result,
                                   serving::Context& context, const Recorded& recorded) {
  PassedCall passed{.kind = PassedCall::Kind::prompt, .name = std::move(name)};
  PromptResult result;
  RELAY_CO_TRY(JsonText answer, co_await pass(*server, recorded, std::move(passed), context));
  result.raw = on_result ? on_result(std::move(answer)) : std::move(answer);
  co_return result;
}

// The revisions disagree about the code for "there is no such resource"; our own dispatchers know which one
// the client expects.
Error resource_error(Error error) {
  if (error.rpc && (error.rpc->code == protocol::code::kResourceNotFound ||
                    error.rpc->code == protocol::code::kInvalidParams))
    return not_found(std::move(error.message));
  return error;
}

enum class Uris : std::uint8_t { as_they_are, moved };

io::Task<ReadResult> pass_read(ServerPtr server, std::string uri, Uris uris, serving::Context& context,
                               const Recorded& recorded) {
  PassedCall passed{.kind = PassedCall::Kind::resource, .name = std::move(uri)};
  Result<JsonText> answer = co_await pass(*server, recorded, std::move(passed), context);
  if (!answer) co_return fail(resource_error(std::move(answer.error())));
  ReadResult result;
  result.raw = uris == Uris::moved ? move_contents(server->spec().name, *answer) : *std::move(answer);
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
                        serving::Context& context, const Recorded& recorded) {
    return pass_tool(server, original, seen, context, recorded);
  };
  return entry;
}

std::shared_ptr<const pipeline::GuardedPrompt> guard_prompt(ServerPtr server, const protocol::Prompt& prompt,
                                                            std::string name, OnResult on_result) {
  auto guarded = std::make_shared<pipeline::GuardedPrompt>();
  guarded->prompt = prompt;
  guarded->prompt.name = std::move(name);
  guarded->upstream = audited(*server, prompt.name);
  guarded->handler = [server = std::move(server), original = prompt.name, seen = std::move(on_result)](
                         serving::Context& context, const Recorded& recorded) {
    return pass_prompt(server, original, seen, context, recorded);
  };
  return guarded;
}

pipeline::FoundResource guard_resource(ServerPtr server, std::string uri, std::string_view exposed) {
  const Uris uris = exposed == uri ? Uris::as_they_are : Uris::moved;
  pipeline::FoundResource found;
  found.name = server->spec().name;
  found.upstream = audited(*server, uri);
  found.read = [server = std::move(server), uri = std::move(uri), uris](serving::Context& context,
                                                                        const Recorded& recorded) {
    return pass_read(server, uri, uris, context, recorded);
  };
  return found;
}

}  // namespace relay::gateway
