#include "policy/host_match.h"

#include <ios>
#include <utility>

#include <gtest/gtest.h>

#include "policy/punycode.h"

namespace relay::policy {
namespace {

struct HostRow {
  std::string_view pattern;
  std::string_view url;
  bool matches;
};

TEST(HostMatch, MatchesAtDotBoundariesOnly) {
  const HostRow rows[] = {
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
  for (const HostRow& row : rows) {
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
  EXPECT_EQ(*to_ascii_host("\xf0\x9f\x92\xa9.la"), "xn--ls8h.la");
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

TEST(ParseHost, TheLongestNameAndTheLongestLabelOfTheStandardAreAccepted) {
  const std::string label(63, 'a');
  const std::string name = label + "." + label + "." + label + "." + std::string(61, 'a');
  ASSERT_EQ(name.size(), 253U);
  EXPECT_TRUE(parse_host(name));
  EXPECT_FALSE(parse_host(name + "a"));
  EXPECT_FALSE(parse_host(label + "a.test"));
}

TEST(ParseHost, EveryLetterAndDigitIsAHostCharacterAndTheirNeighboursAreNot) {
  for (const char c : std::string_view("az09-_")) EXPECT_TRUE(parse_host(std::string("x") + c + "x")) << c;
  for (const char c : std::string_view("`{/:~+,;=!$&'()*\"<>^|"))
    EXPECT_FALSE(parse_host(std::string("x") + c + "x")) << c;
}

// A name whose last label is a number reaches an address, so it must not pass as a name.
TEST(ParseHost, WhatResolversReadAsAnAddressIsNeverAName) {
  struct LooseRow {
    std::string_view text, address;
  };
  const LooseRow rows[] = {
      {"255.1", "255.0.0.1"},
      {"1.2.65535", "1.2.255.255"},
      {"1.16777215", "1.255.255.255"},
      {"4294967295", "255.255.255.255"},
      {"0X7F.1", "127.0.0.1"},
      {"0", "0.0.0.0"},
      {"00.0.0.010", "0.0.0.8"},
      {"255.255.255.255", "255.255.255.255"},
      {"0xff.255.0377.1", "255.255.255.1"},
  };
  for (const LooseRow& row : rows) {
    const auto host = parse_host(row.text);
    ASSERT_TRUE(host) << row.text;
    EXPECT_EQ(host->name, row.address) << row.text;
    EXPECT_TRUE(host->address) << row.text;
  }
  for (const std::string_view text : {"256.1", "1.256.1", "1.2.256.1", "1.2.65536", "1.16777216",
                                      "4294967296", "1.2.3.4.5", "a.1", "a.0x1", "1.0xg", "08", "1.2.3.08"})
    EXPECT_FALSE(parse_host(text)) << text;
  for (const std::string_view text : {"1.2.3.4x", "1.a", "a1", "0y1"}) {
    const auto host = parse_host(text);
    ASSERT_TRUE(host) << text;
    EXPECT_FALSE(host->address) << text;
  }
}

TEST(ParseHost, AnAddressInBracketsIsReadWithThemAndOnlyIfBothAreThere) {
  EXPECT_TRUE(find_address("[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]"));
  EXPECT_TRUE(find_address("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"));
  for (const std::string_view text : {"[]", "[", "]", "::1]", "[::1", "[[::1]]"})
    EXPECT_FALSE(find_address(text)) << text;
}

// The host of a URL with an escape is another one for every library that decodes at another moment; the
// answer names the escape, so that the caller knows what to write instead.
TEST(ParseTarget, AnEscapeInAHostIsRefusedByName) {
  const auto target = parse_target("http://a%2eb/");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().message, "the host has escapes in it");
  EXPECT_TRUE(parse_target("http://a.b/%2e"));
}

TEST(ParseTarget, SaysWhatIsWrongWithAUrl) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"http://a b/", "the URL has a blank, a control character or a backslash in it"},
      {"a.b", "the URL has no scheme"},
      {"ftp://a.b", "only http and https are allowed"},
      {"http://a:65536/", "the URL has an invalid port"},
      {"http://", "the host is empty or too long"},
      {"http://.a/", "the host has an empty label"},
      {"http://a../", "the host has an empty label"},
      {"http://a|b/", "the host has a character that hosts do not have"},
      {"http://256.1.1.1/", "the host looks like an address but is none"},
      {"http://[1.2.3.4]/", "not an IPv6 address in brackets"},
  };
  for (const auto& [url, message] : rows) {
    const auto target = parse_target(url);
    ASSERT_FALSE(target) << url;
    EXPECT_EQ(target.error().message, message) << url;
  }
}

TEST(ParseTarget, PortsAndCredentialsAreReadFromTheAuthorityAlone) {
  EXPECT_EQ(parse_target("http://a.b:65535/")->port, 65535);
  EXPECT_EQ(parse_target("http://a.b:1/")->port, 1);
  EXPECT_EQ(parse_target("https://a.b/:8080")->port, 443);
  EXPECT_EQ(parse_target("http://[::1]:8080/")->port, 8080);
  EXPECT_FALSE(parse_target("http://a.b/x@y")->has_credentials);
  EXPECT_TRUE(parse_target("http://x@a.b/")->has_credentials);
}

TEST(HostMatch, APatternSaysWhatIsWrongWithIt) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"a:x", "\"a:x\" has an invalid port"},
      {"a*.b", "\"a*.b\": a star stands alone or before the first dot, as in *.example.com"},
      {"*.1.2.3.4", "\"*.1.2.3.4\": an address has no subdomains"},
      {"a..b", "\"a..b\": the host has an empty label"},
  };
  for (const auto& [text, message] : rows) {
    const auto pattern = parse_host_pattern(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_EQ(pattern.error().message, message);
  }
  EXPECT_EQ(to_text(*parse_host_pattern("  a.b ")), "a.b");
}

