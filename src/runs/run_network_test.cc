#include "runs/run_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit/recorded_fixture.h"
#include "net/server_fixture.h"

namespace relay::runs {
namespace {

using executors::HostCall;
using executors::HostReply;
using testing::HasSubstr;

constexpr int kPieces = 32;
constexpr std::size_t kPieceBytes = 64 * limits::kKiB;

// /stream sends 2 MiB in pieces, /ends says when its client went away, anything else echoes the body.
io::Task<void> peer(net::HttpExchange& exchange) {
  if (exchange.request().path == "/stream") {
    net::Headers headers;
    RELAY_CO_TRY(auto out, co_await exchange.start_stream(200, std::move(headers)));
    const std::string piece(kPieceBytes, 'b');
    for (int i = 0; i < kPieces; ++i) RELAY_CO_CHECK(co_await out->write(piece));
    co_return co_await out->finish();
  }
  RELAY_CO_TRY(std::string body, co_await exchange.read_body());
  net::HttpResponse response = net::text_response(200, std::move(body));
  co_return co_await exchange.respond(std::move(response));
}

class Network : public ::testing::Test {
 protected:
  Network() {
    policy.allowed = {*policy::parse_host_pattern("peer.test")};
    policy.max_body_bytes = 8 * limits::kMiB;
  }
  ~Network() override {
    loop.call([&] {
      network.reset();
      client.reset();
    });
  }

  std::shared_ptr<GuardedNetwork> open() {
    if (network) return network;
    loop.call([&] {
      client = net::HttpClient::make(loop.executor());
      fetch::FetchRules rules = fetch::rules_from(policy);
      rules.check_address = [](const policy::Target&, const policy::Address&) -> Result<void> { return {}; };
      fetch::FetchOptions options;
      options.in_flight = 2;
      options.resolver = [](const policy::Target& target) {
        return std::vector<std::string>{fmt::format("{}:{}:127.0.0.1", target.host.name, target.port)};
      };
      options.on_refusal = [this](const fetch::BlockedFetch& refusal) { refusals.push_back(refusal); };
      network = std::make_shared<GuardedNetwork>(
          loop.executor(), fetch::GuardedFetch::make(recorded.get(), loop.executor(), *client,
                                                     std::move(rules), std::move(options)));
    });
    return network;
  }

  Result<HostReply> ask(std::string op, json::object args, std::string body = {}) {
    HostCall call{std::move(op), std::move(args), std::move(body)};
    return loop.run(open()->call(std::move(call)));
  }
  json::object to(std::string_view path, std::string_view method = "GET") {
    return {{"url", fmt::format("http://peer.test:{}{}", server.port(), path)},
            {"method", std::string(method)}};
  }
  std::int64_t open_stream() {
    const auto reply = ask("fetch", to("/stream"));
    EXPECT_TRUE(reply) << reply.error().message;
    return json::find_int(reply->result.as_object(), "stream").value_or(0);
  }

