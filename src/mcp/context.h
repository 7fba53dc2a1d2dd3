// Context: what the author of a tool sees of the world while a call runs.
//
// It does not know the era. Asking the user is one co_await; whether that becomes a request on the client's
// stream (legacy), or an `input_required` answer, a parked coroutine and a second request (modern), or an
// input request of a task, is decided behind it.
//
//   io::Task<ToolResult> remove_file(Context& context, json::object arguments) {
//     const std::string path(*json::find_string(arguments, "path"));        // the schema was checked already
//     context.progress(0, 2, "asking");
//     ElicitForm form{.message = "Delete " + path + "?",
//                     .requested_schema = JsonText::trusted(R"({"type":"object",
//                       "properties":{"sure":{"type":"boolean"}},"required":["sure"]})")};
//     RELAY_CO_TRY(ElicitResult answer, co_await context.elicit(std::move(form)));
//     if (!answer.accepted() || !json::find_bool(answer.content, "sure").value_or(false))
//       co_return ToolResult::text("kept");
//     RELAY_CO_CHECK(co_await remove(path));
//     context.log(LogLevel::info, "files", "removed " + path);
//     co_return ToolResult::text("removed");
//   }
//
// An Error that a handler returns becomes a tool result with isError, which the model reads. An Error that
// has a JSON-RPC form (protocol::to_error) ends the call with that JSON-RPC error instead. Cancellation
// unwinds the coroutine (see io/task.h); a tool needs code for it only where it has to clean up more than its
// destructors do.
//
// A Context lives as long as its handler runs, and is used on the loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "authority/caller.h"
#include "io/spawn.h"
#include "io/task.h"
#include "protocol/ask.h"
#include "protocol/jsonrpc.h"
#include "protocol/log_level.h"

namespace relay::mcp {

class Context {
 public:
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  virtual ~Context() = default;

  [[nodiscard]] virtual const authority::Caller& caller() const = 0;
  /// The request as it came: its id, its own text, its _meta.
  [[nodiscard]] virtual const protocol::Request& request() const = 0;
  [[nodiscard]] virtual protocol::Revision revision() const = 0;
  [[nodiscard]] virtual const protocol::ClientCapabilities& client() const = 0;
  [[nodiscard]] virtual io::Loop executor() const = 0;
  /// Copies of it may outlive the call.
  [[nodiscard]] virtual io::CancelSource cancellation() const = 0;
  /// For whoever uses this context from a coroutine of their own, which may still unwind when the handler has
  /// ended: while they hold this the context is there. Null where the owner of the context waits for them.
  [[nodiscard]] virtual std::shared_ptr<void> hold() { return {}; }

  [[nodiscard]] std::optional<std::string_view> traceparent() const {
    return json::find_string(request().meta(), "traceparent");
  }

  /// From which level on the client wants log messages; nothing: none at all.
  [[nodiscard]] virtual std::optional<protocol::LogLevel> log_level() const = 0;
  /// Both are dropped when the client did not ask for them, when it does not read, and after the end of the
  /// call. Progress must increase; a value that does not is dropped too.
  virtual void progress(double value, std::optional<double> total = {}, std::string_view message = {}) = 0;
  virtual void log(protocol::LogLevel level, std::string_view logger, json::value data) = 0;

  /// Asks several things in one round; the answers come in the same order. Fails with `unavailable` when the
  /// client did not declare that it can be asked, and with `cancelled` or `timeout` when nobody answers.
  virtual io::Task<std::vector<protocol::InputResponse>> ask_all(std::vector<protocol::Ask> asks) = 0;
  /// One question. The key names the answer on the wire of the modern era; most tools leave it out.
  io::Task<protocol::ElicitResult> elicit(protocol::ElicitForm form, std::string key = {});
  io::Task<protocol::ElicitResult> elicit(protocol::ElicitUrl page, std::string key = {});
  io::Task<protocol::SampleResult> sample(protocol::SampleRequest request, std::string key = {});
  io::Task<std::vector<protocol::Root>> roots(std::string key = {});

  /// From here on the call is a task: the client has its id and comes back for the rest. Without effect when
  /// it is one already, and where the client knows no tasks. For tools with TaskStart::when_told.
  virtual void become_task() = 0;

  /// Legacy HTTP only, elsewhere without effect: ends the connection while the call goes on; the client polls
  /// for the rest with Last-Event-ID. For long calls through proxies that do not keep connections open.
  virtual void close_stream() = 0;
};

}  // namespace relay::mcp
