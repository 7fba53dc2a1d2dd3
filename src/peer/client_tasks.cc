#include "peer/client_tasks.h"

#include <algorithm>

#include <fmt/format.h>

#include "peer/modern_input.h"
#include "peer/peer_params.h"
#include "peer/tool_result_shape.h"
#include "protocol/json_writer.h"
#include "protocol/modern_envelope.h"

namespace relay::peer {
namespace {

using Millis = std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr Millis kFirstPoll{20};     // many tasks are done by then; doubles
constexpr Millis kShortestPoll{50};  // whatever a server asks for
constexpr Millis kLongestPoll{30'000};
constexpr Deadlines kPollPatience{};

// Tells the server that its task is no longer wanted, unless it has ended.
class TaskGuard {
 public:
  TaskGuard(const TaskTalk& talk, std::string params) : talk_(talk), params_(std::move(params)) {}
  ~TaskGuard() {
    if (!ended_) talk_.tell("tasks/cancel", params_);
  }
  TaskGuard(const TaskGuard&) = delete;
  TaskGuard& operator=(const TaskGuard&) = delete;
  void ended() { ended_ = true; }

 private:
  const TaskTalk& talk_;
  std::string params_;
  bool ended_ = false;
};

Millis poll_interval(const json::object& task, std::string_view key) {
  const auto wished = json::find_int(task, key).value_or(Millis(limits::kTaskPoll).count());
  return std::clamp(Millis(std::clamp<std::int64_t>(wished, 0, kLongestPoll.count())), kShortestPoll,
                    kLongestPoll);
}

// Looks at once, then after pauses that grow to the one that the server wishes: a task that is done soon
// costs no more than a call.
class PollPauses {
 public:
  io::Task<void> wait(Millis wished) {
    const Millis pause = std::min(next_, wished);
    next_ = std::max(2 * next_, kFirstPoll);
    if (pause.count() > 0) RELAY_CO_CHECK(co_await io::sleep_for(pause));
    co_return Result<void>{};
  }

 private:
  Millis next_{0};
};

std::string task_params(std::string_view id) {
  return R"({"taskId":)" + json::quote(id) + "}";
}

bool is_terminal(std::string_view status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

PeerAnswer server_error(const protocol::Response& response) {
  return std::unexpected(response.outcome.error());
}

Error gone(std::string_view status) {
  return unavailable(fmt::format("the server's task ended as '{}'", status));
}

protocol::RpcError parse_error(const json::object& task) {
  const json::object* error = json::find_object(task, "error");
  if (!error) return {protocol::code::kInternalError, "the task failed without saying why", {}};
  protocol::RpcError parsed{
      static_cast<int>(json::find_int(*error, "code").value_or(protocol::code::kInternalError)),
      std::string(json::find_string(*error, "message").value_or("")),
      {}};
  if (const json::value* data = json::find(*error, "data")) parsed.data = *data;
  return parsed;
}

// The result of a task of 2025-11-25 says which task it was of. Whoever asked for no task knows none by that
// name.
std::string without_related_task(std::string_view result) {
  if (result.find(protocol::meta::kRelatedTask) == std::string_view::npos) return std::string(result);
  std::string out;
  protocol::ObjectWriter writer(out);
  for (const json::Member& member : json::split_object(result)) {
    auto meta = member.key == "_meta" ? json::parse_object(member.text)
                                      : Result<json::object>(fail(not_found("another member")));
    if (!meta) {
      writer.raw(member.key, member.text);
      continue;
    }
    meta->erase(protocol::meta::kRelatedTask);
    writer.object_if(member.key, *meta);
  }
  writer.finish();
  return out;
}

Result<PeerAnswer> to_tool_answer(std::string_view text) {
  RELAY_TRY(const json::value result, json::parse(text));
  RELAY_TRY(auto shaped, shape_tool_result(text, result));
  return PeerAnswer(std::move(shaped));
}

// What a modern task that has ended amounts to.
Result<PeerAnswer> final_answer(std::string_view text, const json::object& task, std::string_view status) {
  if (status == "failed") return PeerAnswer(std::unexpected(parse_error(task)));
  const auto result = json::find_text(text, "result");
  if (status != "completed" || !result) return fail(gone(status));
  return to_tool_answer(*result);
}

}  // namespace

std::string legacy_task_member() {
  return fmt::format(R"("task":{{"ttl":{}}})", Millis(limits::kUpstreamCallMax).count());
}

io::Task<PeerAnswer> follow_legacy_task(TaskTalk talk, protocol::JsonText created, RequestScope& exchange) {
  const json::object* members = created.value().if_object();
  const json::object* task = members ? json::find_object(*members, "task") : nullptr;
  if (!task) co_return to_tool_answer(created.text());  // it was answered at once
  exchange.became_task();
  const std::string params = task_params(json::find_string(*task, "taskId").value_or(""));
  TaskGuard guard(talk, params);
  const auto deadline = Clock::now() + limits::kUpstreamCallMax;
  PollPauses pauses;
  Millis wished = poll_interval(*task, "pollInterval");
  std::string status(json::find_string(*task, "status").value_or(""));
  // A task that wants input says what it wants while tasks/result is open.
  while (!is_terminal(status) && status != "input_required") {
    if (Clock::now() > deadline) co_return fail(timed_out("the server's task does not end"));
    RELAY_CO_CHECK(co_await pauses.wait(wished));
    RELAY_CO_TRY(const protocol::Response seen, co_await talk.ask("tasks/get", params, kPollPatience));
    if (!seen.outcome) co_return server_error(seen);
    const json::object* state = seen.outcome->if_object();
    if (!state) co_return fail(unavailable("the server's answer to tasks/get is no object"));
    status = json::find_string(*state, "status").value_or("");
    wished = poll_interval(*state, "pollInterval");
  }
  if (status == "cancelled") guard.ended();
  const Deadlines deadlines{.silence = limits::kUpstreamCallMax, .total = limits::kUpstreamCallMax};
  RELAY_CO_TRY(const protocol::Response result, co_await talk.ask("tasks/result", params, deadlines));
  guard.ended();
  if (!result.outcome) co_return server_error(result);
  co_return to_tool_answer(without_related_task(result.result_text()));
}

io::Task<PeerAnswer> follow_modern_task(TaskTalk talk, protocol::JsonText created, RequestScope& exchange) {
  exchange.became_task();
  const json::object& task = created.value().as_object();
  const std::string params = task_params(json::find_string(task, "taskId").value_or(""));
  TaskGuard guard(talk, params);
  const auto deadline = Clock::now() + limits::kUpstreamCallMax;
  PollPauses pauses;
  Millis wished = poll_interval(task, "pollIntervalMs");
  std::set<std::string, std::less<>> answered;
  for (int rounds = 0; rounds <= limits::kUpstreamRounds;) {
    if (Clock::now() > deadline) co_return fail(timed_out("the server's task does not end"));
    RELAY_CO_CHECK(co_await pauses.wait(wished));
    RELAY_CO_TRY(const protocol::Response seen, co_await talk.ask("tasks/get", params, kPollPatience));
    if (!seen.outcome) co_return server_error(seen);
    const json::object* state = seen.outcome->if_object();
    if (!state) co_return fail(unavailable("the server's answer to tasks/get is no object"));
    const std::string_view status = json::find_string(*state, "status").value_or("");
    if (is_terminal(status)) {
      guard.ended();
      co_return final_answer(seen.result_text(), *state, status);
    }
    wished = poll_interval(*state, "pollIntervalMs");
    if (status != "input_required") continue;
    RELAY_CO_TRY(auto questions, parse_questions(seen.result_text(), exchange));
    std::erase_if(questions.questions,
                  [&](const Question& question) { return !answered.insert(question.key).second; });
    std::erase_if(questions.refused, [&](const auto& one) { return !answered.insert(one.first).second; });
    if (questions.empty()) continue;
    RELAY_CO_TRY(const std::string responses, co_await ask_for_responses(std::move(questions), exchange));
    RELAY_CO_TRY(const protocol::Response taken,
                 co_await talk.ask("tasks/update", with_members(params, responses), kPollPatience));
    if (!taken.outcome) co_return server_error(taken);
    pauses = {};  // what it waited for is there
    ++rounds;
  }
  co_return fail(unavailable(
      fmt::format("the server asks more than {} times for input to one task", limits::kUpstreamRounds)));
}

}  // namespace relay::peer
