#include "peer/peer_dialogue.h"

#include <algorithm>

#include <fmt/format.h>

#include "peer/peer_params.h"

namespace relay::peer {
namespace {

constexpr std::size_t kUnawaited =
    64;  // answers that nobody waits for, remembered so that they are no surprise

using Clock = std::chrono::steady_clock;

Clock::time_point later(Clock::time_point from, std::chrono::milliseconds by) {
  return by.count() == 0 ? Clock::time_point::max() : from + by;
}

// A message that cannot be delivered has nobody who waits for it; a lost connection is told in its own way.
io::Task<void> deliver_quietly(std::shared_ptr<Wire> wire, std::string message) {
  [[maybe_unused]] const auto ignored = co_await wire->deliver(std::move(message));
  co_return Result<void>{};
}

// A handshake is not cancelled: a server that is asked too early may take the notification for nonsense.
bool is_handshake(std::string_view method) {
  return method == "initialize" || method == "server/discover";
}

}  // namespace

Dialogue::OpenRequest::OpenRequest(Dialogue& owner, std::string name, RequestScope& who, Deadlines how_long,
                                   std::string subject)
    : dialogue(owner),
      id(++owner.last_id_),
      method(std::move(name)),
      asked(owner.questions_, who, std::move(subject)),
      deadlines(how_long),
      began(Clock::now()),
      heard(began) {
  owner.open_.emplace_hint(owner.open_.end(), id, this);
}

Dialogue::OpenRequest::~OpenRequest() {
  dialogue.open_.erase(id);
  if (on_wire) dialogue.cancel_on_wire(*this);
}

void Dialogue::OpenRequest::finish(Result<protocol::Response> how) {
  if (outcome) return;
  const bool was_answered = how.has_value();
  outcome = std::move(how);
  asked.end(was_answered ? AskedRequest::Ending::answered : AskedRequest::Ending::given_up);
}

// A person who is asked something may take the whole time there is.
Dialogue::Time Dialogue::OpenRequest::due() const {
  const Time last = later(began, deadlines.total);
  return asked.is_being_asked() ? last : std::min(last, later(heard, deadlines.silence));
}

std::shared_ptr<Dialogue> Dialogue::make(io::Loop executor, std::shared_ptr<Wire> wire,
                                         PeerObserver& observer) {
  auto dialogue = std::make_shared<Dialogue>(std::move(executor), std::move(wire), observer);
  dialogue->wire_->listen(dialogue);
  return dialogue;
}

Dialogue::Dialogue(io::Loop executor, std::shared_ptr<Wire> wire, PeerObserver& observer)
    : executor_(std::move(executor)),
      wire_(std::move(wire)),
      observer_(&observer),
      questions_(executor_, *this),
      timer_(executor_) {}

WireRequest Dialogue::spell(OutgoingMessage message, RequestId id) {
  WireRequest request{
      .id = id, .method = std::string(message.method), .text = {}, .headers = std::move(message.headers)};
  const std::string_view members = members_of(message.params);
  std::string& out = request.text;
  out.reserve(members.size() + message.meta.size() + request.method.size() + 128);
  const auto into = std::back_inserter(out);
  fmt::format_to(into, R"({{"jsonrpc":"2.0","id":{},"method":)", id);
  json::append_quoted(out, request.method);
  out += R"(,"params":{)";
  out += members;
  if (!message.meta.empty() || message.wants_progress) {
    if (!members.empty()) out += ',';
    out += R"("_meta":{)";
    out += message.meta;
    if (!message.meta.empty() && message.wants_progress) out += ',';
    if (message.wants_progress) fmt::format_to(into, R"("progressToken":{})", id);
    out += '}';
  }
  out += "}}";
  return request;
}

io::Task<protocol::Response> Dialogue::roundtrip(OutgoingMessage message, RequestScope& exchange,
                                                 Deadlines deadlines) {
  const auto keep = shared_from_this();
  std::string subject = ServerQuestions::subject_of(message.method, message.params);
  if (questions_.must_wait(exchange, subject))
    RELAY_CO_CHECK(
        co_await questions_.wait_for_turn(exchange, subject, later(Clock::now(), deadlines.total)));
  OpenRequest open(*this, std::string(message.method), exchange, deadlines, std::move(subject));
  co_return co_await converse(std::move(message), open);
}

io::Task<protocol::Response> Dialogue::listen(OutgoingMessage message,
                                              std::function<void(const json::object&)> acknowledged) {
  const auto keep = shared_from_this();
  SilentScope nobody;
  OpenRequest open(*this, std::string(message.method), nobody, Deadlines{.silence = {}, .total = {}}, {});
  open.acknowledged = std::move(acknowledged);
  co_return co_await converse(std::move(message), open);
}

io::Task<protocol::Response> Dialogue::converse(OutgoingMessage message, OpenRequest& open) {
  if (why_closed_) co_return fail(*why_closed_);
  open.on_wire = true;
  if (auto sent = wire_->send(spell(std::move(message), open.id)); !sent) {
    open.on_wire = false;
    co_return fail(std::move(sent.error()));
  }
  watch(open);
  while (!open.outcome) {
    if (open.asked.has_waiting())
      RELAY_CO_CHECK(co_await open.asked.tend());
    else
      co_await open.asked.news().wait();
  }
  co_return *std::move(open.outcome);
}

// A person who was asked may have taken long: the server's silence counts from the end of that.
void Dialogue::deadline_moved(AskedRequest& asked) {
  const auto is_its = [&](const auto& entry) { return &entry.second->asked == &asked; };
  const auto found = std::ranges::find_if(open_, is_its);
  if (found == open_.end()) return;
  OpenRequest& open = *found->second;
  if (!asked.is_being_asked()) open.heard = Clock::now();
  watch(open);
}

void Dialogue::tell(std::string_view method, std::string_view params) {
  send_later(protocol::write_notification(method, params));
}

void Dialogue::send_without_answer(OutgoingMessage message) {
  if (why_closed_) return;
  const RequestId id = ++last_id_;
  if (unawaited_.size() >= kUnawaited) unawaited_.erase(unawaited_.begin());
  unawaited_.insert(id);
  [[maybe_unused]] const auto ignored = wire_->send(spell(std::move(message), id));
}

void Dialogue::send_later(std::string message) {
  if (why_closed_) return;
  io::spawn(executor_, deliver_quietly(wire_, std::move(message)), "upstream message");
}

void Dialogue::cancel_on_wire(const OpenRequest& open) {
  if (why_closed_) return;
  wire_->abandon(open.id);
  if (is_handshake(open.method) || wire_->cancelling() != Cancelling::by_notification) return;
  tell("notifications/cancelled",
       fmt::format(R"({{"requestId":{},"reason":"nobody waits for the answer any more"}})", open.id));
}

void Dialogue::fail_request(RequestId id, Error error) {
  if (OpenRequest* open = find(id)) {
    open->on_wire = false;
    open->finish(fail(std::move(error)));
  }
}

bool Dialogue::awaits(RequestId id) const {
  const auto at = open_.find(id);
  return at != open_.end() && !at->second->outcome;
}

void Dialogue::oddity(std::string_view text) {
  if (observer_) observer_->oddity(text);
}

void Dialogue::lost(const Error& why) {
  if (why_closed_) return;
  why_closed_ = why;
  questions_.close();
  for (const auto& [id, open] : open_) {
    open->on_wire = false;
    open->finish(fail(why));
  }
  if (PeerObserver* observer = std::exchange(observer_, nullptr)) observer->closed(why);
}

void Dialogue::end(const Error& why) {
  observer_ = nullptr;
  timer_.cancel();
  lost(why);
  wire_->drop();
}

Dialogue::OpenRequest* Dialogue::find(RequestId id) {
  const auto at = open_.find(id);
  return at == open_.end() ? nullptr : at->second;
}

// One timer for all requests: it is only moved when a request is due before it fires, which hardly ever
// happens.
void Dialogue::watch(const OpenRequest& open) {
  const Time due = open.due();
  if (due >= timer_due_) return;
  timer_due_ = due;
  timer_.expires_at(due);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (self && !error) self->check_deadlines();
  });
}

void Dialogue::check_deadlines() {
  timer_due_ = Time::max();
  const Time now = Clock::now();
  for (const auto& [id, open] : open_) {
    if (open->due() <= now)
      open->finish(fail(timed_out(
          fmt::format("no answer to {} within {} ms", open->method,
                      std::chrono::duration_cast<std::chrono::milliseconds>(now - open->heard).count()))));
    else
      watch(*open);
  }
}

}  // namespace relay::peer
