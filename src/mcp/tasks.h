// Tasks: calls whose answer the client comes back for. One store serves both generations, the experimental
// tasks of 2025-11-25 and the extension of 2026; they differ in how a record is written, not in what it is.
//
// A task belongs to the principal that started it: to everybody else it does not exist. It is kept for its
// time to live after it was made; the store is bounded. Bound to this process
// (docs/decisions/0031-room-for-a-second-machine.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/id_maker.h"
#include "io/event.h"
#include "io/spawn.h"
#include "mcp/reply.h"
#include "mcp/result_members.h"
#include "mcp/round.h"
#include "protocol/revision.h"

namespace relay::mcp {

enum class TaskStatus : std::uint8_t { working, input_required, completed, failed, cancelled };
std::string_view name_of(TaskStatus status);
constexpr bool is_terminal(TaskStatus status) {
  return status >= TaskStatus::completed;
}

struct TaskRecord {
  explicit TaskRecord(const io::Loop& executor) : ended(executor) {}

  std::string id;
  std::string principal;
  protocol::Era era = protocol::Era::modern;
  std::string session_id;  // legacy: where status notifications go
  TaskStatus status = TaskStatus::working;
  std::string status_message;
  WallTime created{};
  WallTime updated{};
  std::chrono::milliseconds ttl{};
  std::optional<std::expected<ResultMembers, protocol::RpcError>> outcome;
  std::shared_ptr<Round> round;     // modern: the open questions
  std::weak_ptr<Reply> asking;      // legacy: the tasks/result request that questions are sent on
  std::vector<std::string> unsent;  // legacy: questions that wait for one
  io::CancelSource cancel;
  io::Event ended;
};

class TaskStore {
 public:
  using OnChange = std::function<void(const TaskRecord&)>;

  TaskStore(io::Loop executor, const Clock& clock, IdMaker ids, OnChange on_change)
      : executor_(std::move(executor)),
        clock_(clock),
        ids_(std::move(ids)),
        on_change_(std::move(on_change)) {}

  /// Fails with `busy` when the store is full of tasks that still run.
  Result<std::shared_ptr<TaskRecord>> create(std::string_view principal, protocol::Era era,
                                             io::CancelSource cancel,
                                             std::optional<std::chrono::milliseconds> ttl);
  /// Null for other principals, other eras and tasks that expired.
  std::shared_ptr<TaskRecord> find(std::string_view id, std::string_view principal, protocol::Era era);
  std::vector<std::shared_ptr<TaskRecord>> list(std::string_view principal, protocol::Era era);

  void set_status(TaskRecord& task, TaskStatus status, std::string message = {});
  /// Terminal states stay: a result that comes after a cancellation is dropped.
  void finish(TaskRecord& task, std::expected<ResultMembers, protocol::RpcError> outcome);
  void cancel(TaskRecord& task);
  void stop();

 private:
  void drop_expired();

  io::Loop executor_;
  const Clock& clock_;
  IdMaker ids_;
  OnChange on_change_;
  std::map<std::string, std::shared_ptr<TaskRecord>, std::less<>> tasks_;
  std::vector<std::string> order_;  // of creation, for lists
};

/// The members of a task as the extension of 2026 writes them: taskId, status, createdAt, ...
std::string write_modern_task(const TaskRecord& task);
/// With result, error or inputRequests, whichever belongs to the status.
std::string write_modern_task_details(const TaskRecord& task, protocol::Revision revision,
                                      std::string_view server_info);
/// The object of 2025-11-25.
std::string write_legacy_task(const TaskRecord& task);

}  // namespace relay::mcp
