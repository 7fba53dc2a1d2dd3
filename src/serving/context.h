// Context: what the author of a tool sees of the world while a call runs.
//
// It does not know the era. It is the call's Asker and its Reporter; a function that only asks, or only
// reports, takes that instead of the Context.
//
//   io::Task<ToolResult> remove_file(Context& context, const authority::Arguments& arguments) {
//     const std::string path(*json::find_string(arguments.object(), "path"));  // it fits the schema
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

#include "authority/caller.h"
#include "base/json.h"
#include "protocol/revision.h"
#include "serving/asker.h"
#include "serving/reporter.h"

namespace relay::serving {

class Context : public Asker, public Reporter {
 public:
  [[nodiscard]] virtual const authority::Caller& caller() const = 0;
  [[nodiscard]] virtual protocol::Revision revision() const = 0;
  /// The `_meta` of the request, such as its traces.
  [[nodiscard]] virtual const json::object& meta() const { return json::empty_object(); }
  /// For whoever uses this context from a coroutine of their own, which may still unwind when the handler has
  /// ended: while they hold this the context is there. Null where the owner of the context waits for them.
  [[nodiscard]] virtual std::shared_ptr<void> hold() { return {}; }

  /// From here on the call is a task: the client has its id and comes back for the rest. Without effect when
  /// it is one already, and where the client knows no tasks. For tools with TaskStart::when_told.
  virtual void become_task() {}
  /// Legacy HTTP only, elsewhere without effect: ends the connection while the call goes on; the client polls
  /// for the rest with Last-Event-ID. For long calls through proxies that do not keep connections open.
  virtual void close_stream() {}
};

}  // namespace relay::serving
