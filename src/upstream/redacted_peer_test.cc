#include "upstream/redacted_peer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/test_loop.h"
#include "upstream/fake_peer.h"
#include "upstream/spec_references.h"

namespace relay::upstream {
namespace {

using testing::ElementsAre;

/// Tells the secret in every way that a peer has while a request is open.
class TellingPeer final : public peer::Peer {
 public:
  explicit TellingPeer(peer::PeerAnswer answer) : answer_(std::move(answer)) {
    info_.instructions = "use my-secret";
    info_.server = json::object{{"name", "my-secret"}};
  }
  [[nodiscard]] const peer::PeerInfo& info() const override { return info_; }
  [[nodiscard]] bool is_open() const override { return true; }
  io::Task<peer::PeerAnswer> request(peer::Outgoing, peer::RequestScope& scope) override {
    scope.progress(1, std::nullopt, "at my-secret");
    scope.log(protocol::LogLevel::info, "my-secret", json::object{{"a", "my-secret"}});
    std::vector<peer::Question> questions(1);
    questions[0].params = protocol::JsonText::trusted(R"({"message":"is it my-secret?"})");
    RELAY_CO_CHECK(co_await scope.ask(std::move(questions)));
    co_return answer_;
  }
  io::Task<void> watch(std::set<std::string, std::less<>>) override { co_return Result<void>{}; }
  io::Task<void> set_log_level(protocol::LogLevel) override { co_return Result<void>{}; }
  void roots_changed() override {}
  io::Task<void> close() override { co_return Result<void>{}; }

 private:
  peer::PeerAnswer answer_;
  peer::PeerInfo info_;
};

class HearingScope final : public peer::RequestScope {
 public:
  [[nodiscard]] std::string_view session() const override { return "s"; }
  [[nodiscard]] const protocol::ClientCapabilities& client() const override { return none_; }
  [[nodiscard]] std::optional<protocol::LogLevel> log_level() const override { return {}; }
  void progress(double, std::optional<double>, std::string_view message) override {
    heard.emplace_back(message);
  }
  void log(protocol::LogLevel, std::string_view logger, json::value data) override {
    heard.emplace_back(logger);
    heard.push_back(json::write(data));
  }
  io::Task<std::vector<protocol::JsonText>> ask(std::vector<peer::Question> questions) override {
    heard.emplace_back(questions.at(0).params.text());
    co_return std::vector<protocol::JsonText>(1);
  }
  void became_task() override {}

  std::vector<std::string> heard;

 private:
  protocol::ClientCapabilities none_;
};

struct RedactedPeerTest : testing::Test {
  RedactedPeerTest() { redactor->learn("my-secret"); }
  peer::PeerAnswer ask(peer::PeerAnswer answer) {
    RedactedPeer peer(std::make_unique<TellingPeer>(std::move(answer)), redactor);
    instructions = peer.info().instructions + json::write(peer.info().server);
    auto got = loop.run(peer.request({.method = "tools/call", .params = "{}"}, scope));
    return got ? *got : std::unexpected(protocol::RpcError{.message = "failed"});
  }

  io::TestLoop loop;
  std::shared_ptr<secrets::Redactor> redactor = std::make_shared<secrets::Redactor>();
  HearingScope scope;
  std::string instructions;
};

TEST_F(RedactedPeerTest, NothingThatTheServerSaysHoldsASecret) {
  const auto answer =
      ask(protocol::JsonText::trusted(R"({"content":[{"text":"it is my-secret"}],"n":1.50})"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text(), R"({"content":[{"text":"it is ***"}],"n":1.50})");
  EXPECT_EQ(instructions, R"(use ***{"name":"***"})");
  EXPECT_THAT(scope.heard, ElementsAre("at ***", "***", R"({"a":"***"})", R"({"message":"is it ***?"})"));
}

TEST_F(RedactedPeerTest, ItsErrorsHoldNoneEither) {
  const auto answer = ask(std::unexpected(protocol::RpcError{
      .code = -32050, .message = "no my-secret", .data = json::value{{"k", "my-secret"}}}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, -32050);
  EXPECT_EQ(answer.error().message, "no ***");
  EXPECT_EQ(json::write(*answer.error().data), R"({"k":"***"})");
}

TEST_F(RedactedPeerTest, AnswersPassAsTheyAreWhenTheOperatorSaysSo) {
  redactor->set_answers(secrets::AnswerRedaction::off);
  const auto answer = ask(protocol::JsonText::trusted(R"({"text":"my-secret"})"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text(), R"({"text":"my-secret"})");
  EXPECT_EQ(instructions, R"(use my-secret{"name":"my-secret"})");
  EXPECT_THAT(scope.heard, ElementsAre("at my-secret", "my-secret", R"({"a":"my-secret"})",
                                       R"({"message":"is it my-secret?"})"));
}

struct HearingObserver final : peer::PeerObserver {
  void server_event(const protocol::ServerEvent& event) override {
    if (const auto* line = std::get_if<protocol::LogLine>(&event))
      heard.push_back(line->logger + " " + json::write(line->data));
    else
      heard.emplace_back("another event");
  }
  void oddity(std::string_view) override {}
  void closed(const Error&) override {}
  std::vector<std::string> heard;
};

TEST_F(RedactedPeerTest, LogLinesOfNoCallHoldNone) {
  HearingObserver observer;
  RedactedObserver redacted(observer, redactor);
  const protocol::LogLine line{.level = protocol::LogLevel::info, .logger = "my-secret", .data = "my-secret"};
  redacted.server_event(line);
  redacted.server_event(protocol::ListChanged{});
  redactor->set_answers(secrets::AnswerRedaction::off);
  redacted.server_event(line);
  EXPECT_THAT(observer.heard, ElementsAre("*** \"***\"", "another event", "my-secret \"my-secret\""));
}

TEST(SpecReferences, EachTextHasANameAndGoesBackToItsPlace) {
  ServerSpec spec;
  spec.endpoint = "e";
  spec.args = {"a", "b"};
  spec.env = {{"X", "x"}};
  spec.headers = {{"H", "h"}};
  SpecTexts texts = texts_of(spec);
  EXPECT_EQ(
      texts,
      (SpecTexts{{"args[0]", "a"}, {"args[1]", "b"}, {"endpoint", "e"}, {"env.X", "x"}, {"headers.H", "h"}}));
  for (auto& [name, text] : texts) text += "!";
  const ServerSpec filled = with_texts(spec, texts);
  EXPECT_EQ(filled.endpoint, "e!");
  EXPECT_THAT(filled.args, ElementsAre("a!", "b!"));
  EXPECT_EQ(filled.env.at("X"), "x!");
  EXPECT_EQ(filled.headers.at("H"), "h!");
}

}  // namespace
}  // namespace relay::upstream
