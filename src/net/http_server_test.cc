#include "net/http_server.h"

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
io::Task<void> echo(Exchange& exchange) {
  RELAY_CO_TRY(std::string body, co_await exchange.read_body());
  HttpResponse response = text_response(200, exchange.request().method + " " + exchange.request().path + " [" + body + "]");
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
  client.send("POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: x\r\n\r\nGET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
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

}  // namespace
}  // namespace relay::net
