// The connection on an in-memory stream: every read size, and a failure at every operation.
#include "net/http_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <boost/beast/_experimental/test/stream.hpp>

namespace relay::net {
namespace {

namespace test = boost::beast::test;
using testing::HasSubstr;
using testing::StartsWith;

io::Task<void> handle(HttpExchange& exchange) {
  if (exchange.request().path == "/stream") {
    Headers headers{{"Content-Type", "text/event-stream"}};
    RELAY_CO_TRY(auto body, co_await exchange.start_stream(200, std::move(headers)));
    RELAY_CO_CHECK(co_await body->write("first"));
    RELAY_CO_CHECK(co_await body->write("second"));
    co_return co_await body->finish();
  }
  RELAY_CO_TRY(std::string body, co_await exchange.read_body(1000));
  HttpResponse response = text_response(200, exchange.request().path + "[" + body + "]");
  co_return co_await exchange.respond(std::move(response));
}

struct Outcome {
  std::string output;
  std::size_t connections_left = 0;
};

// The Date field differs from run to run.
std::string without_dates(std::string text) {
  for (std::size_t at = 0; (at = text.find("Date: ", at)) != std::string::npos;)
    text.erase(at, text.find("\r\n", at) + 2 - at);
  return text;
}

Outcome converse(std::string_view input, std::size_t read_size, test::fail_count* failure = nullptr) {
  asio::io_context loop(1);
  auto core = std::make_shared<ServerCore>();
  core->handler = handle;
  core->registry = std::make_shared<ConnectionRegistry>(loop.get_executor(), core->limits);
  test::stream server = failure ? test::stream(loop, *failure) : test::stream(loop);
  test::stream client = test::connect(server);
  server.read_size(read_size);
  server.append({input.data(), input.size()});
  client.close();  // after these bytes, the end
  HttpConnection<test::stream>::start(
      std::make_shared<HttpConnection<test::stream>>(std::move(server), core, "test"));
  loop.run();
  return {without_dates(std::string(client.str())), core->registry->size()};
}

std::string statuses(std::string_view output) {
  std::string all;
  for (std::size_t at = 0; (at = output.find("HTTP/1.1 ", at)) != std::string_view::npos; at += 9)
    all += std::string(output.substr(at + 9, 3)) + " ";
  return all;
}

class ConnectionSplit : public testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] std::string run(std::string_view input) const {
    const Outcome outcome = converse(input, GetParam());
    EXPECT_EQ(outcome.connections_left, 0u);
    return outcome.output;
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, ConnectionSplit, testing::Values(1, 2, 3, 7, 31, 100'000));

constexpr std::string_view kAll =
    "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
    "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
    "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
    "chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nTrailer: t\r\n\r\n"
    "HEAD /d HTTP/1.1\r\nHost: x\r\n\r\n"
    "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"
    "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

TEST_P(ConnectionSplit, AnswersEveryKindOfRequestInOrder) {
  const std::string output = run(kAll);
  EXPECT_EQ(statuses(output), "200 200 200 200 200 200 ");
  for (const char* part :
       {"/a[]", "/b[hello]", "/c[abcde]", "5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n", "/last[]"})
    EXPECT_THAT(output, HasSubstr(part));
  EXPECT_THAT(output, HasSubstr("Content-Length: 4\r\n\r\nHTTP/1.1")) << "HEAD has the length and no body";
  EXPECT_THAT(output, HasSubstr("Connection: close"));
}

TEST_P(ConnectionSplit, RefusesWhatTwoParsersCouldReadDifferently) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
       "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 4\r\n\r\nabcd", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\nabc", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\nabc", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
       "chunked\r\n\r\n0\r\n\r\n",
       "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "501 "},
      {"POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\nabc", "400 "},
      {"GET / HTTP/1.1\r\n\r\n", "400 "},
      {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400 "},
      {"GET / HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n", "400 "},
      {"GET / HTTP/1.1\r\nHost: x\r\nX: a\x01z\r\n\r\n", "400 "},
      {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "400 "},
      {"GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", "400 "},
      {"GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", "400 "},
      {"GET a HTTP/1.1\r\nHost: x\r\n\r\n", "400 "},
      {"GET * HTTP/1.1\r\nHost: x\r\n\r\n", "400 "},
      {"GET / HTTP/2.0\r\nHost: x\r\n\r\n", "505 "},
      {"GET / HTTP/1.2\r\nHost: x\r\n\r\n", "505 "},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 "},
      {"BREW / HTTP/1.1\r\nHost: x\r\n\r\n", "501 "},
      {"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", "501 "},
      {"GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n", "417 "},
      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS greeting\r\n\r\n", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n", "400 "},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n", "413 "},
  };
  for (const auto& [input, expected] : cases) EXPECT_EQ(statuses(run(input)), expected) << input;
}

TEST_P(ConnectionSplit, NeverReadsOnAfterARefusal) {
  const std::string output = run(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(statuses(output), "413 ");
}

TEST_P(ConnectionSplit, RefusesAHeadOverTheLimit) {
  const std::string large =
      "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(limits::kHttpHeaderBytes, 'a') + "\r\n\r\n";
  EXPECT_EQ(statuses(run(large)), "431 ");
  EXPECT_EQ(statuses(run("GET /" + std::string(limits::kHttpHeaderBytes, 'a'))), "431 ");
}

TEST_P(ConnectionSplit, RefusesAChunkedBodyOverTheLimit) {
  std::string input = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 11; ++i) input += "64\r\n" + std::string(100, 'c') + "\r\n";
  EXPECT_EQ(statuses(run(input)), "413 ");
}

TEST_P(ConnectionSplit, SaysNothingToATruncatedHeadAndRefusesATruncatedBody) {
  EXPECT_EQ(run("GET / HTTP/1.1\r\nHos"), "");
  EXPECT_EQ(run(""), "");
  EXPECT_EQ(statuses(run("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel")), "400 ");
}

TEST_P(ConnectionSplit, SkipsEmptyLinesBeforeARequest) {
  EXPECT_EQ(statuses(run("\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")),
            "200 200 ");
}

TEST_P(ConnectionSplit, TakesTheHostOfAnAbsoluteTarget) {
  EXPECT_THAT(run("GET http://other:80/path?q HTTP/1.1\r\nHost: x\r\n\r\n"), HasSubstr("/path[]"));
}

TEST_P(ConnectionSplit, KeepsAnOldPeerOnlyWhenItAsks) {
  EXPECT_EQ(statuses(run("GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n")), "200 ");
  const std::string kept = run("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(statuses(kept), "200 200 ");
  EXPECT_THAT(kept, HasSubstr("Connection: keep-alive"));
}

TEST_P(ConnectionSplit, StreamsToAnOldPeerWithoutChunks) {
  const std::string output = run("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_THAT(output, HasSubstr("\r\n\r\nfirstsecond"));
  EXPECT_THAT(output, testing::Not(HasSubstr("chunked")));
}

TEST(ConnectionFailure, EndsCleanlyWhicheverOperationFails) {
  const std::string whole = converse(kAll, 31).output;
  bool finished = false;
  std::size_t n = 0;
  for (; !finished && n < 200; ++n) {
    test::fail_count failure(n);
    const Outcome outcome = converse(kAll, 31, &failure);
    EXPECT_EQ(outcome.connections_left, 0u) << "failing at " << n;
    EXPECT_THAT(whole, StartsWith(outcome.output)) << "failing at " << n;
    finished = outcome.output == whole;
  }
  EXPECT_TRUE(finished);
  EXPECT_GT(n, 10u);
}

}  // namespace
}  // namespace relay::net
