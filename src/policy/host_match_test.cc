#include "policy/host_match.h"

#include <gtest/gtest.h>

#include "policy/punycode.h"

namespace relay::policy {
namespace {

struct Row {
  std::string_view pattern;
  std::string_view url;
  bool matches;
};

TEST(HostMatch, MatchesAtDotBoundariesOnly) {
  const Row rows[] = {
      {"example.com", "http://example.com", true},
      {"example.com", "https://example.com/", true},
      {"example.com", "http://EXAMPLE.com/x", true},
      {"EXAMPLE.Com", "http://example.com", true},
      {"example.com", "http://example.com.", true},
      {"example.com.", "http://example.com", true},
      {"example.com", "http://example.com:8080/", true},
      {"example.com", "http://example.com?x", true},
      {"example.com", "http://example.com#x", true},
      {"example.com", "http://www.example.com", false},
      {"example.com", "http://evilexample.com", false},
      {"example.com", "http://example.com.evil.test", false},
      {"example.com", "http://example.co", false},
      {"example.com", "http://evil.test/example.com", false},
      {"example.com", "http://evil.test?example.com", false},
      {"example.com", "http://evil.test#@example.com", false},
      {"example.com", "http://example.com@evil.test", false},
      {"evil.test", "http://example.com@evil.test", true},
      {"evil.test", "http://example.com:80@evil.test/", true},
      {"evil.test", "http://a@b@evil.test", true},
      {"*.example.com", "http://example.com", true},
      {"*.example.com", "http://api.example.com", true},
      {"*.example.com", "http://a.b.example.com", true},
      {"*.example.com", "http://API.Example.COM.", true},
      {"*.example.com", "http://evilexample.com", false},
      {"*.example.com", "http://example.com.evil", false},
      {"*.example.com", "http://com", false},
      {"*.com", "http://example.com", true},
      {"*", "http://anything.test", true},
      {"*", "http://127.0.0.1", true},
      {"*", "http://[::1]", true},
      {"*:443", "https://a.test", true},
      {"*:443", "http://a.test", false},
      {"example.com:8443", "https://example.com:8443", true},
      {"example.com:8443", "https://example.com", false},
      {"example.com:80", "http://example.com:", true},
      {"*.example.com:8443", "https://x.example.com:8443/a", true},
      {"*.example.com:8443", "https://x.example.com:8444/a", false},
      {"localhost", "http://localhost:3000", true},
      {"127.0.0.1", "http://127.0.0.1", true},
      {"127.0.0.1", "http://2130706433", true},
      {"127.0.0.1", "http://0x7f000001", true},
      {"127.0.0.1", "http://0x7f.1", true},
      {"127.0.0.1", "http://0177.0.0.1", true},
      {"127.0.0.1", "http://127.1", true},
      {"127.0.0.1", "http://127.0.1", true},
      {"127.0.0.1", "http://127.0.0.1.", true},
      {"127.0.0.1", "http://127.0.0.2", false},
      {"0x7f.1", "http://127.0.0.1", true},
      {"*.0.0.1x", "http://127.0.0.1", false},
      {"::1", "http://[::1]", false},
      {"[::1]", "http://[::1]:80", true},
      {"[::1]", "http://[0:0:0:0:0:0:0:1]", true},
      {"[::ffff:127.0.0.1]", "http://[::ffff:7f00:1]", true},
      {"bücher.example", "http://xn--bcher-kva.example", true},
      {"xn--bcher-kva.example", "http://BÜCHER.example", true},
      {"*.bücher.example", "http://a.bücher.example", true},
      {"bücher.example", "http://bucher.example", false},
      {"example.com", "http://ｅｘａｍｐｌｅ.com", true},
      {"example.com", "http://example。com", true},
      {"my_host.test", "http://my_host.test", true},
      {"a-b.test", "http://a-b.test", true},
  };
  std::size_t checked = 0;
  for (const Row& row : rows) {
    const auto pattern = parse_host_pattern(row.pattern);
    const auto target = parse_target(row.url);
    ASSERT_TRUE(target) << row.url << ": " << target.error().message;
    if (!pattern) {
      EXPECT_FALSE(row.matches) << row.pattern;
      continue;
    }
    EXPECT_EQ(matches(*pattern, target->host, target->port), row.matches) << row.pattern << " " << row.url;
    ++checked;
  }
  EXPECT_GE(checked, 58U);
}

TEST(HostMatch, RefusesUrlsThatParsersDisagreeAbout) {
  for (const std::string_view url : {"",
                                     "example.com",
                                     "//example.com",
                                     "ftp://example.com",
                                     "file:///etc/passwd",
                                     "javascript:alert(1)",
                                     "http://",
                                     "http:///x",
                                     "http://?x",
                                     "http://a b",
                                     "http://a\tb",
                                     "http://a\nb",
                                     "http://a\\@evil.test",
                                     "http:\\\\evil.test",
                                     "http://a..b",
                                     "http://.a",
                                     "http://a%2eb",
                                     "http://a:99999",
                                     "http://a:0",
                                     "http://a:-1",
                                     "http://a:8x",
                                     "http://[::1",
                                     "http://[::1]x",
                                     "http://[127.0.0.1]",
                                     "http://[fe80::1%eth0]",
                                     "http://256.1.1.1",
                                     "http://1.2.3.4.5",
                                     "http://0x1ffffffff",
                                     "http://09.1.1.1",
                                     "http://1.2.3.0x",
                                     "http://ex\xc2\xadmple.com",
                                     "http://a\xe2\x80\x8b.com",
                                     "http://\xff.com",
                                     "http://a\x7f.com",
                                     "http://exa<mple.com",
                                     "http://a|b",
                                     "http://a^b",
                                     "http://@",
                                     "http://a@"}) {
    const auto target = parse_target(url);
    if (url == "http://1.2.3.0x") {  // inet_aton reads this as 1.2.3.0
      EXPECT_TRUE(target && target->host.address);
      continue;
    }
    EXPECT_FALSE(target) << url << " -> " << (target ? target->host.name : "");
  }
  std::string long_host(300, 'a');
  EXPECT_FALSE(parse_host(long_host));
  EXPECT_FALSE(parse_host(std::string(64, 'a') + ".test"));
}

TEST(HostMatch, RefusesPatternsThatMeanNothing) {
  for (const std::string_view text : {"", "*.", "a*.com", "*a.com", "**", "*.*.com", "a b", "http://a", "a/b",
                                      "*.1.2.3.4", "a:0", "a:x", "*.:80"})
    EXPECT_FALSE(parse_host_pattern(text)) << text;
  for (const std::string_view text : {"*", "a.b", "*.a.b", "a.b:80", "*:80", "*.a.b:1", "[::1]:80", "[::1]"})
    EXPECT_EQ(to_text(*parse_host_pattern(text)), text);
}

TEST(HostMatch, PunycodeMatchesTheStandard) {
  EXPECT_EQ(*to_ascii_host("münchen.de"), "xn--mnchen-3ya.de");
  EXPECT_EQ(*to_ascii_host("例え.テスト"), "xn--r8jz45g.xn--zckzah");
  EXPECT_EQ(*to_ascii_host("ПРИМЕР.испытание"), "xn--e1afmkfd.xn--80akhbyknj4f");
  EXPECT_EQ(*to_ascii_host("παράδειγμα.δοκιμή"), "xn--hxajbheg2az3al.xn--jxalpdlp");
  EXPECT_EQ(*to_ascii_host("مثال.إختبار"), "xn--mgbh0fb.xn--kgbechtv");
  EXPECT_EQ(*to_ascii_host("faß.de"), "xn--fa-hia.de");
}

struct RangeRow {
  std::string_view text;
  AddressRange range;
};

TEST(AddressRange, KnowsEveryRangeThatIsNotPublic) {
  const RangeRow rows[] = {
      {"8.8.8.8", AddressRange::global},
      {"1.1.1.1", AddressRange::global},
      {"0.0.0.0", AddressRange::unspecified},
      {"0.1.2.3", AddressRange::unspecified},
      {"127.0.0.1", AddressRange::loopback},
      {"127.255.255.255", AddressRange::loopback},
      {"128.0.0.1", AddressRange::global},
      {"126.255.255.255", AddressRange::global},
      {"10.0.0.1", AddressRange::private_use},
      {"11.0.0.1", AddressRange::global},
      {"172.15.255.255", AddressRange::global},
      {"172.16.0.0", AddressRange::private_use},
      {"172.31.255.255", AddressRange::private_use},
      {"172.32.0.0", AddressRange::global},
      {"192.168.0.1", AddressRange::private_use},
      {"192.167.255.255", AddressRange::global},
      {"169.254.169.254", AddressRange::link_local},
      {"169.253.1.1", AddressRange::global},
      {"100.64.0.1", AddressRange::shared},
      {"100.63.255.255", AddressRange::global},
      {"100.127.255.255", AddressRange::shared},
      {"100.128.0.0", AddressRange::global},
      {"192.0.2.1", AddressRange::documentation},
      {"198.51.100.7", AddressRange::documentation},
      {"203.0.113.9", AddressRange::documentation},
      {"198.18.0.1", AddressRange::benchmarking},
      {"198.19.255.255", AddressRange::benchmarking},
      {"198.20.0.0", AddressRange::global},
      {"192.0.0.8", AddressRange::reserved},
      {"192.88.99.1", AddressRange::reserved},
      {"224.0.0.1", AddressRange::multicast},
      {"239.255.255.255", AddressRange::multicast},
      {"240.0.0.1", AddressRange::reserved},
      {"255.255.255.255", AddressRange::broadcast},
      {"::", AddressRange::unspecified},
      {"::1", AddressRange::loopback},
      {"::2", AddressRange::unspecified},
      {"::ffff:127.0.0.1", AddressRange::loopback},
      {"::ffff:10.0.0.1", AddressRange::private_use},
      {"::ffff:8.8.8.8", AddressRange::global},
      {"::127.0.0.1", AddressRange::loopback},
      {"::ffff:0:127.0.0.1", AddressRange::loopback},
      {"64:ff9b::7f00:1", AddressRange::loopback},
      {"64:ff9b::808:808", AddressRange::global},
      {"64:ff9b:1::1", AddressRange::private_use},
      {"2002:7f00:1::", AddressRange::loopback},
      {"2002:808:808::", AddressRange::global},
      {"2001:db8::1", AddressRange::documentation},
      {"3fff::1", AddressRange::documentation},
      {"2001::1", AddressRange::reserved},
      {"fc00::1", AddressRange::private_use},
      {"fd12::1", AddressRange::private_use},
      {"fe80::1", AddressRange::link_local},
      {"febf::1", AddressRange::link_local},
      {"fec0::1", AddressRange::private_use},
      {"ff02::1", AddressRange::multicast},
      {"2606:4700::1111", AddressRange::global},
      {"4000::1", AddressRange::reserved},
      {"fd00:ec2::254", AddressRange::private_use},
  };
  for (const RangeRow& row : rows) {
    const auto address = find_address(row.text);
    ASSERT_TRUE(address) << row.text;
    EXPECT_EQ(range_of(*address), row.range) << row.text << " is " << name(range_of(*address));
  }
  for (const std::string_view bad :
       {"", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", ":::", "1::2::3", "::1%lo", "[::1", "g::1"})
    EXPECT_FALSE(find_address(bad)) << bad;
}

TEST(ParseHost, TwoTrailingDotsAreAnEmptyLabelAndNotAnAddress) {
  for (const char* text : {"01..", "example.com..", "..", "a.."}) EXPECT_FALSE(parse_host(text)) << text;
}

}  // namespace
}  // namespace relay::policy
