#include "mcp/served_request.h"

#include "base/bytes.h"
#include "base/limits.h"
#include "mcp/open_calls.h"
#include "protocol/json_writer.h"

namespace relay::mcp {
namespace {

std::string token_of(const json::object& meta) {
  const json::value* token = json::find(meta, "progressToken");
  if (!token || !(token->is_string() || token->is_int64() || token->is_uint64())) return {};
  std::string text = json::write(*token);
  return text.size() <= limits::kIdBytes ? text : std::string();
}

// A handler's Error is for the model to read; the call itself went well.
ResultMembers tool_error(const Error& error, protocol::Revision revision) {
  ResultMembers outcome;
  protocol::append_members(outcome.members, protocol::ToolResult::error(describe(error)), revision);
  return outcome;
}

std::expected<ResultMembers, protocol::RpcError> judge(ServedRequest& call, Result<ResultMembers> result) {
  if (result) return *std::move(result);
  if (result.error().rpc) return std::unexpected(protocol::to_rpc_error(result.error()));
  if (call.request().method == "tools/call") return tool_error(result.error(), call.revision());
  protocol::RpcError error = protocol::to_rpc_error(result.error());
  if (result.error().kind == ErrorKind::not_found && call.request().method == "resources/read") {
    if (protocol::era_of(call.revision()) == protocol::Era::legacy)
      error.code = protocol::code::kResourceNotFound;
    if (const json::value* uri = json::find(call.params(), "uri")) error.data = json::object{{"uri", *uri}};
  }
  return std::unexpected(std::move(error));
}

protocol::RpcError stopping() {
  return protocol::to_rpc_error(unavailable("the server is stopping; call again when it is back"));
}

io::Task<void> run(std::shared_ptr<ServedRequest> call, Operation operation) {
  const std::shared_ptr<OpenCalls> open_calls = call->server().open_calls();
  if (open_calls->is_stopping()) {
    call->complete(std::unexpected(stopping()));
    co_return Result<void>{};
  }
  const OpenCalls::Entry entry(open_calls, call->cancellation());
  std::exception_ptr thrown;
  try {
    call->complete(judge(*call, co_await operation(*call)));
  } catch (...) {
    thrown = std::current_exception();
  }
  if (!thrown) co_return Result<void>{};
  if (io::is_cancellation(thrown)) {
    if (open_calls->is_stopping())
      call->complete(std::unexpected(stopping()));
    else
      call->end_without_answer();
    co_return Result<void>{};
  }
  // A defect: the client learns that, the reporter learns what.
  const Error defect = io::error_from(thrown);
  call->complete(std::unexpected(protocol::RpcError{protocol::code::kInternalError, "internal error", {}}));
  co_return fail(defect);
}

}  // namespace

void start(std::shared_ptr<ServedRequest> call, Operation operation) {
  const io::Loop executor = call->server().executor();
  const io::CancelSource cancel = call->cancellation();
  io::spawn(executor, run(std::move(call), operation), "call", cancel);
}

ServedRequest::ServedRequest(Server& server, protocol::Request request, std::shared_ptr<Reply> reply)
    : server_(server), request_(std::move(request)) {
  attach(std::move(reply), request_.id, request_.meta());
}

void ServedRequest::attach(std::shared_ptr<Reply> reply, protocol::Id id, const json::object& meta) {
  reply_ = std::move(reply);
  answer_id_ = std::move(id);
  progress_token_ = token_of(meta);
  last_progress_ = -std::numeric_limits<double>::infinity();
  reply_->set_on_abandon([cancel = cancel_]() mutable { cancel.cancel(); });
}

void ServedRequest::progress(double value, std::optional<double> total, std::string_view message) {
  if (task_ && !message.empty()) server_.tasks().set_status(*task_, task_->status, std::string(message));
  if (progress_token_.empty() || !reply_ || reply_->finished() || !(value > last_progress_)) return;
  last_progress_ = value;
  std::string params;
  protocol::ObjectWriter writer(params);
  writer.raw("progressToken", progress_token_);
  writer.number("progress", value);
  if (total) writer.number("total", *total);
  if (revision() >= protocol::Revision::v2025_03_26) writer.text_if("message", message);
  writer.finish();
  reply_->send(protocol::write_notification("notifications/progress", params));
}

void ServedRequest::log(protocol::LogLevel level, std::string_view logger, json::value data) {
  const auto wanted = log_level();
  if (!wanted || level < *wanted || !reply_ || reply_->finished()) return;
  std::string params;
  protocol::ObjectWriter writer(params);
  writer.text("level", protocol::name_of(level));
  writer.text_if("logger", logger);
  writer.raw("data", json::write(data));
  writer.finish();
  reply_->send(protocol::write_notification("notifications/message", params));
}

void ServedRequest::close_stream() {
  if (reply_) reply_->close_early();
}

void ServedRequest::become_task() {
  // Where the handler decides, what its tool declares is beside the point: in the modern era only a server
  // knows what becomes a task.
  const bool declared = tool && (tool->tool().task_support != protocol::TaskSupport::forbidden ||
                                 tool->tool().task_start == protocol::TaskStart::when_told);
  if (task_ || !declared || !may_become_task()) return;
  // A store that is full leaves the call what it is: the client waits for its answer.
  static_cast<void>(start_task(std::nullopt));
}

Result<void> ServedRequest::start_task(std::optional<std::chrono::milliseconds> ttl) {
  RELAY_TRY(task_, server_.tasks().create(caller().principal, protocol::era_of(revision()), cancel_, ttl));
  task_->session_id = caller().session_id;
  if (!reply_) return {};
  reply_->finish({protocol::write_result(answer_id_, write_created_task(*task_)), 200});
  reply_.reset();
  return {};
}

void ServedRequest::complete(std::expected<ResultMembers, protocol::RpcError> outcome) {
  if (task_) return server_.tasks().finish(*task_, std::move(outcome));
  if (!reply_) return;
  if (outcome) {
    reply_->finish({protocol::write_result(answer_id_, write_result(*outcome)), 200});
  } else {
    reply_->finish({protocol::write_error(answer_id_, outcome.error()), status_of(outcome.error())});
  }
}

void ServedRequest::end_without_answer() {
  if (task_) return server_.tasks().set_status(*task_, TaskStatus::cancelled, "cancelled");
  if (reply_) reply_->finish({});
}

}  // namespace relay::mcp
