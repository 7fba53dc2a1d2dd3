#include "mcp/modern_dispatcher.h"

#include "mcp/modern_call.h"
#include "mcp/parked_calls.h"
#include "mcp/subscriptions.h"
#include "mcp/tasks.h"
#include "protocol/json_writer.h"
#include "protocol/request_state.h"

namespace relay::mcp {
namespace {

using protocol::RpcError;
namespace code = protocol::code;

void refuse(Reply& reply, const protocol::Id& id, const RpcError& error, int status) {
  reply.finish({protocol::write_error(id, error), status});
}

void refuse(Reply& reply, const protocol::Id& id, int number, std::string message, int status) {
  refuse(reply, id, RpcError{number, std::move(message), {}}, status);
}

bool is_task_method(std::string_view method) {
  return method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel";
}

bool may_ask(std::string_view method) {
  return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

// The envelope's own checks, in the order that tells a client most: version, headers, revision.
std::optional<RpcError> check_version(const protocol::Request& request, std::string_view version,
                                      const protocol::FindHeader* headers) {
  if (headers)
    if (auto wrong = protocol::check_standard_headers(request, version, *headers)) return wrong;
  const auto revision = protocol::find_revision(version);
  if (!revision || protocol::era_of(*revision) == protocol::Era::legacy)
    return protocol::unsupported_version(version);
  return std::nullopt;
}

RpcError tasks_missing() {
  return protocol::missing_capability_error(
      {{"extensions", json::object{{protocol::kTasksExtension, json::object{}}}}});
}

io::Task<void> open_listener(Server& server, std::shared_ptr<Listener> listener) {
  // What cannot be watched is not honoured, and the acknowledgement says so by leaving it out.
  std::set<std::string, std::less<>> honoured;
  for (const std::string& uri : listener->filter.uris) {
    const auto watched = co_await server.subscriptions().watch(listener->caller, uri);
    if (watched) honoured.insert(uri);
  }
  listener->filter.uris = std::move(honoured);
  if (listener->reply->finished()) {
    for (const std::string& uri : listener->filter.uris)
      server.subscriptions().unwatch(listener->caller, uri);
    co_return Result<void>{};
  }
  if (const auto added = server.subscriptions().add(listener); !added) {
    for (const std::string& uri : listener->filter.uris)
      server.subscriptions().unwatch(listener->caller, uri);
    refuse(*listener->reply, listener->id, protocol::to_rpc_error(added.error()), 200);
    co_return Result<void>{};
  }
  listener->reply->set_on_abandon([&server, listener] {
    server.subscriptions().remove(listener);
    listener->reply->finish({});
  });
  Subscriptions::send(*listener, "notifications/subscriptions/acknowledged",
                      "\"notifications\":" + write_listen_filter(listener->filter));
  co_return Result<void>{};
}

}  // namespace

void ModernDispatcher::handle(authority::Caller caller, protocol::Request request,
                              std::shared_ptr<Reply> reply, const protocol::FindHeader* headers) {
  auto envelope = protocol::parse_envelope(request.params);
  if (!envelope) return refuse(*reply, request.id, envelope.error(), 400);
  if (const auto wrong = check_version(request, envelope->version, headers))
    return refuse(*reply, request.id, *wrong, 400);
  caller.client_name = envelope->info.name;
  caller.client_version = envelope->info.version;
  Incoming incoming{std::move(caller), *std::move(envelope), std::move(request), std::move(reply)};
  const std::string_view method = incoming.request.method;
  if (method == "server/discover")
    return incoming.reply->finish({protocol::write_result(incoming.request.id, discover()), 200});
  if (method == "subscriptions/listen") return listen(std::move(incoming));
  if (is_task_method(method) && server_.backend().identity().capabilities.tasks)
    return handle_task(std::move(incoming));
  return call(std::move(incoming), headers);
}

std::string ModernDispatcher::discover() const {
  const serving::Identity& identity = server_.backend().identity();
  ResultMembers outcome;
  std::string members;
  protocol::ObjectWriter writer(members);
  const std::string_view versions[] = {protocol::name_of(protocol::kLatestModern)};
  writer.array("supportedVersions", versions,
               [](std::string& out, std::string_view version) { json::append_quoted(out, version); });
  protocol::append_json(writer.key("capabilities"), identity.capabilities, protocol::kLatestModern);
  writer.text_if("instructions", identity.instructions);
  writer.finish();
  outcome.members = members_of(members);
  outcome.caching = protocol::Caching{std::chrono::minutes(5), protocol::CacheScope::shared};
  return write_modern_result(outcome, server_.server_info());
}

void ModernDispatcher::listen(Incoming incoming) {
  auto filter = parse_listen_filter(incoming.request.params);
  if (!filter)
    return refuse(*incoming.reply, incoming.request.id, protocol::to_rpc_error(filter.error()), 400);
  if (!filter->tasks.empty() && !incoming.envelope.client.tasks)
    return refuse(*incoming.reply, incoming.request.id, tasks_missing(), 400);
  const auto& capabilities = server_.backend().identity().capabilities;
  filter->tools &= capabilities.tools && capabilities.list_changes;
  filter->prompts &= capabilities.prompts && capabilities.list_changes;
  filter->resources &= capabilities.resources && capabilities.list_changes;
  if (!capabilities.resource_subscriptions) filter->uris.clear();
  // A task of somebody else does not exist.
  std::erase_if(filter->tasks, [&](const std::string& id) {
    return server_.tasks().find(id, incoming.caller.principal, protocol::Era::modern) == nullptr;
  });
  auto listener = std::make_shared<Listener>(std::move(incoming.request.id), std::move(incoming.caller),
                                             *std::move(filter), std::move(incoming.reply));
  io::spawn(server_.executor(), open_listener(server_, std::move(listener)), "listen");
}

std::optional<RpcError> ModernDispatcher::check_tool(Incoming& incoming, const protocol::Tool& tool,
                                                     const protocol::FindHeader* headers) const {
  if (tool.task_support == protocol::TaskSupport::required && !incoming.envelope.client.tasks)
    return tasks_missing();
  // Most schemas have no such annotation; looking at the text is cheaper than walking the tree.
  if (!headers || tool.input_schema.text().find("x-mcp-header") == std::string_view::npos)
    return std::nullopt;
  const auto params = protocol::parse_header_params(tool.input_schema.value());
  const json::object* arguments = json::find_object(incoming.request.params, "arguments");
  return params
             ? protocol::check_param_headers(arguments ? *arguments : json::empty_object(), *params, *headers)
             : std::nullopt;
}

void ModernDispatcher::call(Incoming incoming, const protocol::FindHeader* headers) {
  const protocol::Id id = incoming.request.id;
  const std::shared_ptr<Reply> reply = incoming.reply;
  const Operation operation = find_operation(incoming.request.method);
  if (!operation)
    return refuse(*reply, id, code::kMethodNotFound, "Method not found: " + incoming.request.method, 404);
  std::shared_ptr<const serving::FoundTool> tool;
  if (const auto name = json::find_string(incoming.request.params, "name");
      name && incoming.request.method == "tools/call")
    tool = server_.backend().find_tool(incoming.caller, *name);
  if (tool)
    if (const auto wrong = check_tool(incoming, tool->tool(), headers))
      return refuse(*reply, id, *wrong, 400);
  if (may_ask(incoming.request.method)) {
    if (const json::value* responses = json::find(incoming.request.params, "inputResponses");
        responses && !responses->is_object())
      return refuse(*reply, id, code::kInvalidParams, "params.inputResponses must be an object", 200);
    if (const json::value* state = json::find(incoming.request.params, "requestState")) {
      if (!state->is_string())
        return refuse(*reply, id, code::kInvalidParams, "params.requestState must be a string", 200);
      const std::string text(json::view(state->get_string()));
      return resume(std::move(incoming), text);
    }
  }
  auto started =
      std::make_shared<ModernCall>(server_, std::move(incoming.caller), std::move(incoming.envelope),
                                   std::move(incoming.request), std::move(incoming.reply));
  started->tool = std::move(tool);
  if (started->tool && started->tool->tool().task_start == protocol::TaskStart::at_once)
    started->become_task();
  start(std::move(started), operation);
}

void ModernDispatcher::resume(Incoming incoming, std::string_view text) {
  const protocol::StateBinding binding{
      incoming.caller.principal, protocol::digest_request(incoming.request.method, incoming.request.params)};
  const auto state =
      protocol::verify_request_state(server_.state_key(), text, binding, server_.clock().wall());
  if (!state)
    return refuse(*incoming.reply, incoming.request.id, code::kInvalidParams, state.error().message, 200);
  const auto parked = server_.parked().find(state->call);
  if (!parked ||
      !parked->resume(state->round, incoming.request, std::move(incoming.envelope), incoming.reply))
    refuse(*incoming.reply, incoming.request.id, code::kInvalidParams,
           "this request is not waiting for answers any more: start it again", 200);
}

void ModernDispatcher::handle_task(Incoming incoming) {
  Reply& reply = *incoming.reply;
  const protocol::Id& id = incoming.request.id;
  if (!incoming.envelope.client.tasks) return refuse(reply, id, tasks_missing(), 400);
  const auto name = json::find_string(incoming.request.params, "taskId");
  const auto task =
      name ? server_.tasks().find(*name, incoming.caller.principal, protocol::Era::modern) : nullptr;
  if (!task) return refuse(reply, id, code::kInvalidParams, "there is no such task", 200);
  ResultMembers outcome;
  if (incoming.request.method == "tasks/get") {
    outcome.members = write_modern_task_details(*task, protocol::kLatestModern, server_.server_info());
  } else if (incoming.request.method == "tasks/cancel") {
    server_.tasks().cancel(*task);
  } else {
    const json::object* responses = json::find_object(incoming.request.params, "inputResponses");
    if (!responses)
      return refuse(reply, id, code::kInvalidParams, "params.inputResponses must be an object", 200);
    if (task->round) task->round->take(*responses);
  }
  reply.finish({protocol::write_result(id, write_modern_result(outcome, server_.server_info())), 200});
}

}  // namespace relay::mcp
