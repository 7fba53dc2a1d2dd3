#include "mcp/legacy_dispatcher.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "mcp/legacy_call.h"
#include "mcp/subscriptions.h"
#include "mcp/tasks.h"
#include "protocol/json_writer.h"

namespace relay::mcp {
namespace {

using protocol::RpcError;
namespace code = protocol::code;

std::unexpected<RpcError> refuse(int number, std::string message) {
  return std::unexpected(RpcError{number, std::move(message), {}});
}

void answer(Reply& reply, const protocol::Id& id, const std::expected<std::string, RpcError>& answered) {
  reply.finish(
      {answered ? protocol::write_result(id, *answered) : protocol::write_error(id, answered.error()), 200});
}

io::Task<ResultMembers> subscribe(ServedRequest& call) {
  auto& session = static_cast<LegacyCall&>(call).session();
  const auto uri = json::find_string(call.params(), "uri");
  if (!uri || uri->empty() || uri->size() > limits::kUriBytes)
    co_return fail(invalid("params.uri must be a URI"));
  if (session.subscriptions.contains(*uri)) co_return ResultMembers{};
  if (session.subscriptions.size() >= limits::kSubscriptionsPerClient)
    co_return fail(
        busy(fmt::format("a session has at most {} subscriptions", limits::kSubscriptionsPerClient)));
  const std::string wanted(*uri);
  session.subscriptions.insert(wanted);
  auto watched = co_await call.server().subscriptions().watch(call.caller(), wanted);
  if (!watched) session.subscriptions.erase(wanted);
  if (!watched) co_return fail(watched.error());
  co_return ResultMembers{};
}

// Waits for the end of a task; meanwhile the task's questions go out on this request's stream.
io::Task<ResultMembers> task_result(ServedRequest& call) {
  auto& legacy = static_cast<LegacyCall&>(call);
  const auto id = json::find_string(call.params(), "taskId");
  const auto task =
      id ? call.server().tasks().find(*id, call.caller().principal, protocol::Era::legacy) : nullptr;
  if (!task) co_return fail(protocol::to_error({code::kInvalidParams, "there is no such task", {}}));
  task->asking = legacy.reply();
  for (std::string& question : std::exchange(task->unsent, {})) legacy.reply()->send(std::move(question));
  RELAY_CO_CHECK(co_await task->ended.wait());
  if (!task->outcome)
    co_return fail(protocol::to_error({code::kInvalidParams, "the task was cancelled", {}}));
  if (!task->outcome->has_value()) co_return fail(protocol::to_error(task->outcome->error()));
  ResultMembers outcome = **task->outcome;
  if (!outcome.meta_members.empty()) outcome.meta_members += ',';
  outcome.meta_members += related_task_member(task->id);
  co_return outcome;
}

std::optional<std::chrono::milliseconds> ttl_of(const json::object& task) {
  const auto ttl = json::find_int(task, "ttl");
  return ttl && *ttl > 0 ? std::optional(std::chrono::milliseconds(*ttl)) : std::nullopt;
}

}  // namespace

void release(Server& server, Session& session) {
  for (const std::string& uri : std::exchange(session.subscriptions, {}))
    server.subscriptions().unwatch(session.caller, uri);
  server.backend().session_ended(session.caller);
}

std::expected<std::string, RpcError> LegacyDispatcher::initialize(Session& session,
                                                                  const protocol::Request& request) {
  const auto version = json::find_string(request.params, "protocolVersion");
  const json::object* capabilities = json::find_object(request.params, "capabilities");
  const json::object* info = json::find_object(request.params, "clientInfo");
  if (!version || !capabilities || !info)
    return refuse(code::kInvalidParams, "initialize needs protocolVersion, capabilities and clientInfo");
  session.revision = protocol::negotiate(*version);
  session.client = protocol::parse_client_capabilities(*capabilities);
  const protocol::Implementation client = protocol::parse_implementation(*info);
  session.caller.client_name = client.name;
  session.caller.client_version = client.version;
  const serving::Identity& identity = server_.backend().identity();
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.text("protocolVersion", protocol::name_of(session.revision));
  protocol::append_json(writer.key("capabilities"), identity.capabilities, session.revision);
  protocol::append_json(writer.key("serverInfo"), identity.info, session.revision);
  writer.text_if("instructions", identity.instructions);
  writer.finish();
  return out;
}

void LegacyDispatcher::handle(const std::shared_ptr<Session>& session, protocol::Request request,
                              std::shared_ptr<Reply> reply) {
  if (!session->in_flight->add(request.id, reply))
    return answer(*reply, request.id,
                  refuse(code::kInvalidRequest, "a request with this id is still running"));
  reply->track(session->in_flight, request.id.text());
  if (request.method == "tools/call") return call_tool(session, std::move(request), std::move(reply));
  if (const auto answered = answer_at_once(*session, request)) return answer(*reply, request.id, *answered);
  Operation operation = find_operation(request.method);
  if (request.method == "resources/subscribe") operation = subscribe;
  if (request.method == "tasks/result" && session->revision >= protocol::Revision::v2025_11_25)
    operation = task_result;
  if (!operation)
    return answer(*reply, request.id, refuse(code::kMethodNotFound, "Method not found: " + request.method));
  start(std::make_shared<LegacyCall>(server_, session, std::move(request), std::move(reply)), operation);
}

void LegacyDispatcher::call_tool(const std::shared_ptr<Session>& session, protocol::Request request,
                                 std::shared_ptr<Reply> reply) {
  const auto name = json::find_string(request.params, "name");
  auto tool = name ? server_.backend().find_tool(session->caller, *name) : nullptr;
  const bool knows_tasks = session->revision >= protocol::Revision::v2025_11_25;
  const json::object* task = knows_tasks ? json::find_object(request.params, "task") : nullptr;
  const auto support = tool ? tool->tool().task_support : protocol::TaskSupport::forbidden;
  if (task && support == protocol::TaskSupport::forbidden)
    return answer(*reply, request.id, refuse(code::kMethodNotFound, "this tool cannot be called as a task"));
  if (knows_tasks && !task && support == protocol::TaskSupport::required)
    return answer(*reply, request.id,
                  refuse(code::kMethodNotFound, "this tool can only be called as a task"));
  const auto ttl = task ? ttl_of(*task) : std::nullopt;
  const protocol::Id id = request.id;
  auto call = std::make_shared<LegacyCall>(server_, session, std::move(request), reply);
  call->tool = std::move(tool);
  if (task)
    if (const auto started = call->start_task(ttl); !started)
      return answer(*reply, id, std::unexpected(protocol::to_rpc_error(started.error())));
  start(std::move(call), find_operation("tools/call"));
}

std::optional<LegacyDispatcher::Answered> LegacyDispatcher::answer_at_once(Session& session,
                                                                           const protocol::Request& request) {
  const std::string_view method = request.method;
  if (method == "ping") return "{}";
  if (method == "initialize") return refuse(code::kInvalidRequest, "the session is initialized already");
  if (method == "logging/setLevel") return set_level(session, request);
  if (method == "resources/unsubscribe") return unsubscribe(session, request);
  if (session.revision < protocol::Revision::v2025_11_25 || !server_.backend().identity().capabilities.tasks)
    return {};
  if (method == "tasks/get") return get_task(session, request);
  if (method == "tasks/list") return list_tasks(session);
  if (method == "tasks/cancel") return cancel_task(session, request);
  return {};
}

LegacyDispatcher::Answered LegacyDispatcher::set_level(Session& session, const protocol::Request& request) {
  const auto name = json::find_string(request.params, "level");
  const auto level = name ? protocol::find_log_level(*name) : std::nullopt;
  if (!level) return refuse(code::kInvalidParams, "params.level must be a log level");
  session.level = *level;
  server_.backend().want_log_level(*level);
  return "{}";
}

LegacyDispatcher::Answered LegacyDispatcher::unsubscribe(Session& session, const protocol::Request& request) {
  const auto uri = json::find_string(request.params, "uri");
  if (!uri) return refuse(code::kInvalidParams, "params.uri must be a URI");
  if (const auto found = session.subscriptions.find(*uri); found != session.subscriptions.end()) {
    session.subscriptions.erase(found);
    server_.subscriptions().unwatch(session.caller, *uri);
  }
  return "{}";
}

std::shared_ptr<TaskRecord> LegacyDispatcher::find_task(Session& session, const protocol::Request& request) {
  const auto id = json::find_string(request.params, "taskId");
  return id ? server_.tasks().find(*id, session.caller.principal, protocol::Era::legacy) : nullptr;
}

LegacyDispatcher::Answered LegacyDispatcher::get_task(Session& session, const protocol::Request& request) {
  const auto task = find_task(session, request);
  if (!task) return refuse(code::kInvalidParams, "there is no such task");
  return write_legacy_task(*task);
}

LegacyDispatcher::Answered LegacyDispatcher::list_tasks(Session& session) {
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.array("tasks", server_.tasks().list(session.caller.principal, protocol::Era::legacy),
               [](std::string& to, const auto& task) { to += write_legacy_task(*task); });
  writer.finish();
  return out;
}

LegacyDispatcher::Answered LegacyDispatcher::cancel_task(Session& session, const protocol::Request& request) {
  const auto task = find_task(session, request);
  if (!task) return refuse(code::kInvalidParams, "there is no such task");
  if (is_terminal(task->status)) return refuse(code::kInvalidParams, "the task has ended already");
  server_.tasks().cancel(*task);
  return write_legacy_task(*task);
}

void LegacyDispatcher::notify(Session& session, const protocol::Notification& notification) {
  if (notification.method == "notifications/initialized") {
    session.initialized = true;
  } else if (notification.method == "notifications/cancelled") {
    const json::value* id = json::find(notification.params, "requestId");
    if (!id || !(id->is_string() || id->is_int64() || id->is_uint64())) return;
    if (const auto reply = session.in_flight->find(protocol::Id::from_text(json::write(*id))))
      reply->abandon();
  }
}

}  // namespace relay::mcp
