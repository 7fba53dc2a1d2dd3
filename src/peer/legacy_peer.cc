#include "peer/legacy_peer.h"

#include "peer/client_tasks.h"
#include "peer/legacy_session.h"
#include "peer/peer_params.h"
#include "peer/peer_questions.h"
#include "peer/tool_result_shape.h"

namespace relay::peer {
namespace {

OutgoingMessage utter(const Outgoing& outgoing, std::string_view params) {
  OutgoingMessage message{
      .method = outgoing.method, .params = params, .wants_progress = may_progress(outgoing.method)};
  if (!outgoing.meta.empty()) message.meta = members_of(json::write(outgoing.meta));
  return message;
}

PeerAnswer to_answer(const protocol::Response& response) {
  if (!response.outcome) return std::unexpected(response.outcome.error());
  return protocol::JsonText::trusted(std::string(response.result_text()));
}

Result<PeerAnswer> to_checked_answer(std::string_view method, const protocol::Response& response) {
  if (!response.outcome || method != "tools/call") return to_answer(response);
  RELAY_TRY(auto shaped, shape_tool_result(response.result_text(), *response.outcome));
  return PeerAnswer(std::move(shaped));
}

// -32042 of 2025-11-25 names pages that the user has to visit first.
std::vector<Question> find_pages(const PeerAnswer& answer) {
  std::vector<Question> pages;
  if (answer || answer.error().code != protocol::code::kUrlElicitationRequired || !answer.error().data)
    return pages;
  const json::object* data = answer.error().data->if_object();
  const json::array* listed = data ? json::find_array(*data, "elicitations") : nullptr;
  if (!listed || listed->size() > limits::kUpstreamQuestions) return pages;
  for (const json::value& page : *listed)
    pages.push_back({.key = {}, .method = "elicitation/create", .params = protocol::JsonText::from(page)});
  return pages;
}

bool all_accepted(const std::vector<protocol::JsonText>& answers) {
  for (const protocol::JsonText& answer : answers) {
    const json::object* members = answer.value().if_object();
    if (!members || json::find_string(*members, "action") != "accept") return false;
  }
  return true;
}

class LegacyPeer final : public Peer {
 public:
  explicit LegacyPeer(std::shared_ptr<LegacySession> session) : session_(std::move(session)) {}
  ~LegacyPeer() override { session_->dialogue().end(cancelled("the connection was dropped")); }

  [[nodiscard]] const PeerInfo& info() const override { return session_->info(); }
  [[nodiscard]] bool is_open() const override { return session_->dialogue().is_open(); }
  io::Task<PeerAnswer> request(Outgoing outgoing, RequestScope& exchange) override {
    return outgoing.as_task ? request_task(session_, std::move(outgoing), exchange)
                            : request_answer(session_, std::move(outgoing), exchange);
  }
  io::Task<void> watch(std::set<std::string, std::less<>> uris) override {
    return session_->watch(std::move(uris));
  }
  io::Task<void> set_log_level(protocol::LogLevel level) override { return session_->set_log_level(level); }
  void roots_changed() override { session_->dialogue().tell("notifications/roots/list_changed", {}); }
  io::Task<void> close() override {
    const auto session = session_;
    auto closed = co_await session->dialogue().wire().close();
    session->dialogue().end(cancelled("the connection was closed"));
    co_return closed;
  }

 private:
  // Static: a coroutine of the peer must not depend on the peer, which may go first.
  static io::Task<PeerAnswer> request_answer(std::shared_ptr<LegacySession> session, Outgoing outgoing,
                                             RequestScope& exchange) {
    const Deadlines deadlines{.silence = outgoing.timeout, .total = limits::kUpstreamCallMax};
    for (int attempt = 0;; ++attempt) {
      RELAY_CO_TRY(
          const protocol::Response response,
          co_await session->dialogue().roundtrip(utter(outgoing, outgoing.params), exchange, deadlines));
      RELAY_CO_TRY(PeerAnswer answer, to_checked_answer(outgoing.method, response));
      std::vector<Question> pages = find_pages(answer);
      if (pages.empty() || attempt > 0 || !exchange.client().elicitation_url) co_return answer;
      RELAY_CO_TRY(const auto visited, co_await exchange.ask(std::move(pages)));
      if (!all_accepted(visited)) co_return answer;
    }
  }

  static io::Task<PeerAnswer> request_task(std::shared_ptr<LegacySession> session, Outgoing outgoing,
                                           RequestScope& exchange) {
    const Deadlines deadlines{.silence = outgoing.timeout, .total = limits::kUpstreamCallMax};
    const std::string params = with_members(outgoing.params, legacy_task_member());
    RELAY_CO_TRY(const protocol::Response response,
                 co_await session->dialogue().roundtrip(utter(outgoing, params), exchange, deadlines));
    PeerAnswer answer = to_answer(response);
    if (!answer) co_return answer;
    TaskTalk talk;
    talk.ask = [session, &exchange](std::string method, std::string about,
                                    Deadlines how_long) -> io::Task<protocol::Response> {
      const OutgoingMessage message{.method = method, .params = about};
      co_return co_await session->dialogue().roundtrip(message, exchange, how_long);
    };
    talk.tell = [session](std::string method, std::string about) {
      session->dialogue().send_without_answer({.method = method, .params = about});
    };
    co_return co_await follow_legacy_task(std::move(talk), *std::move(answer), exchange);
  }

  std::shared_ptr<LegacySession> session_;
};

}  // namespace

io::Task<std::unique_ptr<Peer>> open_legacy_peer(std::shared_ptr<Dialogue> dialogue, PeerOptions options) {
  auto session = std::make_shared<LegacySession>(dialogue, std::move(options));
  dialogue->wire().renew_with([weak = std::weak_ptr(session)]() -> io::Task<void> {
    const auto known = weak.lock();
    if (!known) co_return fail(cancelled());
    co_return co_await known->renew();
  });
  RELAY_CO_CHECK(co_await session->initialize());
  std::unique_ptr<Peer> peer = std::make_unique<LegacyPeer>(std::move(session));
  co_return peer;
}

}  // namespace relay::peer
