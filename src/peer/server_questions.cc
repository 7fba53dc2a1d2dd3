#include "peer/server_questions.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/json.h"
#include "base/limits.h"
#include "io/spawn.h"
#include "peer/peer_params.h"
#include "peer/peer_questions.h"

namespace relay::peer {
namespace {

// A server writes what it asks at once line by line, and may be held up between two lines: a round is whole
// when it was silent for a moment.
constexpr auto kRoundPause = std::chrono::milliseconds(50);
constexpr auto kRoundLimit = std::chrono::milliseconds(500);

using Clock = std::chrono::steady_clock;

constexpr std::string_view kEnded = "the request that this belongs to has ended";
constexpr std::string_view kNoRequest = "no request is open that this could belong to";
constexpr std::string_view kSeveral =
    "requests of several clients are open, and nothing says which one this belongs to";

bool is_of_one_client(const AskedRequest& one, const AskedRequest& other) {
  return one.scope().session() == other.scope().session() &&
         one.scope().principal() == other.scope().principal();
}

template <class Who>
bool differ(const std::vector<AskedRequest*>& requests, Who who) {
  return std::ranges::any_of(requests, [&](const AskedRequest* one) {
    return (one->scope().*who)() != (requests.front()->scope().*who)();
  });
}

}  // namespace

/// Questions that were put to our side together, until they are answered or no longer matter. A modern client
/// is asked in rounds: what the server asks at once belongs into one. Others are asked for each thing by
/// itself.
class ServerQuestions::Round {
 public:
  explicit Round(AskedRequest& request) : request_(request), interrupted_(request.questions_.executor_) {
    const std::size_t count = request.scope_.asks_in_rounds() ? request.waiting_.size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
      Waiting asked = std::move(request.waiting_.front());
      request.waiting_.pop_front();
      is_guess_ = is_guess_ || asked.is_guess;
      if (asked.refusal) {
        refused_.emplace_back(std::move(asked.id), *std::move(asked.refusal));
        continue;
      }
      ids_.emplace_back(std::move(asked.id));
      questions_.push_back(std::move(asked.question));
    }
    request.rounds_.push_back(this);
    ++request.questions_.rounds_;
  }
  /// The server gets an answer to everything it still wants to know.
  ~Round() {
    leave();
    for (const auto& id : ids_)
      if (id) owner().refuse(*id, {protocol::code::kInvalidRequest, std::string(kEnded), {}});
    send_refusals();
    --owner().rounds_;
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  /// What is to be asked. Once.
  std::vector<Question> take_questions() { return std::move(questions_); }
  [[nodiscard]] bool asks() const { return !ids_.empty(); }
  [[nodiscard]] bool is_over() const { return is_over_; }
  void send_answers(const Result<std::vector<protocol::JsonText>>& answers);
  void send_refusals() {
    for (const auto& [id, refusal] : std::exchange(refused_, {})) owner().refuse(id, refusal);
  }
  void retract(const protocol::Id& id) {
    for (auto& wanted : ids_)
      if (wanted == id) wanted.reset();
    std::erase_if(refused_, [&](const auto& one) { return one.first == id; });
    interrupted_.wake();
  }
  void interrupt() { interrupted_.wake(); }
  /// Ends when the answers no longer matter.
  io::Task<void> interruption() {
    while (matters()) co_await interrupted_.wait();
    co_return Result<void>{};
  }
  /// Waits for the next reason to look again.
  io::Task<void> change() {
    co_await interrupted_.wait();
    co_return Result<void>{};
  }
  void finish() {
    is_over_ = true;
    leave();
  }

 private:
  [[nodiscard]] ServerQuestions& owner() const { return request_.questions_; }
  [[nodiscard]] bool matters() const;
  void leave() {
    if (std::erase(request_.rounds_, this) == 0) return;
    for (Round* other : request_.rounds_) other->interrupt();
  }

  AskedRequest& request_;
  std::vector<std::optional<protocol::Id>> ids_;  // nothing: answered, or no longer wanted
  std::vector<Question> questions_;
  std::vector<std::pair<protocol::Id, protocol::RpcError>> refused_;
  bool is_guess_ = false;
  bool is_over_ = false;
  io::Waker interrupted_;
};

void ServerQuestions::Round::send_answers(const Result<std::vector<protocol::JsonText>>& answers) {
  const bool fits = answers && answers->size() == ids_.size();
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const auto id = std::exchange(ids_[i], std::nullopt);
    if (!id) continue;
    if (fits) {
      owner().channel_.send_answer(protocol::write_result(*id, (*answers)[i].text()));
    } else {
      const Error error = answers ? internal("each question needs one answer") : answers.error();
      owner().refuse(*id, protocol::to_rpc_error(error));
    }
  }
}

