#include "peer/peer_dialogue.h"

#include <algorithm>

#include <fmt/format.h>

#include "peer/peer_params.h"
#include "peer/peer_questions.h"

namespace relay::peer {
namespace {

// A server writes what it asks at once line by line, and may be held up between two lines: a round is whole
// when it was silent for a moment.
constexpr auto kRoundPause = std::chrono::milliseconds(50);
constexpr auto kRoundLimit = std::chrono::milliseconds(500);
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

Dialogue::OpenRequest::OpenRequest(Dialogue& owner, std::string name, RequestScope& who, Deadlines how_long)
    : dialogue(owner),
      id(++owner.last_id_),
      method(std::move(name)),
      exchange(who),
      deadlines(how_long),
      began(Clock::now()),
      heard(began),
      news(owner.executor_) {
  owner.open_.emplace_hint(owner.open_.end(), id, this);
}

Dialogue::OpenRequest::~OpenRequest() {
  dialogue.open_.erase(id);
  dialogue.reconsider_askings();
  if (on_wire) dialogue.cancel_on_wire(*this);
}

void Dialogue::OpenRequest::finish(Result<protocol::Response> how) {
  if (outcome) return;
  outcome = std::move(how);
  news.wake();
  dialogue.reconsider_askings();
  if (!questions.empty()) dialogue.reassign(std::exchange(questions, {}));
}

// A person who is asked something may take the whole time there is.
Dialogue::Time Dialogue::OpenRequest::due() const {
  const Time last = later(began, deadlines.total);
  return !askings.empty() ? last : std::min(last, later(heard, deadlines.silence));
}

std::shared_ptr<Dialogue> Dialogue::make(io::Loop executor, std::shared_ptr<Wire> wire,
                                         PeerObserver& observer) {
  auto dialogue = std::make_shared<Dialogue>(std::move(executor), std::move(wire), observer);
  dialogue->wire_->listen(dialogue);
  return dialogue;
}

Dialogue::Dialogue(io::Loop executor, std::shared_ptr<Wire> wire, PeerObserver& observer)
    : executor_(std::move(executor)), wire_(std::move(wire)), observer_(&observer), timer_(executor_) {}

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
  OpenRequest open(*this, std::string(message.method), exchange, deadlines);
  co_return co_await converse(std::move(message), open);
}

io::Task<protocol::Response> Dialogue::listen(OutgoingMessage message,
                                              std::function<void(const json::object&)> acknowledged) {
  const auto keep = shared_from_this();
  SilentScope nobody;
  OpenRequest open(*this, std::string(message.method), nobody, Deadlines{.silence = {}, .total = {}});
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
    if (open.questions.empty())
      co_await open.news.wait();
    else
      RELAY_CO_CHECK(co_await tend_questions(open, nullptr));
  }
  co_return *std::move(open.outcome);
}

// A modern client is asked in rounds: what the server asks at once belongs into one. Others are asked for
// each thing by itself.
Dialogue::Asking::Asking(OpenRequest& open) : request(open), interrupted(open.dialogue.executor_) {
  const std::size_t count = open.exchange.asks_in_rounds() ? open.questions.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    ServerQuestion asked = std::move(open.questions.front());
    open.questions.pop_front();
    is_guess = is_guess || asked.is_guess;
    if (asked.refusal) {
      refused.emplace_back(std::move(asked.id), *std::move(asked.refusal));
      continue;
    }
    ids.emplace_back(std::move(asked.id));
    questions.push_back(std::move(asked.question));
  }
  open.askings.push_back(this);
  ++open.dialogue.askings_;
}

Dialogue::Asking::~Asking() {
  std::erase(request.askings, this);
  --request.dialogue.askings_;
}

