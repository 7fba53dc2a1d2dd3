#include "world/approvals.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/bytes.h"
#include "base/disk.h"
#include "base/limits.h"
#include "io/spawn.h"
#include "policy/redaction.h"

namespace relay::world {
namespace {

io::Task<void> write_note(audit::Journal& journal, audit::Record record) {
  co_return co_await journal.note(std::move(record));
}

}  // namespace

void note_event(const io::Loop& loop, audit::Journal& journal, const Clock& clock, std::string_view tool,
                std::string_view action, const json::object& args) {
  std::string text;
  policy::append_redacted_json(text, json::value(args), journal.options().redactor.get());
  io::spawn(loop, write_note(journal, audit::make_event(clock.wall(), action, text, tool)), "audit an event");
}

// Tells when a file came into the directory. Each pending read holds it; stop() ends them.
class Approvals::Watch : public std::enable_shared_from_this<Watch> {
 public:
  Watch(const io::Loop& loop, std::function<void()> changed) : stream_(loop), changed_(std::move(changed)) {}

  Result<void> open(const std::filesystem::path& directory) {
    const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) return fail(from_errno(errno, "watch for approvals"));
    stream_.assign(fd);
    if (::inotify_add_watch(fd, directory.c_str(), IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
      return fail(from_errno(errno, "watch " + directory.string()));
    read();
    return {};
  }
  void stop() {
    stopped_ = true;
    stream_.close();
  }

 private:
  void read() {
    stream_.async_read_some(io::asio::buffer(buffer_),
                            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                              if (error || self->stopped_) return;
                              self->changed_();
                              self->read();
                            });
  }

  io::asio::posix::stream_descriptor stream_;
  std::function<void()> changed_;
  alignas(inotify_event) std::array<char, 4096> buffer_{};
  bool stopped_ = false;
};

Approvals::Approvals(ApprovalParts parts)
    : parts_(std::move(parts)), process_start_(process_start_of(::getpid())) {}

Result<std::unique_ptr<Approvals>> Approvals::open(ApprovalParts parts) {
  std::unique_ptr<Approvals> approvals(new Approvals(std::move(parts)));
  RELAY_CHECK(approvals->watch());
  return approvals;
}

Result<void> Approvals::watch() {
  RELAY_CHECK(make_directory(approvals_directory(parts_.state)));
  remove_abandoned_approvals(parts_.state);
  // An answer is small and rare, and the directory is on the local disk: the loop reads it itself.
  watch_ = std::make_shared<Watch>(parts_.loop, [this] {
    for (const ApprovalAnswer& answer : take_answers(parts_.state)) take(answer);
  });
  RELAY_CHECK(watch_->open(approvals_directory(parts_.state)));
  parts_.broker.set_observer(this);
  return {};
}

Approvals::~Approvals() {
  close();
}

void Approvals::close() {
  parts_.broker.set_observer(nullptr);
  if (watch_) watch_->stop();
  for (const auto& [id, one] : waiting_) remove_approval(parts_.state, id);
  waiting_.clear();
}

io::Task<void> Approvals::write(PendingApproval pending) {
  auto work = [state = parts_.state, pending] { return write_pending(state, pending); };
  const Result<void> written = co_await parts_.pool.run(std::move(work));
  if (!written)
    parts_.log.error("what waits for the operator cannot be shown",
                     {{"id", pending.id}, {"reason", written.error().message}});
  // Answered or withdrawn while it was written.
  if (!waiting_.contains(pending.id)) remove_approval(parts_.state, pending.id);
  co_return Result<void>{};
}

void Approvals::add(PendingApproval pending, Answered answered) {
  pending.pid = ::getpid();
  pending.process_start = process_start_;
  if (pending.since.empty()) pending.since = format_iso8601(parts_.clock.wall());
  const bool is_new = !waiting_.contains(pending.id);
  waiting_.insert_or_assign(pending.id, Waiting{pending, std::move(answered)});
  if (is_new)
    parts_.log.warn("waits for the operator",
                    {{"id", pending.id},
                     {"kind", name_of(pending.kind)},
                     {"what", pending.summary},
                     {"answer", fmt::format("relay approvals approve {}", pending.id)}});
  io::spawn(parts_.loop, write(std::move(pending)), "show an approval");
}

void Approvals::withdraw(const std::string& id) {
  if (waiting_.erase(id) > 0) remove_approval(parts_.state, id);
}

void Approvals::take(const ApprovalAnswer& answer) {
  const auto found = waiting_.find(answer.id);
  if (found == waiting_.end()) {
    note_event(parts_.loop, parts_.journal, parts_.clock, "approvals", "answer_unknown",
               {{"by", answer.by}, {"id", answer.id}});
    return;
  }
  const Waiting one = std::move(found->second);
  waiting_.erase(found);
  remove_approval(parts_.state, answer.id);
  json::object args{{"by", answer.by},
                    {"id", answer.id},
                    {"kind", name_of(one.pending.kind)},
                    {"what", one.pending.summary}};
  if (!answer.reason.empty()) args["reason"] = answer.reason;
  note_event(parts_.loop, parts_.journal, parts_.clock, "approvals", answer.approved ? "approve" : "deny",
             args);
  parts_.log.info(answer.approved ? "the operator approved" : "the operator denied",
                  {{"id", answer.id}, {"by", answer.by}, {"what", one.pending.summary}});
  one.answered(answer);
}

void Approvals::call_waits(const std::string& id, const authority::Call& call, std::chrono::seconds ttl) {
  PendingApproval pending;
  pending.id = id;
  pending.kind = ApprovalKind::call;
  const std::string client = authority::client_id(call.caller);
  pending.summary = fmt::format("{} by {}", call.tool, client);
  const secrets::Redactor* redactor = parts_.journal.options().redactor.get();
  std::string args;
  policy::append_redacted_json(args, call.args.value(), redactor);
  pending.detail = {
      {"tool", call.tool},
      {"client", client},
      {"requestId", call.request_id},
      {"does", utf8_prefix(policy::redact_for_audit(call.policy_text, redactor), limits::kApprovalTextBytes)},
      {"arguments", utf8_prefix(args, limits::kApprovalTextBytes)}};
  if (!call.caller.session_id.empty()) pending.detail["session"] = call.caller.session_id;
  if (!call.upstream.empty()) pending.detail["upstream"] = call.upstream;
  pending.expires = format_iso8601(parts_.clock.wall() + ttl);
  add(std::move(pending), [this](const ApprovalAnswer& answer) {
    const bool known = answer.approved ? parts_.broker.approve(answer.id) : parts_.broker.deny(answer.id);
    if (!known) parts_.log.warn("the call that was answered waits no longer", {{"id", answer.id}});
  });
}

void Approvals::call_gone(const std::string& id) {
  withdraw(id);
}

}  // namespace relay::world