// A request that was answered asks nothing any more. But where it was a guess that the question is its own,
// another open request of the same client may be the one that waits for the answer.
bool ServerQuestions::Round::matters() const {
  if (std::ranges::none_of(ids_, [](const auto& id) { return id.has_value(); })) return false;
  if (!request_.has_ended_) return true;
  const auto could_be_its = [&](const AskedRequest* other) {
    return !other->has_ended_ && is_of_one_client(*other, request_);
  };
  return is_guess_ && !owner().is_closed_ && std::ranges::any_of(owner().requests_, could_be_its);
}

void ServerQuestions::take_addressed(const protocol::Request& request, AskedRequest* owner) {
  Waiting asked{request.id, {}, false};
  asked.question.method = request.method;
  asked.question.params = protocol::JsonText::trusted(std::string(request.params_text()));
  if (!owner || owner->has_ended_) return answer_for_nobody(asked, kEnded);
  if (owner->scope_.session().empty()) return answer_for_nobody(asked, kNoRequest);
  put(*owner, std::move(asked));
}

void ServerQuestions::take_unaddressed(const protocol::Request& request) {
  Waiting asked{request.id, {}, true};
  asked.question.method = request.method;
  asked.question.params = protocol::JsonText::trusted(std::string(request.params_text()));
  assign(std::move(asked));
}

void ServerQuestions::assign(Waiting asked) {
  std::vector<AskedRequest*> open = clients();
  if (open.empty()) return answer_for_nobody(asked, kNoRequest);
  // Servers ask for roots when they like, which says nothing about the request that is open.
  if (open.size() == 1 && asked.question.method != "roots/list") learn(open.front()->subject_);
  if (AskedRequest* request = find_addressee()) return put(*request, std::move(asked));
  hold(std::move(asked), std::move(open));
}

void ServerQuestions::hold(Waiting asked, std::vector<AskedRequest*> candidates) {
  std::optional<protocol::RpcError> refusal;
  const auto can_answer = [&](const AskedRequest* one) {
    refusal = find_refusal(asked.question, one->scope_.client());
    return !refusal;
  };
  if (std::ranges::none_of(candidates, can_answer)) return refuse(asked.id, *refusal);
  if (unclaimed_.size() >= limits::kUpstreamQuestions)
    return refuse(asked.id, protocol::to_rpc_error(busy("too many questions are open already")));
  unclaimed_.push_back({std::move(asked), std::move(candidates)});
  if (is_stalled(unclaimed_.back())) refuse_unclaimed();
}

bool ServerQuestions::is_stalled(const Unclaimed& newest) const {
  std::set<std::pair<std::string_view, std::string_view>> all, known_to_ask;
  for (const AskedRequest* one : newest.candidates) {
    const std::pair client(one->scope_.session(), one->scope_.principal());
    all.insert(client);
    if (asking_.contains(one->subject_)) known_to_ask.insert(client);
  }
  return known_to_ask.size() != 1 && unclaimed_.size() >= all.size();
}

// Where all of them are about the same thing, it is clear what made the server ask: the next ones take turns.
void ServerQuestions::refuse_unclaimed() {
  for (const Unclaimed& held : std::exchange(unclaimed_, {})) {
    const std::string& subject = held.candidates.front()->subject_;
    const auto is_same = [&](const AskedRequest* one) { return one->subject_ == subject; };
    if (std::ranges::all_of(held.candidates, is_same)) learn(subject);
    refuse(held.asked.id, {protocol::code::kInvalidRequest, std::string(kSeveral), {}});
  }
}

void ServerQuestions::request_ended(const AskedRequest& request, bool was_answered) {
  turn_.set();
  reconsider();
  for (Unclaimed& held : std::exchange(unclaimed_, {}))
    if (auto still = claim(std::move(held), request, was_answered)) unclaimed_.push_back(*std::move(still));
}

