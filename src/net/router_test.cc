#include "net/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/server_fixture.h"

namespace relay::net {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class PasswordAuthenticator final : public Authenticator {
 public:
  Result<std::string> authenticate(const HttpRequest& request) override {
    if (request.headers.find("Authorization") == "right") return "somebody";
    return fail({ErrorKind::unauthenticated, Blame::peer, "who are you?"});
  }
  [[nodiscard]] std::string challenge(const HttpRequest&) const override { return "Test"; }
};

class RouterTest : public testing::Test {
 protected:
  RouterTest() : router_(OriginGuard({}), std::make_shared<PasswordAuthenticator>()) {
    auto show = [](HttpExchange& exchange, const Routed& routed) -> io::Task<void> {
      std::string text = exchange.request().method + " " + routed.principal;
      for (const auto& [name, value] : routed.params) text += " " + name + "=" + value;
      HttpResponse response = text_response(200, text);
      co_return co_await exchange.respond(std::move(response));
    };
    auto failing = [](HttpExchange&, const Routed&) -> io::Task<void> {
      co_return fail(denied("not today"));
    };
    router_.add("GET", "/open", show, Access::open);
    router_.add("POST", "/mcp", show);
    router_.add("DELETE", "/mcp", show);
    router_.add("GET", "/session/:id/events", show, Access::open);
    router_.add("POST", "/session/:id/result", show, Access::open);
    router_.add("GET", "/files/*path", show, Access::open);
    router_.add("GET", "/fails", failing, Access::open);
    server_ = std::make_unique<TestServer>(router_.handler());
  }

  std::string ask(const std::string& line, const std::string& fields = "") {
    RawClient client(server_->port());
    client.send(line + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "Connection: close\r\n\r\n");
    return client.read_all();
  }

  Router router_;
  std::unique_ptr<TestServer> server_;
};

TEST_F(RouterTest, FindsExactPathsAndPatterns) {
  EXPECT_THAT(ask("GET /open?x=1"), EndsWith("GET "));
  EXPECT_THAT(ask("GET /session/a%2Fb%20c/events"), EndsWith(" id=a/b c"));
  EXPECT_THAT(ask("POST /session/7/result"), EndsWith(" id=7"));
  EXPECT_THAT(ask("GET /files/a/b%2e.js"), EndsWith(" path=a/b..js"));
}
TEST_F(RouterTest, SaysWhatIsNotThere) {
  for (const char* path :
       {"/", "/opens", "/open/", "/session//events", "/session/1", "/session/1/events/2", "/files"})
    EXPECT_THAT(ask("GET " + std::string(path)), StartsWith("HTTP/1.1 404 ")) << path;
}
TEST_F(RouterTest, SaysWhichMethodsThereAre) {
  const std::string refused = ask("PUT /mcp");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(refused, HasSubstr("Allow: OPTIONS, DELETE, POST\r\n"));
  EXPECT_THAT(ask("OPTIONS /open"), HasSubstr("Allow: OPTIONS, GET, HEAD\r\n"));
}
TEST_F(RouterTest, AnswersHeadWithGet) {
  const std::string head = ask("HEAD /open");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  EXPECT_THAT(ask("HEAD /mcp"), StartsWith("HTTP/1.1 405 "));
}
TEST_F(RouterTest, Authenticates) {
  const std::string refused = ask("POST /mcp");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(refused, HasSubstr("WWW-Authenticate: Test\r\n"));
  EXPECT_THAT(ask("POST /mcp", "Authorization: right\r\n"), EndsWith("POST somebody"));
}
TEST_F(RouterTest, RefusesForeignHostsAndOriginsBeforeAnythingElse) {
  RawClient client(server_->port());
  client.send("POST /mcp HTTP/1.1\r\nHost: evil.example\r\nAuthorization: right\r\n\r\n");
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 403 "));
  for (const char* origin : {"http://evil.example", "null"}) {
    const std::string refused =
        ask("POST /mcp", "Authorization: right\r\nOrigin: " + std::string(origin) + "\r\n");
    EXPECT_THAT(refused, StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(refused, Not(HasSubstr("Access-Control")));
  }
  RawClient absolute(server_->port());
  absolute.send("GET http://evil.example/open HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(absolute.read_response(), StartsWith("HTTP/1.1 403 "));
}
TEST_F(RouterTest, LetsAllowedPagesReadEveryAnswer) {
  const std::string origin = "Origin: http://localhost:5173\r\n";
  const std::string allowed = "Access-Control-Allow-Origin: http://localhost:5173\r\n";
  for (const char* line : {"GET /open", "GET /fails", "GET /missing", "PUT /mcp", "POST /mcp"})
    EXPECT_THAT(ask(line, origin), HasSubstr(allowed)) << line;
  EXPECT_THAT(ask("GET /fails", origin), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(ask("GET /open"), Not(HasSubstr("Access-Control")));
}
TEST_F(RouterTest, AnswersAPreflightWithoutAuthentication) {
  const std::string answer =
      ask("OPTIONS /mcp", "Origin: http://localhost:5173\r\nAccess-Control-Request-Method: POST\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 204 "));
  EXPECT_THAT(answer, HasSubstr("Access-Control-Allow-Headers: "));
  EXPECT_EQ(answer.find("Access-Control-Allow-Origin"), answer.rfind("Access-Control-Allow-Origin"));
  EXPECT_NE(answer.find("Access-Control-Allow-Origin"), std::string::npos);
}

}  // namespace
}  // namespace relay::net
