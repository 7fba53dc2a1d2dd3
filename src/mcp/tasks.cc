#include "mcp/tasks.h"

#include <algorithm>

#include "base/limits.h"
#include "protocol/json_writer.h"

namespace relay::mcp {
namespace {

constexpr std::int64_t kPollMs = std::chrono::milliseconds(limits::kTaskPoll).count();

std::chrono::milliseconds bounded_ttl(std::optional<std::chrono::milliseconds> wanted) {
  const auto ttl = wanted.value_or(limits::kTaskTtlDefault);
  return std::clamp<std::chrono::milliseconds>(ttl, std::chrono::seconds(1), limits::kTaskTtlMax);
}

void write_times(protocol::ObjectWriter& writer, const TaskRecord& task) {
  writer.text("taskId", task.id);
  writer.text("status", name_of(task.status));
  writer.text_if("statusMessage", task.status_message);
  writer.text("createdAt", format_iso8601(task.created));
  writer.text("lastUpdatedAt", format_iso8601(task.updated));
}

std::string without_braces(std::string object) {
  return std::string(members_of(object));
}

}  // namespace

std::string_view name_of(TaskStatus status) {
  switch (status) {
    case TaskStatus::working: return "working";
    case TaskStatus::input_required: return "input_required";
    case TaskStatus::completed: return "completed";
    case TaskStatus::failed: return "failed";
    case TaskStatus::cancelled: return "cancelled";
  }
  return "failed";
}

Result<std::shared_ptr<TaskRecord>> TaskStore::create(std::string_view principal, protocol::Era era,
                                                      io::CancelSource cancel,
                                                      std::optional<std::chrono::milliseconds> ttl) {
  drop_expired();
  if (tasks_.size() >= limits::kTasks) {
    const auto ended =
        std::ranges::find_if(order_, [&](const auto& id) { return is_terminal(tasks_.at(id)->status); });
    if (ended == order_.end()) return fail(busy("too many tasks are running: try again later"));
    tasks_.erase(*ended);
    order_.erase(ended);
  }
  auto task = std::make_shared<TaskRecord>(executor_);
  task->id = ids_.make("task_", 16);
  task->principal = principal;
  task->era = era;
  task->created = task->updated = clock_.wall();
  task->ttl = bounded_ttl(ttl);
  task->cancel = std::move(cancel);
  tasks_.emplace(task->id, task);
  order_.push_back(task->id);
  return task;
}

std::shared_ptr<TaskRecord> TaskStore::find(std::string_view id, std::string_view principal,
                                            protocol::Era era) {
  drop_expired();
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second->principal != principal || found->second->era != era)
    return nullptr;
  return found->second;
}

std::vector<std::shared_ptr<TaskRecord>> TaskStore::list(std::string_view principal, protocol::Era era) {
  drop_expired();
  std::vector<std::shared_ptr<TaskRecord>> found;
  for (const std::string& id : order_) {
    const auto& task = tasks_.at(id);
    if (task->principal == principal && task->era == era) found.push_back(task);
  }
  return found;
}

void TaskStore::set_status(TaskRecord& task, TaskStatus status, std::string message) {
  if (is_terminal(task.status)) return;
  task.status = status;
  task.status_message = std::move(message);
  task.updated = clock_.wall();
  if (is_terminal(status)) {
    task.round.reset();
    task.unsent.clear();
    task.ended.set();
  }
  on_change_(task);
}

void TaskStore::finish(TaskRecord& task, std::expected<ResultMembers, protocol::RpcError> outcome) {
  if (is_terminal(task.status)) return;
  const bool failed = !outcome;
  std::string message = failed ? outcome.error().message : std::string();
  task.outcome = std::move(outcome);
  set_status(task, failed ? TaskStatus::failed : TaskStatus::completed, std::move(message));
}

void TaskStore::cancel(TaskRecord& task) {
  if (is_terminal(task.status)) return;
  set_status(task, TaskStatus::cancelled, "cancelled by the client");
  task.cancel.cancel();
}

void TaskStore::stop() {
  for (const auto& [id, task] : std::exchange(tasks_, {}))
    if (!is_terminal(task->status)) task->cancel.cancel();
  order_.clear();
}

void TaskStore::drop_expired() {
  const WallTime now = clock_.wall();
  std::erase_if(order_, [&](const std::string& id) {
    const auto found = tasks_.find(id);
    if (now - found->second->created < found->second->ttl) return false;
    if (!is_terminal(found->second->status)) found->second->cancel.cancel();
    tasks_.erase(found);
    return true;
  });
}

std::string write_modern_task(const TaskRecord& task) {
  std::string out;
  protocol::ObjectWriter writer(out);
  write_times(writer, task);
  writer.number("ttlMs", static_cast<std::int64_t>(task.ttl.count()));
  writer.number("pollIntervalMs", kPollMs);
  writer.finish();
  return without_braces(std::move(out));
}

std::string write_modern_task_details(const TaskRecord& task, protocol::Revision revision,
                                      std::string_view server_info) {
  std::string out = write_modern_task(task);
  if (task.round) out += R"(,"inputRequests":)" + task.round->write_open(revision);
  if (task.outcome && task.outcome->has_value())
    out += R"(,"result":)" + write_modern_result(**task.outcome, server_info);
  if (task.outcome && !task.outcome->has_value())
    out += R"(,"error":)" + protocol::write_error_object(task.outcome->error());
  return out;
}

std::string write_legacy_task(const TaskRecord& task) {
  std::string out;
  protocol::ObjectWriter writer(out);
  write_times(writer, task);
  writer.number("ttl", static_cast<std::int64_t>(task.ttl.count()));
  writer.number("pollInterval", kPollMs);
  writer.finish();
  return out;
}

}  // namespace relay::mcp
