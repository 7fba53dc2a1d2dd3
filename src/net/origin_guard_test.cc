#include "net/origin_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::net {
namespace {

using testing::HasSubstr;
using testing::Not;

HttpRequest request_from(std::string host, std::optional<std::string> origin) {
  HttpRequest request{.method = "POST", .target = "/mcp", .path = "/mcp"};
  request.headers.add("Host", std::move(host));
  if (origin) request.headers.add("Origin", std::move(*origin));
  return request;
}

struct Case {
  GuardOptions options;
  std::string host;
  std::optional<std::string> origin;
  bool allowed;
};

const GuardOptions kLocal{};
const GuardOptions kWildcard{.bind_address = "0.0.0.0"};
const GuardOptions kSix{.bind_address = "::1"};
const GuardOptions kLan{.bind_address = "192.168.1.5"};
const GuardOptions kApp{.allowed_origins = {"https://App.example.com", "vscode-webview://abc"}};
const GuardOptions kNamed{.allowed_hosts = {"relay"}};
const GuardOptions kAllAddresses{.allowed_origins = {"*"}};

TEST(OriginGuard, DecidesByTheTable) {
  const Case cases[] = {
      // Hosts
      {kLocal, "localhost", {}, true},
      {kLocal, "LOCALHOST:8080", {}, true},
      {kLocal, "127.0.0.1:8080", {}, true},
      {kLocal, "[::1]:8080", {}, true},
      {kLocal, "[::1]", {}, true},
      {kSix, "[::1]:1", {}, true},
      {kLocal, "evil.example", {}, false},
      {kLocal, "evil.example:8080", {}, false},
      {kLocal, "localhost.evil.example", {}, false},
      {kLocal, "evil.localhost.example", {}, false},
      {kLocal, "127.0.0.1.evil.example", {}, false},
      {kLocal, "localhost@evil.example", {}, false},
      {kLocal, "evil.example#localhost", {}, false},
      {kLocal, "localhost:80:80", {}, false},
      {kLocal, "localhost:port", {}, false},
      {kLocal, "[::1", {}, false},
      {kLocal, "[::1]x", {}, false},
      {kLocal, "", {}, false},
      {kLocal, "192.168.1.5", {}, false},
      {kLocal, "2130706433", {}, false},
      {kLan, "192.168.1.5:8080", {}, true},
      {kLan, "192.168.1.6:8080", {}, false},
      {kWildcard, "10.1.2.3:8080", {}, true},
      {kWildcard, "[fe80::1]:8080", {}, true},
      {kWildcard, "rebound.example:8080", {}, false},
      {kApp, "app.example.com", {}, true},
      {kNamed, "relay:8080", {}, true},
      {kAllAddresses, "evil.example", {}, true},
      // Origins
      {kLocal, "localhost", "http://localhost:5173", true},
      {kLocal, "localhost", "https://localhost", true},
      {kLocal, "localhost", "http://127.0.0.1:1", true},
      {kLocal, "localhost", "http://[::1]:1", true},
      {kLocal, "localhost", "null", false},
      {kLocal, "localhost", "", false},
      {kLocal, "localhost", "http://evil.example", false},
      {kLocal, "localhost", "http://localhost.evil.example", false},
      {kLocal, "localhost", "http://localhost@evil.example", false},
      {kLocal, "localhost", "http://evil.example/localhost", false},
      {kLocal, "localhost", "file://localhost", false},
      {kLocal, "localhost", "chrome-extension://localhost", false},
      {kLan, "192.168.1.5:8080", "http://192.168.1.5:8080", true},
      {kLan, "192.168.1.5:8080", "http://192.168.1.5:9090", false},
      {kWildcard, "10.0.0.1", "http://10.0.0.1:80", true},
      {kWildcard, "10.0.0.1", "http://10.0.0.2", false},
      {kApp, "localhost", "https://app.example.com", true},
      {kApp, "localhost", "https://app.example.com:443", true},
      {kApp, "localhost", "http://app.example.com", false},
      {kApp, "localhost", "https://app.example.com:444", false},
      {kApp, "localhost", "vscode-webview://abc", true},
      {kAllAddresses, "localhost", "http://evil.example", true},
      {kAllAddresses, "localhost", "null", true},
  };
  for (const Case& c : cases) {
    const auto verdict = OriginGuard(c.options).check(request_from(c.host, c.origin));
    EXPECT_EQ(verdict.has_value(), c.allowed) << c.host << " from " << c.origin.value_or("(none)");
    if (!verdict) EXPECT_EQ(verdict.error().face().http_status, 403);
  }
}

TEST(OriginGuard, RefusesTwoOrigins) {
  HttpRequest request = request_from("localhost", "http://localhost");
  request.headers.add("Origin", "http://evil.example");
  EXPECT_FALSE(OriginGuard(kLocal).check(request));
}

TEST(OriginGuard, AnswersCorsForExactlyThatOrigin) {
  const Headers headers =
      OriginGuard(kLocal).cors_headers(request_from("localhost", "http://localhost:5173"));
  EXPECT_EQ(headers.find("Access-Control-Allow-Origin"), "http://localhost:5173");
  EXPECT_EQ(headers.find("Vary"), "Origin");
  EXPECT_THAT(std::string(*headers.find("Access-Control-Expose-Headers")), HasSubstr("Mcp-Session-Id"));
  EXPECT_THAT(std::string(*headers.find("Access-Control-Expose-Headers")), HasSubstr("WWW-Authenticate"));
  EXPECT_EQ(OriginGuard(kLocal).cors_headers(request_from("localhost", {})).size(), 0u);
  EXPECT_EQ(OriginGuard(kAllAddresses)
                .cors_headers(request_from("x", "http://evil.example"))
                .find("Access-Control-Allow-Origin"),
            "*");
}

TEST(OriginGuard, AllowsThePreflightOfAnMcpClient) {
  HttpRequest request = request_from("localhost", "http://localhost:5173");
  request.headers.add("Access-Control-Request-Method", "POST");
  request.headers.add("Access-Control-Request-Headers",
                      "content-type, x-requested-with, mcp-param-Region, x-evil, bad name");
  const HttpResponse response = OriginGuard(kLocal).answer_preflight(request);
  EXPECT_EQ(response.status, 204);
  const std::string fields(*response.headers.find("Access-Control-Allow-Headers"));
  for (const char* field :
       {"Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "mcp-param-region",
        "Last-Event-ID", "Authorization", "Content-Type", "X-Requested-With"})
    EXPECT_THAT(fields, HasSubstr(field));
  EXPECT_THAT(fields, Not(HasSubstr("evil")));
  EXPECT_THAT(fields, Not(HasSubstr("bad")));
}

}  // namespace
}  // namespace relay::net