// An allow list is narrowed by what a call asks for; an address is nobody's subdomain.
TEST(HostMatch, TheIntersectionOfTwoPatternsIsTheNarrowerOne) {
  struct PairRow {
    std::string_view a, b, common;
  };
  const PairRow rows[] = {
      {"*", "*", "*"},
      {"*:80", "a.b", "a.b:80"},
      {"a.b", "*:80", "a.b:80"},
      {"a.b:80", "a.b:81", ""},
      {"a.b:80", "a.b:80", "a.b:80"},
      {"a.b", "a.b", "a.b"},
      {"a.b", "a.c", ""},
      {"*.b", "*.b", "*.b"},
      {"*.b", "*.a.b", "*.a.b"},
      {"*.a.b", "*.b", "*.a.b"},
      {"*.b", "a.b", "a.b"},
      {"a.b", "*.b", "a.b"},
      {"*.b", "a.cb", ""},
      {"a.cb", "*.b", ""},
      {"1.2.3.4", "1.2.3.4", "1.2.3.4"},
      {"1.2.3.4", "*.b", ""},
  };
  for (const PairRow& row : rows) {
    const auto common = intersect(*parse_host_pattern(row.a), *parse_host_pattern(row.b));
    EXPECT_EQ(common ? to_text(*common) : "", row.common) << row.a << " " << row.b;
  }
  EXPECT_TRUE(covers(*parse_host_pattern("*.b"), *parse_host_pattern("a.b")));
  EXPECT_FALSE(covers(*parse_host_pattern("a.b"), *parse_host_pattern("*.b")));
}

// A block that is one bit too wide or too narrow opens an internal network or closes the Internet.
TEST(AddressRange, TheNeighboursOfEachSpecialBlockAreJudgedByThemselves) {
  const RangeRow rows[] = {
      {"3fff:fff::1", AddressRange::documentation},
      {"3fff:1000::1", AddressRange::global},
      {"3ffe::1", AddressRange::global},
      {"2fff::1", AddressRange::global},
      {"2001:db7::1", AddressRange::global},
      {"2001:1ff::1", AddressRange::reserved},
      {"2001:200::1", AddressRange::global},
      {"2003::1", AddressRange::global},
      {"fbff::1", AddressRange::reserved},
      {"fdff::1", AddressRange::private_use},
      {"fe00::1", AddressRange::reserved},
      {"fe7f::1", AddressRange::reserved},
      {"feff::1", AddressRange::private_use},
      {"fd80::1", AddressRange::private_use},
      {"7f80::1", AddressRange::reserved},
      {"7fc0::1", AddressRange::reserved},
      {"::fffe:127.0.0.1", AddressRange::reserved},
      {"::feff:127.0.0.1", AddressRange::reserved},
      {"1::ffff:127.0.0.1", AddressRange::reserved},
      {"::ffff:0:8.8.8.8", AddressRange::global},
      {"::ffff:1:127.0.0.1", AddressRange::reserved},
      {"::ff00:0:127.0.0.1", AddressRange::reserved},
      {"::ff:0:127.0.0.1", AddressRange::reserved},
      {"1::ffff:0:127.0.0.1", AddressRange::reserved},
      {"::10.0.0.1", AddressRange::private_use},
      {"::8.8.8.8", AddressRange::global},
      {"64:ff9b::1:7f00:1", AddressRange::reserved},
      {"64:ff9a::7f00:1", AddressRange::reserved},
      {"64:ff9b:2::1", AddressRange::reserved},
      {"1::", AddressRange::reserved},
      {"1::1", AddressRange::reserved},
      {"1fff::1", AddressRange::reserved},
      {"2000::1", AddressRange::global},
      {"fe80::", AddressRange::link_local},
  };
  for (const RangeRow& row : rows) {
    const auto address = find_address(row.text);
    ASSERT_TRUE(address) << row.text;
    EXPECT_EQ(range_of(*address), row.range) << row.text << " is " << name(range_of(*address));
  }
}

