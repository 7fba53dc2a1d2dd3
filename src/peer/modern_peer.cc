#include "peer/modern_peer.h"

#include <fmt/format.h>

#include "peer/client_tasks.h"
#include "peer/http_params.h"
#include "peer/modern_input.h"
#include "peer/modern_listen.h"
#include "peer/modern_speech.h"
#include "peer/peer_params.h"
#include "peer/tool_result_shape.h"

namespace relay::peer {
namespace {

struct ModernState {
  ModernState(std::shared_ptr<Dialogue> wire_dialogue, const PeerOptions& options, PeerInfo its_info)
      : dialogue(std::move(wire_dialogue)), speech(options.self), info(std::move(its_info)) {}
  std::shared_ptr<Dialogue> dialogue;
  ModernSpeech speech;
  PeerInfo info;
};
using State = std::shared_ptr<ModernState>;

OutgoingMessage utter(const State& state, std::string_view method, std::string_view params,
                      const RequestScope& exchange, const Outgoing& outgoing) {
  OutgoingMessage message = state->speech.put(method, params, exchange, outgoing.meta);
  if (state->dialogue->wire().repeats_in_headers())
    message.headers = repeated_fields(method, params, outgoing.input_schema);
  return message;
}

TaskTalk make_talk(const State& state, RequestScope& exchange) {
  TaskTalk talk;
  talk.ask = [state, &exchange](std::string method, std::string about,
                                Deadlines how_long) -> io::Task<protocol::Response> {
    const Outgoing plain;
    co_return co_await state->dialogue->roundtrip(utter(state, method, about, exchange, plain), exchange,
                                                  how_long);
  };
  talk.tell = [state, &exchange](std::string method, std::string about) {
    const Outgoing plain;
    state->dialogue->send_without_answer(utter(state, method, about, exchange, plain));
  };
  return talk;
}

// The members that the next try has besides the original ones.
io::Task<std::string> next_try(std::string_view result, RequestScope& exchange) {
  RELAY_CO_TRY(auto questions, parse_questions(result, exchange));
  const auto request_state = json::find_text(result, "requestState");
  if (questions.empty() && !request_state)
    co_return fail(unavailable("the server wants input, but says neither which nor for what"));
  RELAY_CO_TRY(std::string members, co_await ask_for_responses(std::move(questions), exchange));
  if (request_state)
    members += fmt::format(R"({}"requestState":{})", members.empty() ? "" : ",", *request_state);
  co_return members;
}

io::Task<PeerAnswer> request_answer(State state, Outgoing outgoing, RequestScope& exchange) {
  const Deadlines deadlines{.silence = outgoing.timeout, .total = limits::kUpstreamCallMax};
  std::string params = outgoing.params;
  bool tried_version = false;
  for (int round = 0; round <= limits::kUpstreamRounds; ++round) {
    OutgoingMessage message = utter(state, outgoing.method, params, exchange, outgoing);
    RELAY_CO_TRY(const protocol::Response response,
                 co_await state->dialogue->roundtrip(std::move(message), exchange, deadlines));
    if (round == 0 && !tried_version && is_passing_refusal(response)) {
      tried_version = true;
      --round;
      continue;
    }
    if (!response.outcome) co_return PeerAnswer(std::unexpected(response.outcome.error()));
    const json::object* members = response.outcome->if_object();
    const std::string_view type =
        members ? json::find_string(*members, "resultType").value_or("complete") : "complete";
    const std::string_view result = response.result_text();
    if (type == "complete" && outgoing.method != "tools/call")
      co_return PeerAnswer(protocol::JsonText::trusted(std::string(result)));
    if (type == "complete") {
      RELAY_CO_TRY(auto shaped, shape_tool_result(result, *response.outcome));
      co_return PeerAnswer(std::move(shaped));
    }
    if (type == "task") {
      auto created = protocol::JsonText::trusted(std::string(result));
      co_return co_await follow_modern_task(make_talk(state, exchange), std::move(created), exchange);
    }
    if (type != "input_required")
      co_return fail(unavailable(fmt::format("the server sent a result of unknown type '{}'", type)));
    RELAY_CO_TRY(const std::string more, co_await next_try(result, exchange));
    params = with_members(outgoing.params, more);
  }
  co_return fail(unavailable(
      fmt::format("the server asks more than {} times for input to one request", limits::kUpstreamRounds)));
}

class ModernPeer final : public Peer {
 public:
  explicit ModernPeer(State state)
      : state_(std::move(state)),
        listen_(std::make_shared<ModernListen>(state_->dialogue, state_->speech, state_->info)) {
    listen_->start();
  }
  ~ModernPeer() override {
    listen_->stop();
    state_->dialogue->end(cancelled("the connection was dropped"));
  }

  [[nodiscard]] const PeerInfo& info() const override { return state_->info; }
  [[nodiscard]] bool is_open() const override { return state_->dialogue->is_open(); }
  io::Task<PeerAnswer> request(Outgoing outgoing, RequestScope& exchange) override {
    return request_answer(state_, std::move(outgoing), exchange);
  }
  io::Task<void> watch(std::set<std::string, std::less<>> uris) override {
    return listen_->watch(std::move(uris));
  }
  io::Task<void> set_log_level(protocol::LogLevel) override { co_return Result<void>{}; }
  void roots_changed() override {}
  io::Task<void> close() override { return close_it(state_, listen_); }

 private:
  static io::Task<void> close_it(State state, std::shared_ptr<ModernListen> listen) {
    listen->stop();
    auto closed = co_await state->dialogue->wire().close();
    state->dialogue->end(cancelled("the connection was closed"));
    co_return closed;
  }

  State state_;
  std::shared_ptr<ModernListen> listen_;
};

}  // namespace

std::unique_ptr<Peer> make_modern_peer(std::shared_ptr<Dialogue> dialogue, PeerOptions options,
                                       PeerInfo info) {
  return std::make_unique<ModernPeer>(
      std::make_shared<ModernState>(std::move(dialogue), options, std::move(info)));
}

}  // namespace relay::peer
