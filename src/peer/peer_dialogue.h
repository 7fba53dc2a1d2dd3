// Dialogue: requests and answers over one wire, in either era.
//
// It numbers our requests, waits for their answers, hands progress and logs of the server to the exchange
// they belong to, and watches the deadlines with one timer for all. What the server asks meanwhile is the
// business of ServerQuestions; what is said (handshake, envelopes, rounds) that of LegacyPeer and ModernPeer
// above it.
//
// A request lives in the frame of roundtrip(): when that frame goes, for whatever reason, the request is
// closed and, if it was not answered, the server is told. Questions are asked inside the same frame.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <boost/asio/steady_timer.hpp>

#include "io/spawn.h"
#include "peer/peer.h"
#include "peer/peer_wire.h"
#include "peer/request_scope.h"
#include "peer/server_questions.h"
#include "protocol/jsonrpc.h"

namespace relay::peer {

/// How long to wait: `silence` without progress, `total` whatever happens. Zero: for ever.
struct Deadlines {
  std::chrono::milliseconds silence = limits::kUpstreamCall;
  std::chrono::milliseconds total = limits::kUpstreamCallMax;
};

/// What to say, before it has an id. The views must hold until it is sent.
struct OutgoingMessage {
  std::string_view method;
  std::string_view params;  // an object's text, without _meta
  std::string meta = {};    // the members of _meta, without braces
  bool wants_progress = false;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

class Dialogue final : public WireListener,
                       private QuestionChannel,
                       public std::enable_shared_from_this<Dialogue> {
 public:
  static std::shared_ptr<Dialogue> make(io::Loop executor, std::shared_ptr<Wire> wire,
                                        PeerObserver& observer);
  Dialogue(io::Loop executor, std::shared_ptr<Wire> wire, PeerObserver& observer);

  /// One request, one answer: a result or the server's own error.
  io::Task<protocol::Response> roundtrip(OutgoingMessage message, RequestScope& exchange,
                                         Deadlines deadlines);
  /// The same for subscriptions/listen: answered when the stream ends; `acknowledged` is called when it
  /// begins.
  io::Task<protocol::Response> listen(OutgoingMessage message,
                                      std::function<void(const json::object&)> acknowledged);
  /// Without an answer, and without waiting: notifications.
  void tell(std::string_view method, std::string_view params);
  /// A request whose answer nobody waits for: tasks/cancel.
  void send_without_answer(OutgoingMessage message);

  [[nodiscard]] bool is_open() const { return !why_closed_; }
  [[nodiscard]] Wire& wire() { return *wire_; }
  [[nodiscard]] const io::Loop& executor() const { return executor_; }
  [[nodiscard]] PeerObserver* observer() const { return observer_; }
  /// Open requests fail. After this the observer hears nothing.
  void end(const Error& why);

  // WireListener
  void take(std::string text, std::optional<RequestId> stream_of) override;
  void fail_request(RequestId id, Error error) override;
  [[nodiscard]] bool awaits(RequestId id) const override;
  void oddity(std::string_view text) override;
  void lost(const Error& why) override;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct OpenRequest {
    OpenRequest(Dialogue& owner, std::string name, RequestScope& who, Deadlines how_long,
                std::string subject);
    ~OpenRequest();
    OpenRequest(const OpenRequest&) = delete;
    OpenRequest& operator=(const OpenRequest&) = delete;

    void finish(Result<protocol::Response> how);
    [[nodiscard]] Time due() const;

    Dialogue& dialogue;
    RequestId id;
    std::string method;
    AskedRequest asked;
    Deadlines deadlines;
    Time began, heard;
    std::optional<Result<protocol::Response>> outcome;
    bool on_wire = false;  // sent, and neither answered nor given up by the wire
    std::optional<double> progress;
    std::function<void(const json::object&)> acknowledged;
  };
  io::Task<protocol::Response> converse(OutgoingMessage message, OpenRequest& open);
  void send_later(std::string message);
  // QuestionChannel
  void send_answer(std::string message) override { send_later(std::move(message)); }
  void deadline_moved(AskedRequest& asked) override;
  void cancel_on_wire(const OpenRequest& open);
  static WireRequest spell(OutgoingMessage message, RequestId id);

  void take_message(protocol::Message message, std::optional<RequestId> stream_of);
  void take_answer(protocol::Response response, std::optional<RequestId> stream_of);
  void take_malformed(const std::string& text, std::optional<RequestId> stream_of,
                      const protocol::MalformedMessage& refusal);
  void take_request(const protocol::Request& request, std::optional<RequestId> stream_of);
  void take_notification(const protocol::Notification& notification, std::optional<RequestId> stream_of);
  void take_progress(const json::object& params);
  void take_log(const json::object& params, std::optional<RequestId> stream_of);
  void take_acknowledgement(const json::object& params, std::optional<RequestId> stream_of);
  void take_cancellation(const json::object& params);

  OpenRequest* find(RequestId id);
  /// Whose exchange something belongs to: the request of its stream, or the only client's. Null: nobody can
  /// say.
  AskedRequest* find_addressee(std::optional<RequestId> stream_of);

  void watch(const OpenRequest& open);
  void check_deadlines();

  io::Loop executor_;
  std::shared_ptr<Wire> wire_;
  PeerObserver* observer_;
  ServerQuestions questions_;
  std::map<RequestId, OpenRequest*> open_;  // by age
  RequestId last_id_ = 0;
  std::set<RequestId> unawaited_;  // requests whose answers nobody waits for
  std::optional<Error> why_closed_;
  io::asio::steady_timer timer_;
  Time timer_due_ = Time::max();
};

}  // namespace relay::peer