// A request that was answered raised no question that is still open. One that was given up may have.
std::optional<ServerQuestions::Unclaimed> ServerQuestions::claim(Unclaimed held, const AskedRequest& ended,
                                                                 bool was_answered) {
  if (std::erase(held.candidates, &ended) == 0) return held;
  if (!was_answered || held.candidates.empty()) {
    answer_for_nobody(held.asked, was_answered ? kEnded : kSeveral);
    return std::nullopt;
  }
  const auto is_same = [&](const AskedRequest* one) {
    return is_of_one_client(*one, *held.candidates.front());
  };
  if (!std::ranges::all_of(held.candidates, is_same)) return held;
  AskedRequest& claimant = *held.candidates.back();
  if (held.candidates.size() == 1) learn(claimant.subject_);
  put(claimant, std::move(held.asked));
  return std::nullopt;
}

void ServerQuestions::learn(const std::string& subject) {
  if (!subject.empty() && asking_.size() < limits::kUpstreamAskingTools) asking_.insert(subject);
}

std::string ServerQuestions::subject_of(std::string_view method, std::string_view params) {
  if (!may_progress(method)) return {};
  const auto about = json::find_text(params, method == "resources/read" ? "uri" : "name");
  return about ? std::string(method) + ' ' + std::string(*about) : std::string();
}

bool ServerQuestions::must_wait(const RequestScope& scope, const std::string& subject) const {
  if (is_closed_ || scope.session().empty() || !asking_.contains(subject)) return false;
  return std::ranges::any_of(requests_, [&](const AskedRequest* one) {
    const RequestScope& other = one->scope_;
    return !one->has_ended_ && asking_.contains(one->subject_) && !other.session().empty() &&
           (other.session() != scope.session() || other.principal() != scope.principal());
  });
}

io::Task<void> ServerQuestions::wait_for_turn(const RequestScope& scope, std::string subject,
                                              std::chrono::steady_clock::time_point deadline) {
  while (must_wait(scope, subject)) {
    turn_.clear();
    RELAY_CO_TRY(const bool came, co_await turn_.wait_until(deadline));
    if (!came) co_return fail(timed_out("the server is busy with a question to another client"));
  }
  co_return Result<void>{};
}

void ServerQuestions::close() {
  is_closed_ = true;
  unclaimed_.clear();
  turn_.set();
}

// Servers ask for the roots as soon as they are connected, when no client has asked for anything: there are
// none then, which is no error.
void ServerQuestions::answer_for_nobody(const Waiting& asked, std::string_view why) {
  if (is_closed_) return;
  if (asked.question.method == "roots/list")
    return channel_.send_answer(protocol::write_result(asked.id, R"({"roots":[]})"));
  refuse(asked.id, {protocol::code::kInvalidRequest, std::string(why), {}});
}

void ServerQuestions::refuse(const protocol::Id& id, const protocol::RpcError& error) {
  if (!is_closed_) channel_.send_answer(protocol::write_error(id, error));
}

void ServerQuestions::put(AskedRequest& request, Waiting asked) {
  if (request.waiting_.size() + request.rounds_.size() >= limits::kUpstreamQuestions)
    return refuse(asked.id, protocol::to_rpc_error(busy("too many questions are open already")));
  // A server that hears of a refusal may give up at once, and what it asked beside it would be lost: a round
  // is answered as a whole.
  asked.refusal = find_refusal(asked.question, request.scope_.client());
  const bool is_its_own = !asked.is_guess || asked.question.method != "roots/list";
  if (asked.refusal && is_its_own) request.scope_.cannot_answer(asked.question);
  if (asked.refusal && !request.scope_.asks_in_rounds()) return refuse(asked.id, *asked.refusal);
  request.waiting_.push_back(std::move(asked));
  request.news_.wake();
}

void ServerQuestions::put_back(std::deque<Waiting> questions) {
  for (Waiting& asked : questions) {
    if (is_closed_) return;
    if (asked.is_guess)
      assign(std::move(asked));
    else
      answer_for_nobody(asked, kEnded);
  }
}

void ServerQuestions::retract(const protocol::Id& id) {
  std::erase_if(unclaimed_, [&](const Unclaimed& held) { return held.asked.id == id; });
  for (AskedRequest* request : requests_) {
    std::erase_if(request->waiting_, [&](const Waiting& asked) { return asked.id == id; });
    for (Round* round : request->rounds_) round->retract(id);
  }
}

