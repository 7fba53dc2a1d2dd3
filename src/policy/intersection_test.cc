#include <random>

#include <gtest/gtest.h>

#include "policy/filesystem_policy.h"
#include "policy/limits_policy.h"
#include "policy/network_policy.h"
#include "policy/policy.h"

namespace relay::policy {
namespace {

NetworkRequest network(std::string_view text) {
  std::vector<Problem> problems;
  NetworkRequest request = read_network(*json::parse_object(text), "network", problems);
  EXPECT_TRUE(problems.empty()) << problems.front().message;
  return request;
}

std::vector<std::string> texts(const std::vector<HostPattern>& patterns) {
  std::vector<std::string> out;
  for (const HostPattern& pattern : patterns) out.push_back(to_text(pattern));
  return out;
}

TEST(Intersection, OfAllowListsKeepsTheNarrowerOfEachPair) {
  struct Row {
    std::string_view server, client;
    std::vector<std::string> allowed;
    std::size_t widening;
  };
  const Row rows[] = {
      {R"(["*.github.com"])", R"(["api.github.com"])", {"api.github.com"}, 0},
      {R"(["api.github.com"])", R"(["*.github.com"])", {"api.github.com"}, 1},
      {R"(["*"])", R"(["a.test"])", {"a.test"}, 0},
      {R"(["a.test"])", R"(["*"])", {"a.test"}, 1},
      {R"([])", R"(["*"])", {}, 1},
      {R"(["a.test"])", R"(["b.test"])", {}, 1},
      {R"(["a.test"])", R"([])", {}, 0},
      {R"(["*.x.test"])", R"(["*.a.x.test","x.test"])", {"*.a.x.test", "x.test"}, 0},
      {R"(["*.a.x.test"])", R"(["*.x.test"])", {"*.a.x.test"}, 1},
      {R"(["a.test:443"])", R"(["a.test"])", {"a.test:443"}, 1},
      {R"(["a.test"])", R"(["a.test:443"])", {"a.test:443"}, 0},
      {R"(["a.test:80"])", R"(["a.test:443"])", {}, 1},
      {R"(["a.test","*.b.test"])", R"(["*"])", {"a.test", "*.b.test"}, 1},
      {R"(["evilx.test"])", R"(["*.x.test"])", {}, 1},
  };
  for (const Row& row : rows) {
    const NetworkPolicy server =
        apply_defaults(network(fmt::format(R"({{"allowedDomains":{}}})", row.server)));
    const auto result = intersect(server, network(fmt::format(R"({{"allowedDomains":{}}})", row.client)));
    EXPECT_EQ(texts(result.policy.allowed), row.allowed) << row.server << " " << row.client;
    EXPECT_EQ(result.widening.size(), row.widening) << row.server << " " << row.client;
  }
}

TEST(Intersection, DenyListsUniteNumbersShrinkSwitchesHarden) {
  const NetworkPolicy server = apply_defaults(network(
      R"({"allowedDomains":["*"],"deniedDomains":["evil.com"],"maxBodyBytes":100,"maxRedirects":3})"));
  const auto result = intersect(
      server,
      network(
          R"({"allowedDomains":["evil.com"],"deniedDomains":["b.test"],"denyIpLiterals":false,"blockPrivateRanges":false,"maxBodyBytes":500,"maxRedirects":1})"));
  EXPECT_EQ(texts(result.policy.denied), (std::vector<std::string>{"evil.com", "b.test"}));
  EXPECT_TRUE(result.policy.deny_ip_literals);
  EXPECT_TRUE(result.policy.block_private_ranges);
  EXPECT_EQ(result.policy.max_body_bytes, 100);
  EXPECT_EQ(result.policy.max_redirects, 1);
  EXPECT_EQ(result.widening.size(), 4U);
  EXPECT_FALSE(check_url(result.policy, "https://evil.com/"));
  EXPECT_EQ(intersect(server, NetworkRequest{}).policy, server);
}

TEST(Intersection, AskingForExactlyWhatTheServerGivesIsNotMore) {
  const NetworkPolicy server = apply_defaults(network(
      R"({"allowedDomains":["*"],"deniedDomains":["evil.com"],"maxBodyBytes":100,"maxRedirects":3})"));
  const auto same = intersect(
      server,
      network(
          R"({"deniedDomains":["evil.com"],"denyIpLiterals":true,"blockPrivateRanges":true,"maxBodyBytes":100,"maxRedirects":3})"));
  EXPECT_EQ(same.policy, server);
  EXPECT_TRUE(same.widening.empty());
  NetworkPolicy lenient = server;
  lenient.deny_ip_literals = false;
  const auto open = intersect(lenient, network(R"({"denyIpLiterals":false})"));
  EXPECT_FALSE(open.policy.deny_ip_literals);
  EXPECT_TRUE(open.widening.empty());
  EXPECT_TRUE(intersect(lenient, network(R"({"denyIpLiterals":true})")).policy.deny_ip_literals);
  const LimitsPolicy limits;
  const auto equal = intersect(limits, LimitsRequest{limits.timeout_ms, limits.mem_mb, limits.stdout_bytes});
  EXPECT_EQ(equal.policy, limits);
  EXPECT_TRUE(equal.widening.empty());
}

TEST(Intersection, SaysWhichHostIsTooMuchAndWhy) {
  const NetworkPolicy server =
      apply_defaults(network(R"({"allowedDomains":["a.test","b.test"],"deniedDomains":["b.test"]})"));
  EXPECT_EQ(intersect(server, network(R"({"allowedDomains":["a.test","b.test","c.test"]})")).widening,
            (std::vector<std::string>{"network.allowedDomains: b.test is denied by the server",
                                      "network.allowedDomains: c.test is more than the server allows"}));
}

TEST(Network, EachRefusalNamesItsRule) {
  NetworkPolicy policy =
      apply_defaults(network(R"({"allowedDomains":["*"],"deniedDomains":["evil.com:443"]})"));
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"https://u@a.test", "credentials in a URL are not allowed: a.test"},
      {"https://evil.com", "domain denied: evil.com"},
      {"https://1.1.1.1", "IP literals are not allowed: 1.1.1.1"},
  };
  for (const auto& [url, message] : rows) {
    const auto target = check_url(policy, url);
    ASSERT_FALSE(target) << url;
    EXPECT_EQ(target.error().message, message);
  }
  EXPECT_TRUE(check_url(policy, "http://evil.com"));
  policy.allowed.clear();
  EXPECT_EQ(check_url(policy, "https://a.test").error().message,
            "domain not allowed: a.test (policy.network.allowedDomains grants it)");
}

