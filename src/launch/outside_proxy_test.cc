#include "launch/outside_proxy.h"

#include <gtest/gtest.h>

namespace relay::launch {
namespace {

policy::Host host(const char* name) {
  return *policy::parse_host(name);
}

TEST(OutsideProxy, IsReadFromItsAddress) {
  EXPECT_EQ(*parse_outside_proxy("http://Proxy.example:3128/"), (OutsideProxy{"proxy.example", 3128, ""}));
  EXPECT_EQ(*parse_outside_proxy("10.0.0.1:8080"), (OutsideProxy{"10.0.0.1", 8080, ""}));
  EXPECT_EQ(parse_outside_proxy("http://proxy.example")->port, 80);
  // "me:p@ss:word"
  EXPECT_EQ(parse_outside_proxy("http://me:p%40ss%3aword@proxy.example")->authorization,
            "Basic bWU6cEBzczp3b3Jk");
  EXPECT_EQ(parse_outside_proxy("http://me@proxy.example")->authorization, "Basic bWU6");
  for (const char* bad : {"https://proxy.example", "socks5://proxy.example", "http://", "http://a b"})
    EXPECT_FALSE(parse_outside_proxy(bad)) << bad;
}

TEST(OutsideProxy, TunnelsAndRequestsHaveTheirOwn) {
  const auto proxies = parse_outside_proxies({{"HTTPS_PROXY", "http://secure:1"},
                                              {"https_proxy", "http://lower:2"},
                                              {"HTTP_PROXY", "http://plain:3"}});
  ASSERT_TRUE(proxies) << proxies.error().message;
  EXPECT_EQ(proxies->find(host("example.org"), 443, true)->host, "lower");
  EXPECT_EQ(proxies->find(host("example.org"), 80, false)->host, "plain");
  EXPECT_EQ(parse_outside_proxies({{"ALL_PROXY", "http://all:4"}})->find(host("a"), 80, false)->host, "all");
  EXPECT_EQ(parse_outside_proxies({})->find(host("a"), 80, false), nullptr);
  EXPECT_FALSE(parse_outside_proxies({{"https_proxy", "socks5://x"}}));
}

TEST(OutsideProxy, HostsOfNoProxyAreReachedDirectly) {
  const auto proxies =
      parse_outside_proxies({{"https_proxy", "http://p:1"},
                             {"NO_PROXY", "corp.example, .inner.example,10.0.0.1  other.example:8443"}});
  ASSERT_TRUE(proxies);
  const auto is_direct = [&](const char* name, std::uint16_t port) {
    return proxies->find(host(name), port, true) == nullptr;
  };
  EXPECT_TRUE(is_direct("corp.example", 443));
  EXPECT_TRUE(is_direct("npm.corp.example", 443));
  EXPECT_FALSE(is_direct("notcorp.example", 443));
  EXPECT_TRUE(is_direct("a.inner.example", 443));
  EXPECT_TRUE(is_direct("10.0.0.1", 443));
  EXPECT_FALSE(is_direct("10.0.0.10", 443));
  EXPECT_TRUE(is_direct("other.example", 8443));
  EXPECT_FALSE(is_direct("other.example", 443));
  EXPECT_EQ(
      parse_outside_proxies({{"https_proxy", "http://p:1"}, {"no_proxy", "*"}})->find(host("a"), 1, true),
      nullptr);
}

TEST(OutsideProxy, AsksForATunnelAndReadsTheAnswer) {
  const OutsideProxy proxy{"p", 1, "Basic eA=="};
  EXPECT_EQ(
      tunnel_request(proxy, host("example.org"), 443),
      "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\nProxy-Authorization: Basic eA==\r\n\r\n");
  EXPECT_EQ(tunnel_request({"p", 1, ""}, host("[2001:db8::1]"), 80),
            "CONNECT [2001:db8::1]:80 HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n\r\n");
  EXPECT_TRUE(check_tunnel_answer("HTTP/1.1 200 Connection established\r\n\r\n"));
  EXPECT_FALSE(check_tunnel_answer("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"));
  EXPECT_FALSE(check_tunnel_answer("nonsense\r\n\r\n"));
}

}  // namespace
}  // namespace relay::launch