void ServerQuestions::reconsider() {
  if (rounds_ == 0) return;
  for (AskedRequest* request : requests_)
    for (Round* round : request->rounds_) round->interrupt();
}

// Requests of ours that no client stands behind (lists, probes) do not count.
std::vector<AskedRequest*> ServerQuestions::clients() const {
  std::vector<AskedRequest*> found;
  for (AskedRequest* request : requests_)
    if (!request->has_ended_ && !request->scope_.session().empty()) found.push_back(request);
  return found;
}

// Nothing on the wire says which request a question belongs to, unless it came on that request's own stream.
// A request that waits for an answer already is passed over: a call of a stateless client may wait for a long
// time.
AskedRequest* ServerQuestions::find_addressee() const {
  const std::vector<AskedRequest*> open = clients();
  if (open.empty() || differ(open, &RequestScope::principal)) return nullptr;
  std::vector<AskedRequest*> idle = open;
  std::erase_if(idle, [](const AskedRequest* request) { return request->is_being_asked(); });
  const std::vector<AskedRequest*>& candidates = idle.empty() ? open : idle;
  return differ(candidates, &RequestScope::session) ? nullptr : candidates.back();
}

AskedRequest::AskedRequest(ServerQuestions& questions, RequestScope& scope, std::string subject)
    : questions_(questions), scope_(scope), subject_(std::move(subject)), news_(questions.executor_) {
  questions_.requests_.push_back(this);
}

AskedRequest::~AskedRequest() {
  end(Ending::given_up);
  std::erase(questions_.requests_, this);
}

void AskedRequest::end(Ending how) {
  if (std::exchange(has_ended_, true)) return;
  news_.wake();
  questions_.request_ended(*this, how == Ending::answered);
  if (!waiting_.empty()) questions_.put_back(std::exchange(waiting_, {}));
}

// Asks, and meanwhile sees to what else is asked: until the request has ended or what is asked `beside` is
// over.
io::Task<void> AskedRequest::tend_beside(const Round* beside) {
  while (!has_ended_ && !(beside && beside->is_over())) {
    if (waiting_.empty()) {
      co_await news_.wait();
      continue;
    }
    if (scope_.asks_in_rounds()) RELAY_CO_CHECK(co_await let_round_fill());
    if (has_ended_ || waiting_.empty()) continue;
    Round round(*this);
    questions_.channel_.deadline_moved(*this);
    RELAY_CO_CHECK(co_await io::both(answer(round), tend_beside(&round)));
  }
  co_return Result<void>{};
}

io::Task<void> AskedRequest::answer(Round& round) {
  if (round.asks()) {
    std::optional<Result<std::vector<protocol::JsonText>>> answers;
    auto ask = io::store_result(scope_.ask(round.take_questions()), answers);
    if (co_await io::race(std::move(ask), round.interruption()) == io::Winner::first)
      round.send_answers(*answers);
  } else {
    RELAY_CO_CHECK(co_await wait_for_other_answers(round));
  }
  round.send_refusals();
  round.finish();
  questions_.channel_.deadline_moved(*this);
  news_.wake();
  co_return Result<void>{};
}

io::Task<void> AskedRequest::let_round_fill() {
  const auto limit = Clock::now() + kRoundLimit;
  for (std::size_t seen = 0; !has_ended_ && waiting_.size() > seen && Clock::now() < limit;) {
    seen = waiting_.size();
    co_await io::race(io::sleep_for(kRoundPause), ending());
    RELAY_CO_CHECK(co_await io::yield());  // what came while this process itself was held up
  }
  co_return Result<void>{};
}

io::Task<void> AskedRequest::ending() {
  while (!has_ended_) co_await news_.wait();
  co_return Result<void>{};
}

// A server that hears of a refusal may give up, and with it what it asked beside.
io::Task<void> AskedRequest::wait_for_other_answers(Round& round) {
  const auto is_other = [&](const Round* one) { return one != &round && one->asks(); };
  while (!has_ended_ && std::ranges::any_of(rounds_, is_other)) RELAY_CO_CHECK(co_await round.change());
  co_return Result<void>{};
}

}  // namespace relay::peer