// A limit that is off by one at its edge refuses the value that the documentation names.
TEST(PolicyReader, TheFirstAndTheLastValueOfARangeAreInIt) {
  struct RangeRow {
    std::string_view text;
    std::size_t problems;
  };
  const RangeRow limits[] = {
      {R"({"timeoutMs":1,"memMb":1,"stdoutBytes":0})", 0},
      {R"({"timeoutMs":86400000,"memMb":1048576,"stdoutBytes":1073741824})", 0},
      {R"({"timeoutMs":0,"memMb":0,"stdoutBytes":-1})", 3},
      {R"({"timeoutMs":86400001,"memMb":1048577,"stdoutBytes":1073741825})", 3},
      {R"({"timeoutMs":1.5,"memMb":"1","stdoutBytes":null})", 3},
  };
  for (const RangeRow& row : limits) {
    std::vector<Problem> problems;
    read_limits(*json::parse_object(row.text), "limits", problems);
    EXPECT_EQ(problems.size(), row.problems) << row.text;
  }
  const RangeRow networks[] = {
      {R"({"maxBodyBytes":0,"maxRedirects":0})", 0},
      {R"({"maxBodyBytes":4294967296,"maxRedirects":20})", 0},
      {R"({"maxBodyBytes":4294967297,"maxRedirects":21})", 2},
      {R"({"denyIpLiterals":"yes","blockPrivateRanges":1})", 2},
      {R"({"allowedDomains":"a.test","deniedDomains":["b.test",7,"a*"]})", 3},
  };
  for (const RangeRow& row : networks) {
    std::vector<Problem> problems;
    read_network(*json::parse_object(row.text), "network", problems);
    EXPECT_EQ(problems.size(), row.problems) << row.text;
  }
}