  audit::RecordedCall recorded;  // first: what is still open on the loop has effects to write
  net::LoopThread loop;
  net::TestServer server{peer};
  policy::NetworkPolicy policy;
  std::unique_ptr<net::HttpClient> client;
  std::shared_ptr<GuardedNetwork> network;
  std::vector<fetch::BlockedFetch> refusals;
};

TEST_F(Network, AShortAnswerComesInOnePiece) {
  const auto reply = ask("fetch", to("/echo", "POST"), "short");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "short");
  EXPECT_FALSE(reply->result.as_object().contains("stream"));
  EXPECT_EQ(network->open_responses(), 0U);
}

TEST_F(Network, ALongOneIsPulledToItsEnd) {
  const std::int64_t stream = open_stream();
  ASSERT_GT(stream, 0);
  std::size_t bytes = 0;
  for (;;) {
    const auto reply = ask("fetch.read", {{"stream", stream}});
    ASSERT_TRUE(reply) << reply.error().message;
    if (reply->result.at("done").as_bool()) break;
    ASSERT_FALSE(reply->body.empty());
    bytes += reply->body.size();
  }
  EXPECT_EQ(bytes, kPieces * kPieceBytes);
  EXPECT_EQ(network->open_responses(), 0U);
  EXPECT_FALSE(ask("fetch.read", {{"stream", stream}})) << "it is gone";
}

TEST_F(Network, ResponsesThatNobodyReadsDoNotBlockOthers) {
  for (int i = 0; i < 5; ++i)
    EXPECT_GT(open_stream(), 0) << "two may be in flight, and paused ones do not count";
  EXPECT_EQ(network->open_responses(), 5U);
}

TEST_F(Network, AClosedOneIsForgottenAndClosingAgainIsFine) {
  const std::int64_t stream = open_stream();
  EXPECT_TRUE(ask("fetch.close", {{"stream", stream}}));
  EXPECT_TRUE(ask("fetch.close", {{"stream", stream}}));
  EXPECT_EQ(network->open_responses(), 0U);
}

TEST_F(Network, TheCapEndsAStream) {
  policy.max_body_bytes = 512 * limits::kKiB;
  const std::int64_t stream = open_stream();
  Result<HostReply> reply = HostReply{};
  while (reply) reply = ask("fetch.read", {{"stream", stream}});
  EXPECT_EQ(reply.error().kind, ErrorKind::too_large);
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals[0].what, fetch::BlockedFetch::What::body);
}

TEST_F(Network, ABodyIsSentPieceByPiece) {
  auto exchange = [](std::shared_ptr<GuardedNetwork> through, json::object args) -> io::Task<HostReply> {
    args["upload"] = 1;
    auto request = [](std::shared_ptr<GuardedNetwork> of, json::object sent,
                      std::optional<Result<HostReply>>& answer) -> io::Task<void> {
      HostCall call{"fetch", std::move(sent), {}};
      answer = co_await of->call(std::move(call));
      co_return Result<void>{};
    };
    std::optional<Result<HostReply>> answer;
    io::spawn(co_await io::asio::this_coro::executor, request(through, std::move(args), answer), "request");
    RELAY_CO_CHECK(co_await io::yield());
    for (const char* piece : {"one ", "two ", "three"}) {
      HostCall call{"fetch.write", {{"upload", 1}}, piece};
      RELAY_CO_TRY([[maybe_unused]] const HostReply taken, co_await through->call(std::move(call)));
    }
    HostCall end{"fetch.write", {{"upload", 1}, {"end", true}}, {}};
    RELAY_CO_TRY([[maybe_unused]] const HostReply ended, co_await through->call(std::move(end)));
    while (!answer) RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::milliseconds(1)));
    co_return std::move(*answer);
  };
  const auto reply = loop.run(exchange(open(), to("/echo", "POST")));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "one two three");
}

TEST_F(Network, AWriteToNothingSaysThatTheRequestIsOver) {
  const auto reply = ask("fetch.write", {{"upload", 7}}, "x");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::cancelled);
}

TEST_F(Network, AGetHasNoBodyThatStreams) {
  json::object args = to("/echo");
  args["upload"] = 1;
  EXPECT_FALSE(ask("fetch", std::move(args)));
}

TEST_F(Network, AnUnknownCallAndAHostileNumberAreRefused) {
  EXPECT_FALSE(ask("fetch.open", {}));
  EXPECT_FALSE(ask("fetch.read", {{"stream", -1}}));
  EXPECT_FALSE(ask("fetch.read", {{"stream", "1"}}));
  EXPECT_FALSE(ask("fetch.read", {}));
}

TEST_F(Network, WhatIsOpenGoesWithTheRun) {
  ASSERT_GT(open_stream(), 0);
  ASSERT_GT(open_stream(), 0);
  loop.call([&] { network.reset(); });
  EXPECT_FALSE(network);
}

}  // namespace
}  // namespace relay::runs