// Asks, and meanwhile sees to what else is asked: until the request is answered or what is asked `beside` is
// over.
io::Task<void> Dialogue::tend_questions(OpenRequest& open, const Asking* beside) {
  const auto is_done = [&] { return open.outcome || (beside && beside->is_over); };
  while (!is_done()) {
    if (open.questions.empty()) {
      co_await open.news.wait();
      continue;
    }
    if (open.exchange.asks_in_rounds()) RELAY_CO_CHECK(co_await let_round_fill(open));
    if (open.outcome || open.questions.empty()) continue;
    Asking asking(open);
    watch(open);
    RELAY_CO_CHECK(co_await io::both(answer_questions(asking), tend_questions(open, &asking)));
  }
  co_return Result<void>{};
}

io::Task<void> Dialogue::answer_questions(Asking& asking) {
  OpenRequest& open = asking.request;
  if (!asking.questions.empty()) {
    std::optional<Result<std::vector<protocol::JsonText>>> answers;
    auto ask = io::store_result(open.exchange.ask(std::move(asking.questions)), answers);
    if (co_await io::race(std::move(ask), interruption(asking)) == io::Winner::first)
      send_answers(asking, *answers);
  } else {
    RELAY_CO_CHECK(co_await wait_for_other_answers(asking));
  }
  for (const auto& [id, refusal] : asking.refused) send_later(protocol::write_error(id, refusal));
  asking.is_over = true;
  std::erase(open.askings, &asking);
  open.heard = Clock::now();
  watch(open);
  open.news.wake();
  co_return Result<void>{};
}

io::Task<void> Dialogue::let_round_fill(const OpenRequest& open) {
  const Time limit = Clock::now() + kRoundLimit;
  for (std::size_t seen = 0; !open.outcome && open.questions.size() > seen && Clock::now() < limit;) {
    seen = open.questions.size();
    RELAY_CO_CHECK(co_await io::sleep_for(kRoundPause));
    RELAY_CO_CHECK(co_await io::yield());  // what came while this process itself was held up
  }
  co_return Result<void>{};
}

// A server that hears of a refusal may give up, and with it what it asked beside.
io::Task<void> Dialogue::wait_for_other_answers(const Asking& asking) {
  const OpenRequest& open = asking.request;
  const auto is_other = [&](const Asking* one) { return one != &asking && !one->ids.empty(); };
  while (!open.outcome && std::ranges::any_of(open.askings, is_other))
    RELAY_CO_CHECK(co_await io::sleep_for(kRoundPause));
  co_return Result<void>{};
}

void Dialogue::send_answers(const Asking& asking, const Result<std::vector<protocol::JsonText>>& answers) {
  const bool fits = answers && answers->size() == asking.ids.size();
  for (std::size_t i = 0; i < asking.ids.size(); ++i) {
    if (!asking.ids[i]) continue;
    if (fits) {
      send_later(protocol::write_result(*asking.ids[i], (*answers)[i].text()));
    } else {
      const Error error = answers ? internal("each question needs one answer") : answers.error();
      send_later(protocol::write_error(*asking.ids[i], protocol::to_rpc_error(error)));
    }
  }
}

// Ends when the answers no longer matter.
io::Task<void> Dialogue::interruption(Asking& asking) {
  while (matters(asking)) co_await asking.interrupted.wait();
  co_return Result<void>{};
}

// A request that was answered asks nothing any more. But where it was a guess that the question is its own,
// another open request of the same client may be the one that waits for the answer.
bool Dialogue::matters(const Asking& asking) const {
  if (std::ranges::none_of(asking.ids, [](const auto& id) { return id.has_value(); })) return false;
  const OpenRequest& asked = asking.request;
  if (!asked.outcome) return true;
  const auto could_be_its = [&](const auto& entry) {
    const OpenRequest& other = *entry.second;
    return !other.outcome && other.exchange.session() == asked.exchange.session() &&
           other.exchange.principal() == asked.exchange.principal();
  };
  return asking.is_guess && !why_closed_ && std::ranges::any_of(open_, could_be_its);
}

void Dialogue::reconsider_askings() {
  if (askings_ == 0) return;
  for (const auto& [id, open] : open_)
    for (Asking* asking : open->askings) asking->interrupted.wake();
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