// A list that cannot be read must not count as absent: absent means "no restriction of its own".
TEST(PolicyReader, AListOfTheWrongTypeIsAnEmptyOne) {
  std::vector<Problem> problems;
  const NetworkRequest request =
      read_network(*json::parse_object(R"({"allowedDomains":"*"})"), "network", problems);
  ASSERT_TRUE(request.allowed);
  EXPECT_TRUE(request.allowed->empty());
  EXPECT_FALSE(request.denied);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].path, "network.allowedDomains");
}

TEST(Network, AFreshPolicyReachesNothing) {
  EXPECT_FALSE(check_url(NetworkPolicy{}, "https://example.com"));
  NetworkPolicy open;
  open.allowed.push_back(*parse_host_pattern("*"));
  EXPECT_TRUE(check_url(open, "https://example.com"));
  EXPECT_FALSE(check_url(open, "https://u:p@example.com"));
  for (const char* url : {"http://93.184.216.34", "http://2130706433", "http://[::1]"})
    EXPECT_FALSE(check_url(open, url)) << url;
  open.deny_ip_literals = false;
  EXPECT_TRUE(check_url(open, "http://93.184.216.34"));
  for (const char* url :
       {"http://127.1", "http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]", "http://0"})
    EXPECT_FALSE(check_url(open, url)) << url;
  const Target target = parse_target("http://example.com/").value();
  EXPECT_EQ(check_address(open, target, *find_address("10.1.2.3")).error().kind, ErrorKind::denied);
  open.block_private_ranges = false;
  EXPECT_TRUE(check_address(open, target, *find_address("10.1.2.3")));
}

// A name and its port in allowedDomains open exactly that place, and no name that could be somebody else's
// does.
TEST(Network, OneLocalPlaceIsAllowedByItsName) {
  NetworkPolicy policy;
  for (const char* text :
       {"localhost:3000", "nas.local:8080", "10.0.0.5:80", "*.home.arpa:81", "db", "example.com:443", "*"})
    policy.allowed.push_back(parse_host_pattern(text).value());
  policy.deny_ip_literals = false;
  const auto reaches = [&](const char* url, const char* address) {
    return check_address(policy, parse_target(url).value(), *find_address(address)).has_value();
  };
  EXPECT_TRUE(reaches("http://localhost:3000/x", "127.0.0.1"));
  EXPECT_TRUE(reaches("http://LOCALHOST.:3000/", "::1"));
  EXPECT_TRUE(reaches("http://nas.local:8080/", "192.168.1.9"));
  EXPECT_TRUE(reaches("http://10.0.0.5/", "10.0.0.5"));
  EXPECT_FALSE(reaches("http://localhost:3001/", "127.0.0.1"));
  EXPECT_FALSE(reaches("http://10.0.0.6/", "10.0.0.6"));
  EXPECT_FALSE(reaches("http://db/", "10.0.0.7"));                 // no port
  EXPECT_FALSE(reaches("http://x.home.arpa:81/", "10.0.0.7"));     // not one place
  EXPECT_FALSE(reaches("https://example.com:443/", "127.0.0.1"));  // a public name may be anybody's
  EXPECT_TRUE(reaches("https://example.com:443/", "93.184.216.34"));
  EXPECT_TRUE(check_url(policy, "http://10.0.0.5/"));
  EXPECT_FALSE(check_url(policy, "http://10.0.0.6/"));
}

TEST(Intersection, NeverReachesWhatEitherSideDoesNot) {
  std::mt19937 random(11);
  const std::string_view names[] = {"*",          "a.test",   "*.a.test", "x.a.test", "*.x.a.test",
                                    "b.test:443", "*.b.test", "*:443",    "*.test",   "c.b.test:80"};
  const std::string_view urls[] = {"http://a.test",      "https://a.test", "http://x.a.test",
                                   "https://y.x.a.test", "https://b.test", "http://b.test",
                                   "http://c.b.test",    "https://q.test", "http://q.other"};
  const auto some = [&] {
    std::vector<HostPattern> patterns;
    for (unsigned i = random() % 4; i > 0; --i)
      patterns.push_back(*parse_host_pattern(names[random() % std::size(names)]));
    return patterns;
  };
  for (int round = 0; round < 2000; ++round) {
    NetworkPolicy server;
    server.allowed = some();
    server.denied = some();
    NetworkRequest client;
    if (random() % 4) client.allowed = some();
    if (random() % 2) client.denied = some();
    const NetworkPolicy alone{client.allowed.value_or(std::vector{*parse_host_pattern("*")}),
                              client.denied.value_or(std::vector<HostPattern>{})};
    const auto both = intersect(server, client);
    for (const std::string_view url : urls) {
      const bool reaches = check_url(both.policy, url).has_value();
      EXPECT_EQ(reaches, check_url(server, url).has_value() && check_url(alone, url).has_value()) << url;
    }
  }
}

