// ServerQuestions: what a server asks over one connection while our requests are open (legacy era; a modern
// server asks inside its results, see modern_input.h).
//
// It decides whose question it is, puts it to that request's scope, and sends exactly one answer to each
// question: a result, or an error that says why there is none. A question that cannot be answered is refused
// to the server and changes nothing for the request: only the server's own answer ends that.
//
// Where nothing says which client's request a question belongs to, it waits until the requests of the other
// clients were answered. A tool that was seen asking is called for one client at a time, so that two clients
// who call it do not wait for each other.
//
// Dialogue owns it and is its QuestionChannel. Each open request has an AskedRequest in its own frame, so a
// RequestScope is never used after its request. Loop thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/event.h"
#include "io/task.h"
#include "io/waker.h"
#include "peer/request_scope.h"
#include "protocol/jsonrpc.h"

namespace relay::peer {

class AskedRequest;

/// The connection, as ServerQuestions sees it.
class QuestionChannel {
 public:
  virtual ~QuestionChannel() = default;
  /// Sends an answer without waiting.
  virtual void send_answer(std::string message) = 0;
  /// Our side has begun or ended to work on a question of this request, so its deadline has moved.
  virtual void deadline_moved(AskedRequest& request) = 0;
};

class ServerQuestions {
 public:
  ServerQuestions(io::Loop executor, QuestionChannel& channel)
      : executor_(std::move(executor)), channel_(channel), turn_(executor_) {}

  /// What identifies a request for turns: the method and what it is about. Empty: it takes no turns.
  static std::string subject_of(std::string_view method, std::string_view params);
  /// True while a request with this subject would be open beside one of another client that the server is
  /// likely to ask something for.
  [[nodiscard]] bool must_wait(const RequestScope& scope, const std::string& subject) const;
  /// Waits until it need not; fails after the deadline.
  io::Task<void> wait_for_turn(const RequestScope& scope, std::string subject,
                               std::chrono::steady_clock::time_point deadline);

  /// A question that came on the own stream of a request. Null: that request has ended.
  void take_addressed(const protocol::Request& request, AskedRequest* owner);
  /// A question on a stream that all requests share.
  void take_unaddressed(const protocol::Request& request);
  /// The server no longer wants the answer.
  void retract(const protocol::Id& id);
  /// The connection is gone: no question is passed on or answered any more.
  void close();

  /// The request that something without an address belongs to; null when no client's request is open, or
  /// those of more than one client.
  [[nodiscard]] AskedRequest* find_addressee() const;

 private:
  friend class AskedRequest;
  struct Waiting {
    protocol::Id id;
    Question question;
    bool is_guess = true;  // whose it is: it came on no request's own stream
    std::optional<protocol::RpcError> refusal =
        {};  // learned by the server together with the answers of a round
  };
  class Round;
  /// A question that requests of several clients could have raised.
  struct Unclaimed {
    Waiting asked;
    std::vector<AskedRequest*> candidates;  // that were open when it came, and still are
  };

  /// The open requests with a client behind them, by age.
  [[nodiscard]] std::vector<AskedRequest*> clients() const;
  void put(AskedRequest& request, Waiting asked);
  void hold(Waiting asked, std::vector<AskedRequest*> candidates);
  /// True when every client that could have asked may wait for one of the held questions.
  [[nodiscard]] bool is_stalled(const Unclaimed& newest) const;
  void refuse_unclaimed();
  void request_ended(const AskedRequest& request, bool was_answered);
  /// Nothing when the question found its request or was refused.
  [[nodiscard]] std::optional<Unclaimed> claim(Unclaimed held, const AskedRequest& ended, bool was_answered);
  void learn(const std::string& subject);
  void assign(Waiting asked);
  /// The request that they were put to has ended before anybody was asked.
  void put_back(std::deque<Waiting> questions);
  void refuse(const protocol::Id& id, const protocol::RpcError& error);
  /// The answer when no client stands behind a question.
  void answer_for_nobody(const Waiting& asked, std::string_view why);
  /// A request ended: what others are asked may have been its own question.
  void reconsider();

  io::Loop executor_;
  QuestionChannel& channel_;
  std::vector<AskedRequest*> requests_;  // open ones, by age
  std::size_t rounds_ = 0;               // of all of them
  std::vector<Unclaimed> unclaimed_;
  std::set<std::string, std::less<>> asking_;  // subjects that made the server ask
  io::Event turn_;
  bool is_closed_ = false;
};

/// A request of ours as the server's questions see it. Lives in the frame of the request, which waits for
/// news and calls tend() when a question waits.
class AskedRequest {
 public:
  /// Both must outlive it.
  AskedRequest(ServerQuestions& questions, RequestScope& scope, std::string subject = {});
  ~AskedRequest();
  AskedRequest(const AskedRequest&) = delete;
  AskedRequest& operator=(const AskedRequest&) = delete;

  [[nodiscard]] RequestScope& scope() const { return scope_; }
  [[nodiscard]] bool has_waiting() const { return !waiting_.empty(); }
  /// Our side works on an answer.
  [[nodiscard]] bool is_being_asked() const { return !rounds_.empty(); }
  enum class Ending : std::uint8_t { answered, given_up };
  /// The request has its outcome; from here on nothing is asked for it.
  void end(Ending how);
  /// Woken by every question and by end().
  [[nodiscard]] io::Waker& news() { return news_; }
  /// Asks what waits, and what comes while others are open. Returns when the request has ended.
  io::Task<void> tend() { return tend_beside(nullptr); }

 private:
  friend class ServerQuestions;
  using Round = ServerQuestions::Round;

  io::Task<void> tend_beside(const Round* beside);
  io::Task<void> answer(Round& round);
  io::Task<void> let_round_fill();
  io::Task<void> ending();
  io::Task<void> wait_for_other_answers(Round& round);

  ServerQuestions& questions_;
  RequestScope& scope_;
  std::string subject_;
  std::deque<ServerQuestions::Waiting> waiting_;  // that nobody was asked yet
  std::vector<Round*> rounds_;                    // what our side works on
  bool has_ended_ = false;
  io::Waker news_;
};

}  // namespace relay::peer
