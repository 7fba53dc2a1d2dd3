#include "executors/host_call_table.h"

#include <fmt/format.h>

#include "base/limits.h"

namespace relay::executors {
namespace {

constexpr std::size_t kUnsentBytesMax =
    4 * limits::kMiB;  // beyond it the guest must read before it may ask more
constexpr std::size_t kStreamBytesMax = 256 * limits::kKiB;  // beyond it a source that streams has to wait

json::object failure_header(std::int64_t id, const HostFailure& failure) {
  json::object error{{"type", failure.type}, {"message", failure.message}};
  if (!failure.errno_name.empty()) error["errno"] = failure.errno_name;
  return {{"id", id}, {"ok", false}, {"error", std::move(error)}};
}

std::string reply_header(std::int64_t id, const Result<HostReply>& reply) {
  if (!reply)
    return json::write(
        failure_header(id, {std::string(reply.error().face().type), reply.error().message, ""}));
  if (reply->failure) return json::write(failure_header(id, *reply->failure));
  return fmt::format(R"({{"id":{},"ok":true,"result":{}}})", id,
                     reply->result_text.empty() ? json::write(reply->result) : reply->result_text);
}

}  // namespace

// Events of one call. Once the table is closed its sends fail, which ends whatever feeds them.
class HostCallTable::Stream final : public HostStream {
 public:
  Stream(std::shared_ptr<HostCallTable> table, std::int64_t id) : table_(std::move(table)), id_(id) {}

  void send_reply(json::value result) override {
    table_->answer(id_, HostReply{.result = std::move(result), .body = {}, .failure = {}});
    replied_ = true;
  }

  // When the reply was already sent, only an error is reported.
  void finish(Result<HostReply> reply) {
    if (!replied_) return table_->answer(id_, std::move(reply));
    if (reply || !table_->child_) return;
    const json::object error{{"type", reply.error().face().type}, {"message", reply.error().message}};
    const json::object header{{"id", id_}, {"event", "error"}, {"error", error}};
    table_->child_->post(sandbox::FrameKind::event, json::write(header));
  }

  Task<void> send_event(std::string_view event, json::object header, std::string_view body) override {
    const std::shared_ptr<RunChild> child = table_->child_;
    if (!child) co_return fail(cancelled("the run is over"));
    header["id"] = id_;
    header["event"] = event;
    FrameBody pieces{std::make_shared<const std::string>(body)};
    child->post(sandbox::FrameKind::event, json::write(header), std::move(pieces));
    co_return co_await child->drain(kStreamBytesMax);
  }

 private:
  std::shared_ptr<HostCallTable> table_;
  std::int64_t id_;
  bool replied_ = false;
};

HostCallTable::HostCallTable(io::Loop executor, std::shared_ptr<RunChild> child,
                             std::shared_ptr<HostCalls> calls)
    : executor_(executor), child_(std::move(child)), host_(std::move(calls)), room_(executor) {}

Result<void> HostCallTable::begin(std::int64_t id, HostCall call) {
  if (!child_) return {};
  Entry entry;
  entry.body_bytes = call.body.size();
  if (!calls_.emplace(id, entry).second)
    return fail(invalid(fmt::format("call {} is in flight already", id)));
  body_bytes_ += entry.body_bytes;
  auto body = [](std::shared_ptr<HostCallTable> self, std::int64_t number, HostCall owned) -> Task<void> {
    co_return co_await self->perform(number, std::move(owned));
  };
  io::spawn(executor_, body(shared_from_this(), id, std::move(call)), "host call", entry.cancel);
  return {};
}

Task<void> HostCallTable::perform(std::int64_t id, HostCall call) {
  // The entry goes however the task ends, unwinding included.
  const std::shared_ptr<void> leave(nullptr, [self = shared_from_this(), id](void*) {
    const auto entry = self->calls_.find(id);
    if (entry == self->calls_.end()) return;
    self->body_bytes_ -= entry->second.body_bytes;
    self->calls_.erase(entry);
    self->room_.set();
  });
  Stream stream(shared_from_this(), id);
  std::optional<Result<HostReply>> reply;
  try {
    reply = co_await host_->call(std::move(call), stream);
  } catch (...) {
    if (io::is_cancellation(std::current_exception())) throw;
    const Error error = io::error_from(std::current_exception());
    io::report_failure("host call", error);
    reply = fail(error);
  }
  stream.finish(std::move(*reply));
  co_return Result<void>{};
}

void HostCallTable::answer(std::int64_t id, Result<HostReply> reply) {
  if (!child_) return;
  std::string header = reply_header(id, reply);
  FrameBody body;
  if (reply) body.push_back(std::make_shared<const std::string>(std::move(reply->body)));
  child_->post(sandbox::FrameKind::reply, std::move(header), std::move(body));
}

void HostCallTable::cancel(std::int64_t id) {
  const auto entry = calls_.find(id);
  if (entry != calls_.end()) entry->second.cancel.cancel();
}

void HostCallTable::close() {
  child_.reset();
  std::vector<io::CancelSource> sources;
  for (const auto& [id, entry] : calls_) sources.push_back(entry.cancel);
  for (io::CancelSource& source : sources) source.cancel();
  room_.set();
}

bool HostCallTable::has_room() const {
  return calls_.size() < limits::kRunCalls && body_bytes_ < limits::kRunCallBytes &&
         (!child_ || child_->unsent_bytes() < kUnsentBytesMax);
}

Task<void> HostCallTable::wait_for_room() {
  const std::shared_ptr<HostCallTable> self = shared_from_this();
  while (child_ && !has_room()) {
    if (child_->unsent_bytes() >= kUnsentBytesMax) {
      RELAY_CO_CHECK(co_await child_->drain(kUnsentBytesMax - 1));
      continue;
    }
    room_.clear();
    RELAY_CO_CHECK(co_await room_.wait());
  }
  co_return Result<void>{};
}

}  // namespace relay::executors
