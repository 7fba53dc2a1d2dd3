#include "net/http_server.h"

#include <atomic>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/server_fixture.h"

namespace relay::net {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Answers with what it got, so that tests see what the handler saw.
io::Task<void> echo(HttpExchange& exchange) {
  RELAY_CO_TRY(std::string body, co_await exchange.read_body());
  HttpResponse response =
      text_response(200, exchange.request().method + " " + exchange.request().path + " [" + body + "]");
  co_return co_await exchange.respond(std::move(response));
}

TEST(HttpServer, AnswersOnOneConnectionAgainAndAgain) {
  TestServer server(echo);
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    client.send("GET /a%20b HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.read_response(), EndsWith("GET /a b []"));
  }
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send(
      "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3 "
      "HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_response(), EndsWith("POST /1 [abc]"));
  EXPECT_THAT(client.read_response(), EndsWith("GET /2 []"));
  EXPECT_THAT(client.read_response(), EndsWith("GET /3 []"));
}

TEST(HttpServer, RefusesGarbageAfterAGoodRequest) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n\x01\x02garbage\r\n\r\n");
  EXPECT_THAT(client.read_response(), EndsWith("GET /1 []"));
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 400 "));
  EXPECT_TRUE(client.at_end());
}

// Streams one event and then waits for the peer to go.
io::Task<void> open_stream(HttpExchange& exchange) {
  Headers headers{{"Content-Type", "text/event-stream"}};
  RELAY_CO_TRY(auto body, co_await exchange.start_stream(200, std::move(headers)));
  RELAY_CO_CHECK(co_await body->write("data: hello\n\n"));
  RELAY_CO_CHECK(co_await exchange.peer_gone().wait());
  co_return Result<void>{};
}

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

void wait_for_connections(TestServer& server, std::size_t count) {
  while (server.connection_count() != count) std::this_thread::sleep_for(1ms);
}

HttpServerOptions with_limits(const ServerLimits& limits) {
  HttpServerOptions options;
  options.limits = limits;
  return options;
}

TEST(HttpServer, AnswersASlowHeadWith408) {
  TestServer server(echo, with_limits({.header_timeout = 40ms}));
  RawClient client(server.port());
  client.send("GET / HTTP/1.1\r\nHo");
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 408 "));
  EXPECT_TRUE(client.at_end());
}

TEST(HttpServer, EndsASlowHeadHoweverManyBytesDripIn) {
  TestServer server(echo, with_limits({.header_timeout = 40ms}));
  RawClient client(server.port());
  client.send("GET / HTTP/1.1\r\n");
  while (client.send("X: y\r\n") && server.connection_count() > 0) std::this_thread::sleep_for(5ms);
  wait_for_connections(server, 0);
}

TEST(HttpServer, ClosesAConnectionThatSaysNothing) {
  TestServer server(echo, with_limits({.idle_timeout = 40ms}));
  RawClient silent(server.port());
  EXPECT_TRUE(silent.at_end());
  RawClient once(server.port());
  once.send(kGet);
  EXPECT_THAT(once.read_response(), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(once.at_end());
}

TEST(HttpServer, AnswersASlowBodyWith408) {
  TestServer server(echo, with_limits({.body_timeout = 40ms}));
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 408 "));
  EXPECT_TRUE(client.at_end());
}

TEST(HttpServer, DropsAPeerThatDoesNotRead) {
  auto flood = [](HttpExchange& exchange) -> io::Task<void> {
    Headers headers;
    RELAY_CO_TRY(auto body, co_await exchange.start_stream(200, std::move(headers)));
    const std::string piece(1 * limits::kMiB, 'x');
    for (int i = 0; i < 100; ++i) RELAY_CO_CHECK(co_await body->write(piece));
    co_return co_await body->finish();
  };
  TestServer server(flood, with_limits({.write_timeout = 40ms}));
  RawClient client(server.port());
  client.send(kGet);
  EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  wait_for_connections(server, 0);
}

TEST(HttpServer, RefusesConnectionsOverTheLimit) {
  TestServer server(echo, with_limits({.connections = 2}));
  RawClient one(server.port()), two(server.port());
  one.send(kGet);
  two.send(kGet);
  one.read_response();
  two.read_response();
  RawClient three(server.port());
  three.send(kGet);
  EXPECT_THAT(three.read_all(), StartsWith("HTTP/1.1 503 "));
  one.close();
  wait_for_connections(server, 1);
  RawClient four(server.port());
  four.send(kGet);
  EXPECT_THAT(four.read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, RefusesConnectionsOfOneAddressOverTheLimit) {
  TestServer server(echo, with_limits({.connections_per_address = 1}));
  RawClient one(server.port());
  one.send(kGet);
  one.read_response();
  RawClient two(server.port());
  EXPECT_THAT(two.read_all(), StartsWith("HTTP/1.1 503 "));
}

TEST(HttpServer, AsksForTheBodyOnlyWhenTheHandlerWantsIt) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_THAT(client.read_response(), EndsWith("[abc]"));
}

TEST(HttpServer, RefusesAnExpectedBodyBeforeItIsSent) {
  auto refuse = [](HttpExchange&) -> io::Task<void> { co_return fail(denied("no")); };
  TestServer server(refuse);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  const std::string response = client.read_response();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(response, HasSubstr("Connection: close"));
  EXPECT_TRUE(client.at_end());
}

TEST(HttpServer, SkipsAShortBodyThatNobodyRead) {
  auto ignore = [](HttpExchange& exchange) -> io::Task<void> {
    HttpResponse response = text_response(200, exchange.request().path);
    co_return co_await exchange.respond(std::move(response));
  };
  TestServer server(ignore);
  RawClient client(server.port());
  client.send("POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
  EXPECT_THAT(client.read_response(), EndsWith("/1"));
  client.send("helloGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_response(), EndsWith("/2"));
}

TEST(HttpServer, LetsThePeerReadTheRefusalOfALargeBody) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n");
  client.send(std::string(500'000, 'x'));
  const std::string response = client.read_response();
  EXPECT_THAT(response, StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(response, HasSubstr("Connection: close"));
}

TEST(HttpServer, AnswersAHalfClosedPeer) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send(kGet);
  client.half_close();
  EXPECT_THAT(client.read_all(), EndsWith("GET / []"));
}

TEST(HttpServer, TellsTheHandlerThatThePeerIsGone) {
  std::atomic<bool> told = false;
  auto wait = [&](HttpExchange& exchange) -> io::Task<void> {
    RELAY_CO_TRY(std::string body, co_await exchange.read_body());
    RELAY_CO_CHECK(co_await exchange.peer_gone().wait());
    told = true;
    co_return Result<void>{};
  };
  TestServer server(wait);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  wait_for_connections(server, 1);
  EXPECT_FALSE(told);
  client.close();
  wait_for_connections(server, 0);
  EXPECT_TRUE(told);
}

TEST(HttpServer, GoesOnAfterAWatchedRequest) {
  auto watched = [](HttpExchange& exchange) -> io::Task<void> {
    EXPECT_FALSE(exchange.peer_gone().is_set());
    RELAY_CO_CHECK(co_await io::sleep_for(5ms));
    HttpResponse response = text_response(200, exchange.request().path);
    co_return co_await exchange.respond(std::move(response));
  };
  TestServer server(watched);
  RawClient client(server.port());
  for (const char* path : {"/1", "/2", "/3"}) {
    client.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(client.read_response(), EndsWith(path));
  }
  client.send("GET /4 HTTP/1.1\r\nHost: x\r\n\r\nGET /5 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.read_response(), EndsWith("/4"));
  EXPECT_THAT(client.read_response(), EndsWith("/5"));
}

TEST(HttpServer, AnswersForAHandlerThatFailsOrForgets) {
  auto odd = [](HttpExchange& exchange) -> io::Task<void> {
    if (exchange.request().path == "/throw") throw std::runtime_error("secret detail");
    if (exchange.request().path == "/busy") co_return fail(busy("later"));
    co_return Result<void>{};
  };
  TestServer server(odd);
  RawClient client(server.port());
  const auto get = [&](const char* path) {
    client.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return client.read_response();
  };
  EXPECT_THAT(get("/busy"), StartsWith("HTTP/1.1 429 "));
  EXPECT_THAT(get("/forget"), StartsWith("HTTP/1.1 500 "));
  const std::string thrown = get("/throw");
  EXPECT_THAT(thrown, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(thrown, Not(HasSubstr("secret")));
}

TEST(HttpServer, KeepsLineBreaksOutOfItsFields) {
  auto split = [](HttpExchange& exchange) -> io::Task<void> {
    HttpResponse response = text_response(200, "");
    response.headers.add("X-A", "a\r\nX-Evil: 1");
    response.headers.add("X Bad\r\n", "b");
    response.headers.add("Content-Length", "99");
    co_return co_await exchange.respond(std::move(response));
  };
  TestServer server(split);
  RawClient client(server.port());
  client.send(kGet);
  const std::string response = client.read_response();
  EXPECT_THAT(response, HasSubstr("X-A: a  X-Evil: 1\r\n"));
  EXPECT_THAT(response, Not(HasSubstr("Bad")));
  EXPECT_THAT(response, HasSubstr("Content-Length: 0\r\n"));
}

TEST(HttpServer, CutsOffAStreamThatWasNotFinished) {
  auto half = [](HttpExchange& exchange) -> io::Task<void> {
    Headers headers;
    RELAY_CO_TRY(auto body, co_await exchange.start_stream(200, std::move(headers)));
    co_return co_await body->write("half");
  };
  TestServer server(half);
  RawClient client(server.port());
  client.send(kGet);
  EXPECT_THAT(client.read_all(), EndsWith("4\r\nhalf\r\n")) << "no last chunk";
}

TEST(HttpServer, StreamsExactlyTheAnnouncedLength) {
  auto exact = [](HttpExchange& exchange) -> io::Task<void> {
    Headers headers{{"Content-Length", "6"}};
    RELAY_CO_TRY(auto body, co_await exchange.start_stream(200, std::move(headers)));
    RELAY_CO_CHECK(co_await body->write("abc"));
    EXPECT_FALSE(co_await body->finish()) << "three bytes are missing";
    EXPECT_FALSE(co_await body->write("defg")) << "one byte too many";
    RELAY_CO_CHECK(co_await body->write("def"));
    co_return co_await body->finish();
  };
  TestServer server(exact);
  RawClient client(server.port());
  for (int i = 0; i < 2; ++i) {
    client.send(kGet);
    EXPECT_THAT(client.read_response(), EndsWith("Content-Length: 6\r\n\r\nabcdef"));
  }
}

// Says in an atomic where the handler is: begun, unwound by a cancellation, or run to its end.
enum class Stage { none, begun, unwound, ended };

TEST(HttpServer, StopCancelsHandlersAndClosesIdleConnections) {
  std::atomic<Stage> stage = Stage::none;
  auto endless = [&stage](HttpExchange&) -> io::Task<void> {
    struct Unwinding {
      std::atomic<Stage>& stage;
      ~Unwinding() {
        Stage begun = Stage::begun;
        stage.compare_exchange_strong(begun, Stage::unwound);
      }
    };
    const Unwinding unwinding{stage};
    stage = Stage::begun;
    RELAY_CO_CHECK(co_await io::sleep_for(1h));
    stage = Stage::ended;
    co_return Result<void>{};
  };
  TestServer server(endless);
  RawClient idle(server.port()), busy_one(server.port());
  busy_one.send(kGet);
  wait_for_connections(server, 2);
  while (stage == Stage::none) std::this_thread::sleep_for(1ms);
  server.stop(5s);
  EXPECT_EQ(stage, Stage::unwound);
  EXPECT_TRUE(idle.at_end());
  EXPECT_THAT(busy_one.read_all(), StartsWith("HTTP/1.1 503 "));
}

TEST(HttpServer, StopEndsEventStreamsProperly) {
  TestServer server(open_stream);
  RawClient client(server.port());
  client.send(kGet);
  client.read_until("hello\n\n");
  server.stop(5s);
  EXPECT_THAT(client.read_all(), EndsWith("0\r\n\r\n"));
}

TEST(HttpServer, StopAbortsWhatDoesNotEndInItsGrace) {
  auto stubborn = [](HttpExchange& exchange) -> io::Task<void> {
    auto wait = []() -> io::Task<void> { co_return co_await io::sleep_for(100ms); };
    co_await io::join(co_await asio::this_coro::executor, wait());
    HttpResponse response = text_response(200, "late");
    co_return co_await exchange.respond(std::move(response));
  };
  TestServer server(stubborn);
  RawClient client(server.port());
  client.send(kGet);
  wait_for_connections(server, 1);
  server.stop(10ms);
  client.read_all();
}

TEST(HttpServer, RefusesWhatItCannotListenOn) {
  LoopThread loop;
  const auto open = [&](HttpServerOptions options) {
    return loop.call(
        [&] { return HttpServer::open(loop.executor(), std::move(options), echo).error().kind; });
  };
  EXPECT_EQ(open({.address = "not an address"}), ErrorKind::invalid);
  EXPECT_EQ(open({.address = "203.0.113.1"}), ErrorKind::unavailable);
  EXPECT_EQ(open({.tls = ServerTls{"/nonexistent", "/nonexistent"}}), ErrorKind::invalid);
}

TEST(HttpServer, HoldsTwoThousandQuietEventStreams) {
  constexpr std::size_t kStreams = 2000;
  TestServer server(open_stream);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (std::size_t i = 0; i < kStreams; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    ASSERT_TRUE(clients.back()->send(kGet));
  }
  for (auto& client : clients) ASSERT_THAT(client->read_until("hello\n\n"), HasSubstr("data: hello"));
  EXPECT_EQ(server.connection_count(), kStreams);
  for (std::size_t i = 0; i < kStreams; i += 2) clients[i]->close();
  wait_for_connections(server, kStreams / 2);
}

}  // namespace
}  // namespace relay::net
