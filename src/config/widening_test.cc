#include "config/widening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::config {
namespace {

Config config_of(const std::string& text) {
  ConfigSources sources;
  sources.file = "/tmp/relay.config.json";
  sources.state = "/tmp/relay-state-that-is-not-there";
  sources.text = text;
  LoadedConfig loaded = load_config(sources);
  EXPECT_THAT(loaded.problems, testing::IsEmpty()) << text;
  return loaded.config;
}

std::string widened(const std::string& before, const std::string& after) {
  return describe(find_widenings(config_of(before), config_of(after)));
}

std::string server_widened(const std::string& before, const std::string& after) {
  const auto whole = [](const std::string& entry) {
    return config_of(entry.empty() ? "{}" : R"({"mcps": [{"name": "a", )" + entry + "}]}");
  };
  return describe(find_server_widenings(whole(before), whole(after), "a"));
}

TEST(Widening, ABudgetOfAToolGrantsNothing) {
  const Config plain = config_of("{}");
  const Config bounded = config_of(R"({"tools": {"read": {"resultBytes": 2048}}})");
  EXPECT_EQ(describe(find_widenings(plain, bounded)), "");
  EXPECT_EQ(describe(find_widenings(bounded, plain)), "");
}

TEST(Widening, EachStepHasADirection) {
  struct Step {
    const char* loose;
    const char* strict;
    const char* path;
  };
  // From strict to loose widens, the other way does not.
  for (const Step& step : {
           Step{R"({"policy": {"mode": "open"}})", R"({"policy": {"mode": "guarded"}})", "policy.mode"},
           Step{R"({"policy": {"mode": "guarded"}})", R"({"policy": {"mode": "readonly"}})", "policy.mode"},
           Step{R"({})", R"({"policy": {"deny": ["x"]}})", "policy.deny"},
           Step{R"({"policy": {"allow": ["x"]}})", R"({})", "policy.allow"},
           Step{R"({"policy": {"confirmTier3": false}})", R"({})", "policy.confirmTier3"},
           Step{R"({"policy": {"agentMayConfirm": true}})", R"({})", "policy.agentMayConfirm"},
           Step{R"({"policy": {"network": {"allowedDomains": ["a.org"]}}})", R"({})",
                "policy.network.allowedDomains"},
           Step{R"({"policy": {"network": {"blockPrivateRanges": false}}})", R"({})",
                "policy.network.blockPrivateRanges"},
           Step{R"({"policy": {"limits": {"memMb": 512}}})", R"({})", "policy.limits.memMb"},
           Step{R"({"auth": {"mode": "none"}})", R"({"auth": {"mode": "token"}})", "auth.mode"},
           Step{R"({"audit": {"chain": false}})", R"({})", "audit.chain"},
           Step{R"({})", R"({"audit": {"onFailure": "refuse"}})", "audit.onFailure"},
           Step{R"({"cors": {"allowedOrigins": ["*"]}})", R"({})", "cors.allowedOrigins"},
           Step{R"({})", R"({"toolsets": ["files"]})", "toolsets"},
           Step{R"({})", R"({"tools": {"read": {"enabled": false}}})", "tools.read.enabled"},
           Step{R"({})", R"({"policy": {"filesystem": {"writable": ["/tmp"]}}})",
                "policy.filesystem.writable"},
           Step{R"({})", R"({"policy": {"filesystem": {"denied": ["/tmp/x"]}}})", "policy.filesystem.denied"},
           Step{R"({"mounts": [{"name": "m", "path": "/usr"}]})", R"({})", "mounts.m"},
           Step{R"({"mounts": [{"name": "m", "path": "/usr", "mode": "rw"}]})",
                R"({"mounts": [{"name": "m", "path": "/usr"}]})", "mounts.m.mode"},
           Step{R"({"mounts": [{"name": "m", "path": "/usr"}]})",
                R"({"mounts": [{"name": "m", "path": "/usr", "deny": ["x"]}]})", "mounts.m.deny"},
           Step{R"({"mounts": [{"name": "m", "path": "/usr"}]})",
                R"({"mounts": [{"name": "m", "path": "/usr", "allow": ["x"]}]})", "mounts.m.allow"},
       }) {
    EXPECT_THAT(widened(step.strict, step.loose), testing::StartsWith(step.path)) << step.loose;
    EXPECT_EQ(widened(step.loose, step.strict), "") << step.strict;
  }
}

TEST(Widening, WhatIsNotKnownToTightenWaitsInBothDirections) {
  for (const char* other :
       {R"({"audit": {"path": "x"}})", R"({"signingKeyPath": "x"})", R"({"cacheDir": "x"})",
        R"({"server": {"bind": "::1"}})", R"({"npm": {"dependencies": {"a": "1"}}})",
        R"({"gateway": {"prefix": "none"}})", R"({"executor": {"cgroup": "off"}})"}) {
    EXPECT_NE(widened("{}", other), "") << other;
    EXPECT_NE(widened(other, "{}"), "") << other;
  }
}

TEST(Widening, SomeChangesMeanNothing) {
  EXPECT_EQ(
      widened("{}",
              R"({"log": {"level": "debug"}, "server": {"port": 1, "open": false}, "sessionTtlMs": 2000})"),
      "");
}

TEST(Widening, ARuleThatDeniesMoreIsNone) {
  const std::string allow = R"({"tool": "a", "effect": "allow"})";
  const std::string deny = R"({"tool": "b", "effect": "deny"})";
  const auto rules = [](const std::string& list) { return R"({"policy": {"rules": [)" + list + "]}}"; };
  EXPECT_EQ(widened(rules(allow), rules(deny + "," + allow)), "");
  EXPECT_EQ(widened(rules(allow), rules(allow + "," + deny)), "");
  EXPECT_NE(widened(rules(deny), rules("")), "");
  EXPECT_NE(widened(rules(""), rules(allow)), "");
  EXPECT_NE(widened(rules(allow + "," + deny), rules(deny + "," + allow)), "");
}

TEST(Widening, OfServers) {
  const std::string plain = R"("command": "x")";
  EXPECT_EQ(server_widened("", plain), "mcps.a is new");
  EXPECT_EQ(server_widened("", plain + R"(, "enabled": false)"), "");
  EXPECT_EQ(server_widened(plain, ""), "");
  EXPECT_EQ(server_widened(plain, plain + R"(, "enabled": false)"), "");
  EXPECT_EQ(server_widened(plain + R"(, "enabled": false)", plain), "mcps.a.enabled allows more");
  EXPECT_EQ(server_widened(plain, plain + R"(, "description": "d", "idleStopMs": 5)"), "");
  for (const char* more : {R"(, "args": ["1"])", R"(, "env": {"K": "${secret:K}"})", R"(, "cwd": "/")",
                           R"(, "expose": "both")", R"(, "autostart": true)", R"(, "tiers": {"x": 0})"})
    EXPECT_NE(server_widened(plain, plain + more), "") << more;
  EXPECT_EQ(server_widened(R"("command": "x")", R"("command": "y")"), "mcps.a.command changes");
  EXPECT_EQ(server_widened(R"("endpoint": "http://a/")", R"("endpoint": "http://b/")"),
            "mcps.a.endpoint changes");
}

TEST(Widening, OfACage) {
  const std::string plain = R"("command": "x")";
  const auto with = [&](const std::string& walls) { return plain + R"(, "sandbox": )" + walls; };
  EXPECT_EQ(server_widened(plain, with("true")), "");
  EXPECT_EQ(server_widened(with("true"), plain), "mcps.a.sandbox is gone");
  EXPECT_EQ(server_widened(with("true"), with(R"({"read": ["/usr/share"]})")),
            "mcps.a.sandbox.read allows more");
  EXPECT_EQ(server_widened(with(R"({"read": ["/usr/share"], "hosts": ["a.org"]})"), with("true")), "");
  EXPECT_EQ(server_widened(with(R"({"write": ["/usr/share"]})"), with(R"({"read": ["/usr/share"]})")),
            "mcps.a.sandbox.read allows more");
  EXPECT_EQ(server_widened(with("true"), with(R"({"user": "own"})")), "mcps.a.sandbox.user allows more");
  EXPECT_EQ(server_widened(with(R"({"user": "own"})"), with("true")), "");
  EXPECT_EQ(server_widened(with("true"), with(R"({"limits": {"memMb": 4096}})")),
            "mcps.a.sandbox.limits.memMb allows more");
  EXPECT_EQ(server_widened(with("true"), with(R"({"limits": {"memMb": 64, "cpuSeconds": 5}})")), "");
  EXPECT_EQ(server_widened(with(R"({"limits": {"cpuSeconds": 5}})"), with("true")),
            "mcps.a.sandbox.limits.cpuSeconds allows more");
}

}  // namespace
}  // namespace relay::config