// Two spellings of one host must come to the same name, or a denied host is reached by the other spelling.
TEST(Punycode, CapitalsOfTheCommonAlphabetsBecomeSmall) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"ÀÖØÞ", "àöøþ"}, {"ΑΡΩ", "αρω"}, {"АЯ", "ая"}, {"ЀЏ", "ѐџ"},
      {"ĀĶ", "āķ"},     {"ĹŇ", "ĺň"},   {"ŊŶ", "ŋŷ"}, {"Ａ～Ｚ", "a~z"},
  };
  for (const auto& [upper, small] : rows) EXPECT_EQ(*to_ascii_host(upper), *to_ascii_host(small)) << upper;
  // The multiplication sign stands between the capitals; small letters and letters without a pair stay.
  for (const std::string_view text : {"×", "÷", "à", "ÿ", "ß", "ā", "ĸ", "ĺ", "ŉ", "ŋ", "я", "ѐ", "α", "ΐ"})
    for (const std::string_view other : {"÷", "×", "ÿ", "à"})
      if (text != other) {
        EXPECT_NE(*to_ascii_host(text), *to_ascii_host(other)) << text << " " << other;
      }
  EXPECT_EQ(*to_ascii_host("a。b．c｡d"), "a.b.c.d");
}

TEST(Punycode, InvisibleCharactersAreRefusedAndTheirVisibleNeighboursAreNot) {
  const auto utf8 = [](char32_t c) {
    std::string out;
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xc0 | c >> 6U);
    } else if (c < 0x10000) {
      out += static_cast<char>(0xe0 | c >> 12U);
      out += static_cast<char>(0x80 | (c >> 6U & 0x3fU));
    } else {
      out += static_cast<char>(0xf0 | c >> 18U);
      out += static_cast<char>(0x80 | (c >> 12U & 0x3fU));
      out += static_cast<char>(0x80 | (c >> 6U & 0x3fU));
    }
    if (c >= 0x80) out += static_cast<char>(0x80 | (c & 0x3fU));
    return "x" + out + "x";
  };
  for (const char32_t c :
       {0x00U,   0x20U,   0x7fU,   0x80U,   0xa0U,   0xadU,   0x34fU,   0x61cU,   0x115fU, 0x1160U,
        0x17b4U, 0x17b5U, 0x180bU, 0x180fU, 0x2000U, 0x200fU, 0x2028U,  0x202fU,  0x205fU, 0x206fU,
        0x3000U, 0xfe00U, 0xfe0fU, 0xfeffU, 0xfff0U, 0xffffU, 0xe0000U, 0x10ffffU})
    EXPECT_FALSE(to_ascii_host(utf8(c))) << std::hex << static_cast<std::uint32_t>(c);
  for (const char32_t c :
       {0x21U,   0x7eU,   0xa1U,   0xacU,   0xaeU,   0x34eU,  0x350U,  0x61bU,   0x61dU,  0x115eU,
        0x1161U, 0x17b3U, 0x17b6U, 0x180aU, 0x1810U, 0x1fffU, 0x2010U, 0x2027U,  0x2030U, 0x205eU,
        0x2070U, 0x3001U, 0xfdffU, 0xfe10U, 0xfefeU, 0xff00U, 0xffefU, 0x10000U, 0xdffffU})
    EXPECT_TRUE(to_ascii_host(utf8(c))) << std::hex << static_cast<std::uint32_t>(c);
}

}  // namespace
}  // namespace relay::policy