TEST(Limits, TakeTheMinimumAndReportMore) {
  std::vector<Problem> problems;
  const auto request =
      read_limits(*json::parse_object(R"({"timeoutMs":30000,"memMb":512})"), "limits", problems);
  const auto result = intersect(LimitsPolicy{}, request);
  EXPECT_EQ(result.policy, (LimitsPolicy{30000, 256, 1048576}));
  EXPECT_EQ(result.widening, std::vector<std::string>{"limits.memMb: 512 is over the server's 256"});
  read_limits(*json::parse_object(R"({"timeoutMs":0,"memMB":1})"), "limits", problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].message, "is not known; did you mean \"memMb\"?");
}

FilesystemRequest files(std::string_view text) {
  std::vector<Problem> problems;
  FilesystemRequest request = read_filesystem(*json::parse_object(text), "filesystem", problems);
  EXPECT_TRUE(problems.empty());
  return request;
}

TEST(Filesystem, ComparesComponentsAndDenies) {
  FilesystemPolicy policy;
  policy.denied = {"/host/project/.git"};
  EXPECT_TRUE(may_write(policy, "/tmp"));
  EXPECT_TRUE(may_write(policy, "/tmp//a/./b"));
  EXPECT_FALSE(may_write(policy, "/tmpfoo"));
  EXPECT_FALSE(may_write(policy, "/tmp/../etc"));
  EXPECT_FALSE(may_write(policy, "tmp"));
  EXPECT_TRUE(may_read(policy, "/host/project/.gitignore"));
  EXPECT_FALSE(may_read(policy, "/host/project/.git/config"));
  EXPECT_FALSE(may_read(policy, std::string_view("/tmp\0x", 6)));
}

TEST(Filesystem, KnowsWhatLiesBelow) {
  const FilesystemPolicy policy{{"/host/p/src", "/a"}, {"/tmp"}, {"/tmp/x/key", "/a/b"}};
  EXPECT_TRUE(may_pass(policy, "/"));
  EXPECT_TRUE(may_pass(policy, "/host/p"));
  EXPECT_FALSE(may_read(policy, "/host/p"));
  EXPECT_FALSE(may_pass(policy, "/host/q"));
  EXPECT_FALSE(may_pass(policy, "/a/b"));
  EXPECT_FALSE(may_pass(policy, "relative"));
  EXPECT_TRUE(may_read_all_below(policy, "/host/p/src/deep"));
  EXPECT_FALSE(may_read_all_below(policy, "/a"));
  EXPECT_TRUE(may_read_all_below(policy, "/a/c"));
  EXPECT_FALSE(may_read_all_below(policy, "/host"));
  EXPECT_FALSE(may_write_all_below(policy, "/tmp"));
  EXPECT_FALSE(may_write_all_below(policy, "/tmp/x"));
  EXPECT_TRUE(may_write_all_below(policy, "/tmp/y"));
  EXPECT_FALSE(may_write_all_below(policy, "/a/c"));
  EXPECT_FALSE(may_write_all_below(policy, "/tmp/x/key"));
}

TEST(Filesystem, PathsOfARuleMeanOneThing) {
  for (const std::string_view bad : {"", "tmp", "/a/../b", "/..", "../a"})
    EXPECT_FALSE(normalise_path(bad)) << bad;
  EXPECT_FALSE(normalise_path(std::string_view("/a\0b", 4)));
  EXPECT_EQ(normalise_path("//a/./b/").value(), "/a/b");
  EXPECT_EQ(normalise_path("/").value(), "/");
  EXPECT_EQ(normalise_path("/a..b/..c").value(), "/a..b/..c");
}

