#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/cage_proxy.h"

namespace relay::launch {
namespace {

TEST(ProxyRequest, ATunnelNamesHostAndPort) {
  const auto request = parse_proxy_request("CONNECT API.Example.com:443 HTTP/1.1\r\nHost: whatever\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->is_tunnel);
  EXPECT_EQ(request->host.name, "api.example.com");
  EXPECT_EQ(request->port, 443);
  EXPECT_EQ(request->forwarded, "");
}

TEST(ProxyRequest, APlainRequestIsSentOnAsTheServerExpectsIt) {
  const auto request = parse_proxy_request(
      "POST http://example.com:8080/a/b?c HTTP/1.1\r\nHost: example.com:8080\r\nProxy-Authorization: "
      "x\r\nproxy-connection: keep-alive\r\n"
      "Connection: keep-alive\r\nContent-Length: 3\r\n\r\n");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->host.name, "example.com");
  EXPECT_EQ(request->port, 8080);
  EXPECT_EQ(
      request->forwarded,
      "POST /a/b?c HTTP/1.1\r\nHost: example.com:8080\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(parse_proxy_request("GET http://example.com HTTP/1.0\r\n\r\n")->forwarded,
            "GET / HTTP/1.0\r\nHost: example.com\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(parse_proxy_request("GET http://example.com?a=/b#c HTTP/1.1\r\n\r\n")->forwarded,
            "GET /?a=/b HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n");
}

TEST(ProxyRequest, TheHostThatWasJudgedIsTheHostThatIsTold) {
  const auto request = parse_proxy_request(
      "GET http://allowed.test/ HTTP/1.1\r\nhost : other.test\r\nHost: third.test\r\nA: b\r\n\r\n");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->forwarded, "GET / HTTP/1.1\r\nHost: allowed.test\r\nA: b\r\nConnection: close\r\n\r\n");
}

TEST(ProxyRequest, WhatIsNoRequestIsRefused) {
  for (const char* head :
       {"\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "CONNECT example.com HTTP/1.1\r\n\r\n",
        "CONNECT example.com:0 HTTP/1.1\r\n\r\n", "CONNECT example.com:99999 HTTP/1.1\r\n\r\n",
        "CONNECT example.com:80x HTTP/1.1\r\n\r\n", "CONNECT :80 HTTP/1.1\r\n\r\n",
        "GET ftp://example.com/ HTTP/1.1\r\n\r\n", "GET https://example.com/ HTTP/1.1\r\n\r\n",
        "GET http:/// HTTP/1.1\r\n\r\n", "GET http://a b/ HTTP/1.1\r\n\r\n",
        "GET http://example.com/ HTTP/2\r\n\r\n", "GET http://example.com/ HTTP/1.1\nX: y\r\n\r\n",
        "GET http://example.com/ HTTP/1.1\r\nA: b\nConnection: keep-alive\r\n\r\n",
        "GET http://example.com/ HTTP/1.1\r\nA: b", "GET http://u:p@example.com/ HTTP/1.1\r\n\r\n",
        " http://example.com/ HTTP/1.1\r\n\r\n", ""})
    EXPECT_FALSE(parse_proxy_request(head)) << head;
}

TEST(ProxyHosts, LiteralAddressesMustBeSpelledOut) {
  const auto check = [](const char* pattern, const char* host, std::uint16_t port) {
    return check_proxy_host({*policy::parse_host_pattern(pattern)}, *policy::parse_host(host), port)
        .has_value();
  };
  EXPECT_TRUE(check("*.example.com", "api.example.com", 443));
  EXPECT_TRUE(check("example.com:443", "example.com", 443));
  EXPECT_FALSE(check("example.com:443", "example.com", 80));
  EXPECT_FALSE(check("example.com", "notexample.com", 443));
  EXPECT_TRUE(check("*", "anything.test", 443));
  EXPECT_FALSE(check("*", "127.0.0.1", 80));
  EXPECT_FALSE(check("*", "8.8.8.8", 80));
  EXPECT_FALSE(check("*", "2130706433", 80)) << "another spelling of 127.0.0.1";
  EXPECT_TRUE(check("127.0.0.1:5432", "127.0.0.1", 5432));
  EXPECT_FALSE(check("127.0.0.1:5432", "127.0.0.1", 80));
}

}  // namespace
}  // namespace relay::launch