TEST(RunPolicy, ACallsPolicyHasAStrictShape) {
  const RunPolicy server;
  const auto complaint = [&](std::string_view text) {
    const auto narrowed = narrow(server, *json::parse_object(text));
    return narrowed ? std::string() : narrowed.error().message;
  };
  EXPECT_EQ(complaint(R"({"filesystem":{"denied":["/a"]},"network":{},"limits":{"memMb":1}})"), "");
  EXPECT_NE(complaint(R"({"filesystem":[]})").find("policy.filesystem: must be an object"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"network":"off"})").find("policy.network: must be an object"), std::string::npos);
  EXPECT_NE(complaint(R"({"limits":[1]})").find("policy.limits: must be an object"), std::string::npos);
  EXPECT_NE(complaint(R"({"limits":null})").find("policy.limits"), std::string::npos);
  EXPECT_NE(complaint(R"({"netwrok":{}})").find("did you mean \"network\""), std::string::npos);
  EXPECT_NE(complaint(R"({"limits":{"somethingElse":1}})").find("is not known; known are timeoutMs, memMb"),
            std::string::npos)
      << complaint(R"({"limits":{"somethingElse":1}})");
  EXPECT_NE(complaint(R"({"filesystem":{"deny":[]}})").find("policy.filesystem.deny"), std::string::npos);
  EXPECT_NE(complaint(R"({"limits":{"memMb":"1"}})").find("policy.limits.memMb"), std::string::npos);
}

TEST(RunPolicy, DeniedPathsReachTheManifest) {
  const auto narrowed = narrow({}, *json::parse_object(R"({"filesystem":{"denied":["/host/x"]}})"));
  ASSERT_TRUE(narrowed);
  EXPECT_FALSE(may_read(narrowed->policy.filesystem, "/host/x/y"));
  EXPECT_EQ(json::write(narrowed->policy.to_json().at("filesystem").at("denied")), R"(["/host/x"])");
}

TEST(Policy, WhatMayBeWrittenComesFromTheMountsUnlessItIsSaid) {
  std::vector<Problem> problems;
  const auto writable = [&](std::string_view text) {
    return read_policy(*json::parse_object(text), {"/tmp", "/host/w"}, "$.policy", problems)
        .run.filesystem.writable;
  };
  EXPECT_EQ(writable("{}"), (std::vector<std::string>{"/tmp", "/host/w"}));
  EXPECT_EQ(writable(R"({"filesystem":{"readonly":[]}})"), (std::vector<std::string>{"/tmp", "/host/w"}));
  EXPECT_TRUE(writable(R"({"filesystem":{"writable":[]}})").empty());
  EXPECT_TRUE(problems.empty());
  read_policy(*json::parse_object(R"({"deny":["("],"filesystem":{"denied":["x"]}})"), {}, "$.policy",
              problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].path, "$.policy.deny[0]");
  EXPECT_EQ(problems[1].path, "$.policy.filesystem.denied[0]");
}

TEST(Filesystem, IntersectionIsNeverWiderThanEitherSide) {
  const auto result =
      intersect(FilesystemPolicy{},
                files(R"({"readonly":["/host"],"writable":["/tmp/a","/etc"],"denied":["/host/x"]})"));
  EXPECT_EQ(result.policy.writable, std::vector<std::string>{"/tmp/a"});
  EXPECT_EQ(result.widening.size(), 1U);
  EXPECT_FALSE(may_read(result.policy, "/tmp/b"));
  EXPECT_FALSE(may_read(result.policy, "/host/x/y"));
  std::mt19937 random(3);
  const std::string_view roots[] = {"/", "/tmp", "/tmp/a", "/out", "/host", "/host/p"};
  const std::string_view paths[] = {"/", "/tmp", "/tmp/a/b", "/tmpx", "/out/z", "/host/p/q", "/host/r"};
  const auto some = [&] {
    std::vector<std::string> out;
    for (unsigned i = random() % 3; i > 0; --i) out.emplace_back(roots[random() % std::size(roots)]);
    return out;
  };
  for (int round = 0; round < 2000; ++round) {
    const FilesystemPolicy server{some(), some(), some()};
    const FilesystemRequest client{some(), some(), some()};
    const FilesystemPolicy alone{*client.readonly, *client.writable, *client.denied};
    const auto both = intersect(server, client);
    for (const std::string_view path : paths) {
      EXPECT_EQ(may_write(both.policy, path), may_write(server, path) && may_write(alone, path)) << path;
      EXPECT_EQ(may_read(both.policy, path), may_read(server, path) && may_read(alone, path)) << path;
    }
  }
}

}  // namespace
}  // namespace relay::policy
