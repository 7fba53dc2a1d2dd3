#include "config/config.h"

#include <stdlib.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_check.h"
#include "config/config_upstreams.h"
#include "config/environment.h"
#include "config/init.h"

namespace relay::config {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

namespace fs = std::filesystem;

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    char name[] = "/tmp/relay-config-XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  ~ConfigTest() override { fs::remove_all(directory_); }

  LoadedConfig load(const std::string& text, ConfigSources sources = {}) {
    sources.file = directory_ / "relay.config.json";
    std::ofstream(sources.file) << text;
    return load_config(sources);
  }

  fs::path directory_;
};

TEST_F(ConfigTest, EveryDefaultIsThere) {
  const LoadedConfig loaded = load("{}");
  ASSERT_TRUE(loaded.problems.empty());
  const Config& config = loaded.config;
  EXPECT_EQ(config.toolsets, (std::vector<std::string>{"code", "files"}));
  EXPECT_EQ(config.server.port, 7800);
  EXPECT_EQ(config.server.bind, "127.0.0.1");
  EXPECT_EQ(config.project, directory_ / ".relay");
  EXPECT_EQ(config.audit.path, config.state / "audit.jsonl");
  EXPECT_EQ(config.token_path, config.state / "token");
  EXPECT_EQ(config.signing_key_path, config.state / "keys");
  EXPECT_TRUE(config.audit.chain);
  EXPECT_EQ(config.auth_mode, AuthMode::none);
  EXPECT_TRUE(config.mounts.empty());
  EXPECT_TRUE(config.policy.run.network.allowed.empty());
  EXPECT_EQ(config.policy.run.limits.timeout_ms, 60000);
  EXPECT_EQ(config.policy.run.filesystem.writable, (std::vector<std::string>{"/tmp", "/out"}));
  EXPECT_EQ(config.session_ttl, std::chrono::minutes(5));
  EXPECT_GE(config.executor.max_concurrent_runs, 1U);
}

TEST_F(ConfigTest, TheSeedsOwnExampleIsAccepted) {
  const LoadedConfig loaded = load(R"({
    "language": "js", "npm": {"dependencies": {}, "lockfile": ""}, "pip": {"requirements": [], "wheelUrls": []},
    "policy": {"network": {"allowedDomains": ["api.github.com", "*.example.org"], "deniedDomains": [], "denyIpLiterals": true,
                           "blockPrivateRanges": true, "maxBodyBytes": 5242880, "maxRedirects": 5},
               "filesystem": {"readonly": ["/"], "writable": ["/tmp","/out"]},
               "limits": {"timeoutMs": 60000, "memMb": 256, "stdoutBytes": 1048576}},
    "mcps": [{"name": "search", "endpoint": "http://localhost:9001", "transport": "http"},
             {"name": "fs", "command": "mcp-server-filesystem", "args": [], "transport": "stdio"}],
    "sessionTtlMs": 300000, "signingKeyPath": ".relay/keys/", "cacheDir": ".relay/capsules/"})");
  EXPECT_THAT(loaded.problems, testing::IsEmpty());
  EXPECT_EQ(loaded.config.mcps.size(), 2U);
}

TEST_F(ConfigTest, ThePolicyIsReadOnceAndTyped) {
  const LoadedConfig loaded = load(R"({
    "mounts": [{"name": "w", "path": ".", "mode": "rw"}, {"name": "r", "path": "."}],
    "policy": {"mode": "guarded", "requireServers": true, "filesystem": {"denied": ["/host/w/.git/"]},
               "rules": [{"effect": "deny", "path": "/host/*", "host": "h", "command": "c"}]}})");
  ASSERT_THAT(loaded.problems, testing::IsEmpty());
  const policy::Policy& policy = loaded.config.policy;
  EXPECT_EQ(policy.rules.mode, policy::PolicyMode::guarded);
  EXPECT_TRUE(policy.require_servers);
  EXPECT_EQ(policy.rules.rules.at(0).path, "/host/*");
  EXPECT_EQ(policy.rules.rules.at(0).host, "h");
  EXPECT_EQ(policy.rules.rules.at(0).command, "c");
  EXPECT_EQ(policy.run.filesystem.readonly, std::vector<std::string>{"/"});
  EXPECT_EQ(policy.run.filesystem.writable, (std::vector<std::string>{"/tmp", "/out", "/host/w"}));
  EXPECT_EQ(policy.run.filesystem.denied, std::vector<std::string>{"/host/w/.git"});
}

TEST_F(ConfigTest, WordsBecomeChoices) {
  const LoadedConfig loaded = load(R"({
    "workspace": "session", "auth": {"mode": "token"}, "log": {"level": "warn", "format": "json"},
    "gateway": {"prefix": "none"}, "audit": {"format": "leef", "chain": false, "onFailure": "refuse"},
    "executor": {"walls": "reduced", "cgroup": "/sys/fs/cgroup/x"}})");
  ASSERT_THAT(loaded.problems, testing::IsEmpty());
  const Config& config = loaded.config;
  EXPECT_EQ(config.workspace, WorkspaceChoice::session);
  EXPECT_EQ(config.auth_mode, AuthMode::token);
  EXPECT_EQ(config.log_level, LogLevel::warn);
  EXPECT_EQ(config.log_format, LogStyle::json);
  EXPECT_EQ(config.gateway_prefix, PrefixChoice::none);
  EXPECT_EQ(config.audit.format, AuditFormat::leef);
  EXPECT_EQ(config.audit.on_failure, AuditFailure::refuse);
  EXPECT_EQ(config.executor.walls, WallsChoice::reduced);
  EXPECT_EQ(text_of(config.executor.cgroup), "/sys/fs/cgroup/x");
}

TEST_F(ConfigTest, SettingsOfToolsAreReadByName) {
  const LoadedConfig loaded = load(R"({
    "tools": {"write": {"enabled": false}, "read": {"resultBytes": 2048}, "x__any": {"enabled": false}},
    "mcps": [{"name": "x", "command": "a", "expose": "tools"}]})");
  ASSERT_THAT(loaded.problems, testing::IsEmpty());
  EXPECT_FALSE(loaded.config.tools.at("write").enabled);
  EXPECT_TRUE(loaded.config.tools.at("read").enabled);
  EXPECT_EQ(loaded.config.tools.at("read").result_bytes, 2048U);
}

TEST_F(ConfigTest, CommentsAndTrailingCommasAreRead) {
  EXPECT_TRUE(load("{ // why\n \"toolsets\": [\"code\",], /* and */ }").problems.empty());
}

struct Broken {
  const char* text;
  const char* path;
  const char* says;
};

class BrokenConfig : public ConfigTest, public testing::WithParamInterface<Broken> {};

TEST_P(BrokenConfig, IsRefusedWithItsPathAndAReason) {
  const LoadedConfig loaded = load(GetParam().text);
  EXPECT_THAT(loaded.problems, Contains(AllOf(Field(&ConfigProblem::where, HasSubstr(GetParam().path)),
                                              Field(&ConfigProblem::what, HasSubstr(GetParam().says)))))
      << GetParam().text << testing::PrintToString(loaded.problems.size())
      << (loaded.problems.empty() ? "" : loaded.problems[0].where + " " + loaded.problems[0].what);
}

INSTANTIATE_TEST_SUITE_P(
    ManyWays, BrokenConfig,
    testing::Values(
        Broken{"{", "relay.config.json", "not valid JSON"}, Broken{"[]", "relay.config.json", "object"},
        Broken{R"({"toolset": ["code"]})", "$.toolset", "did you mean \"toolsets\""},
        Broken{R"({"polcy": {}})", "$.polcy", "did you mean \"policy\""},
        Broken{R"({"policy": {"mod": "open"}})", "$.policy.mod", "did you mean \"mode\""},
        Broken{R"({"zzzzzz": 1})", "$.zzzzzz", "unknown key"},
        Broken{R"({"policy": {"mode": "closed"}})", "$.policy.mode", ""},
        Broken{R"({"policy": {"limits": {"timeoutMs": "60s"}}})", "$.policy.limits.timeoutMs", ""},
        Broken{R"({"policy": {"limits": {"timeoutMs": 0}}})", "$.policy.limits.timeoutMs", ""},
        Broken{R"({"policy": {"deny": "rm"}})", "$.policy.deny", ""},
        Broken{R"({"policy": {"rules": [{"tool": "read"}]}})", "$.policy.rules[0]", "effect"},
        Broken{R"({"policy": {"filesystem": {"denied": ["a"]}}})", "$.policy.filesystem.denied[0]",
               "absolute"},
        Broken{R"({"policy": {"rules": [{"effect": "deny", "paht": "/x"}]}})", "$.policy.rules[0].paht",
               "path"},
        Broken{R"({"policy": {"allow": ["("]}})", "$.policy.allow[0]", "RE2"},
        Broken{R"({"tools": {"raed": {"enabled": false}}})", "$.tools.raed", "did you mean \"read\""},
        Broken{R"({"tools": {"nothing_like_it": {}}})", "$.tools.nothing_like_it", "run_js"},
        Broken{R"({"tools": {"x__y": {}}, "mcps": [{"name": "x", "command": "a"}]})", "$.tools.x__y",
               "no such"},
        Broken{R"({"policy": {"filesystem": {"mounts": []}}})", "$.policy.filesystem.mounts",
               "mounts at the top level"},
        Broken{R"({"executor": {"prefer": "local"}})", "$.executor.prefer", "unknown key"},
        Broken{R"({"mounts": [{"name": "a b", "path": "."}]})", "$.mounts[0].name", ""},
        Broken{R"({"mounts": [{"name": "a"}]})", "$.mounts[0]", "path"},
        Broken{R"({"mounts": [{"name": "a", "path": "nowhere"}]})", "$.mounts[0].path", "not a directory"},
        Broken{R"({"mounts": [{"name": "a", "path": "."}, {"name": "a", "path": "."}]})", "$.mounts[1].name",
               "twice"},
        Broken{R"({"mounts": [{"name": "a", "path": ".", "mod": "rw"}]})", "$.mounts[0].mod", "mode"},
        Broken{R"({"mcps": [{"name": "x", "transport": "stdio"}]})", "$.mcps[0]", "command"},
        Broken{R"({"mcps": [{"name": "x", "transport": "http"}]})", "$.mcps[0]", "endpoint"},
        Broken{R"({"mcps": [{"name": "x", "command": "a"}, {"name": "x", "command": "b"}]})",
               "$.mcps[1].name", "twice"},
        Broken{R"({"mcps": [{"name": "a.b", "command": "a"}]})", "$.mcps[0].name", ""},
        Broken{R"({"mcps": [{"name": "a__b", "command": "a"}]})", "$.mcps[0].name", "separates"},
        Broken{R"({"mcps": [{"name": "x", "comand": "a"}]})", "$.mcps[0].comand", "did you mean \"command\""},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "callTimeout": 5}]})", "$.mcps[0].callTimeout",
               "callTimeoutMs"},
        Broken{R"({"mcps": [{"name": "x", "url": "ftp://a/"}]})", "$.mcps[0].endpoint", "http://"},
        Broken{R"({"mcps": [{"name": "x", "url": "http://u:p@a/"}]})", "$.mcps[0].endpoint", "secret"},
        Broken{R"({"mcps": [{"name": "x", "url": "http://a/", "command": "a"}]})", "$.mcps[0].command",
               "stdio"},
        Broken{R"({"mcps": [{"name": "x", "url": "http://a/", "env": {"A": "b"}}]})", "$.mcps[0].env",
               "headers"},
        Broken{R"({"mcps": [{"name": "x", "url": "http://a/", "sandbox": true}]})", "$.mcps[0].sandbox",
               "stdio"},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "headers": {"A": "b"}}]})", "$.mcps[0].headers",
               "env"},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "transport": "stdio", "url": "http://a/"}]})",
               "$.mcps[0].endpoint", "transport"},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "sandbox": {"reed": []}}]})",
               "$.mcps[0].sandbox.reed", "read"},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "sandbox": {"limits": {"memMB": 100}}}]})",
               "$.mcps[0].sandbox.limits.memMB", "memMb"},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "sandbox": {"limits": {"cpus": 0}}}]})",
               "$.mcps[0].sandbox.limits.cpus", ""},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "sandbox": {"user": "root"}}]})",
               "$.mcps[0].sandbox.user", ""},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "sandbox": "yes"}]})", "$.mcps[0].sandbox", ""},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "tiers": {"t": 4}}]})", "$.mcps[0].tiers.t", ""},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "era": "new"}]})", "$.mcps[0].era", ""},
        Broken{R"({"mcps": [{"name": "x", "command": "a", "maxConcurrent": 0}]})", "$.mcps[0].maxConcurrent",
               ""},
        Broken{
            R"({"mcps": [{"name": "x", "command": "a", "expose": "tools"}, {"name": "y", "command": "a", "expose": "both"}],
                               "gateway": {"prefix": "none"}})",
            "$.gateway.prefix", "x, y"},
        Broken{R"({"gateway": {"listTimeout": 5}})", "$.gateway.listTimeout", "listTimeoutMs"},
        Broken{R"({"server": {"port": 70000}})", "$.server.port", ""},
        Broken{R"({"server": {"tlsCert": "a.pem"}})", "$.server", "both"},
        Broken{R"({"audit": {"format": "cef"}})", "$.audit.chain", "jsonl"},
        Broken{R"({"auth": {"mode": "password"}})", "$.auth.mode", ""},
        Broken{R"({"policy": {"deny": ["("]}})", "$.policy.deny", ""},
        Broken{R"({"policy": {"network": {"allowedDomains": ["http://x/"]}}})",
               "$.policy.network.allowedDomains[0]", "invalid port"},
        Broken{R"({"toolsets": ["code", "cod"]})", "$.toolsets[1]", ""}));

TEST_F(ConfigTest, AnUpstreamServerNeedsLittle) {
  const LoadedConfig loaded =
      load(R"({"mcps": [{"name": "a", "command": "x"}, {"name": "b", "url": "http://h/mcp"}]})");
  ASSERT_THAT(loaded.problems, testing::IsEmpty());
  upstream::ServerSpec process;
  process.name = "a";
  process.command = "x";
  process.cwd = directory_.string();
  upstream::ServerSpec remote;
  remote.name = "b";
  remote.transport = upstream::ServerTransport::http;
  remote.endpoint = "http://h/mcp";
  // The defaults of the schema are the defaults of ServerSpec: whoever makes one in code gets the same
  // server.
  EXPECT_EQ(specs_of(loaded.config), (std::vector{process, remote}));
  EXPECT_EQ(loaded.config.gateway_list_timeout, std::chrono::seconds(10));
}

TEST_F(ConfigTest, AnUpstreamServerCanSayEverything) {
  const LoadedConfig loaded = load(
      R"({"mcps": [{"name": "a", "description": "d", "transport": "stdio", "command": "./bin/x", "args": ["-y", "."],
    "env": {"K": "${secret:k}"}, "cwd": "sub", "expose": "both", "enabled": false, "autostart": true, "era": "legacy", "sharing": "session",
    "sandbox": {"read": ["data", "/usr/share"], "write": ["out"], "hosts": ["*.example.org"], "user": "own",
      "limits": {"memMb": 100, "pids": 9, "cpus": 0.5, "cpuSeconds": 60, "openFiles": 99, "fileMb": 7, "tmpMb": 8, "tmpFiles": 77}}, "startTimeoutMs": 1000, "callTimeoutMs": 2000,
    "idleStopMs": 0, "maxConcurrent": 3, "callsPerMinute": 4, "allow": ["get_*"], "deny": ["get_all"], "resultBytes": 0, "tiers": {"get_one": 1}}]})");
  ASSERT_THAT(loaded.problems, testing::IsEmpty());
  const upstream::ServerSpec& spec = loaded.config.mcps.at(0);
  EXPECT_EQ(spec.command, directory_ / "bin/x");
  EXPECT_EQ(spec.args, (std::vector<std::string>{"-y", "."}));
  EXPECT_EQ(spec.cwd, directory_ / "sub");
  EXPECT_EQ(spec.env.at("K"), "${secret:k}");
  EXPECT_EQ(spec.expose, upstream::Expose::both);
  EXPECT_FALSE(spec.enabled);
  EXPECT_TRUE(spec.autostart);
  EXPECT_EQ(spec.era, peer::EraChoice::legacy);
  EXPECT_EQ(spec.sharing, upstream::Sharing::session);
  const launch::CageSpec cage{.read = {directory_ / "data", "/usr/share"},
                              .write = {directory_ / "out"},
                              .hosts = {"*.example.org"},
                              .limits = {.memory_bytes = 100 * limits::kMiB,
                                         .processes = 9,
                                         .cpu_percent = 50,
                                         .cpu_time = std::chrono::seconds(60),
                                         .open_files = 99,
                                         .file_bytes = 7 * limits::kMiB,
                                         .scratch_bytes = 8 * limits::kMiB,
                                         .scratch_files = 77},
                              .user = sandbox::CageUser::own};
  EXPECT_EQ(spec.cage, cage);
  EXPECT_EQ(spec.start_timeout, std::chrono::seconds(1));
  EXPECT_EQ(spec.call_timeout, std::chrono::seconds(2));
  EXPECT_EQ(spec.idle_stop, std::chrono::seconds(0));
  EXPECT_EQ(spec.max_concurrent, 3U);
  EXPECT_EQ(spec.calls_per_minute, 4U);
  EXPECT_EQ(spec.allow, (std::vector<std::string>{"get_*"}));
  EXPECT_EQ(spec.deny, (std::vector<std::string>{"get_all"}));
  EXPECT_EQ(spec.result_bytes, 0U);
  EXPECT_EQ(spec.tiers, (std::map<std::string, int>{{"get_one", 1}}));
}

TEST_F(ConfigTest, AnEntryOfASpecMakesThatSpec) {
  upstream::ServerSpec spec;
  spec.name = "a";
  spec.description = "d";
  spec.command = "x";
  spec.args = {"-y"};
  spec.env = {{"K", "v"}};
  spec.cwd = "/tmp";
  spec.expose = upstream::Expose::tools;
  spec.enabled = false;
  spec.call_timeout = std::chrono::seconds(5);
  spec.allow = {"get_*"};
  const LoadedConfig loaded = load(json::write(json::object{{"mcps", {entry_of(spec)}}}));
  ASSERT_THAT(loaded.problems, testing::IsEmpty());
  EXPECT_EQ(loaded.config.mcps.at(0), spec);
}

TEST_F(ConfigTest, ASandboxMayBeJustTrue) {
  EXPECT_EQ(load(R"({"mcps": [{"name": "a", "command": "x", "sandbox": true}]})").config.mcps.at(0).cage,
            launch::CageSpec{});
  EXPECT_EQ(load(R"({"mcps": [{"name": "a", "command": "x", "sandbox": {}}]})").config.mcps.at(0).cage,
            launch::CageSpec{})
      << "the defaults of the schema are those of CageSpec";
  EXPECT_FALSE(load(R"({"mcps": [{"name": "a", "command": "x", "sandbox": false}]})").config.mcps.at(0).cage);
}

TEST_F(ConfigTest, WithoutPrefixesOneServerMayBeInTheToolList) {
  EXPECT_THAT(
      load(R"({"gateway": {"prefix": "none"}, "mcps": [{"name": "x", "command": "a", "expose": "tools"},
    {"name": "y", "command": "a"}, {"name": "z", "command": "a", "expose": "tools", "enabled": false}]})")
          .problems,
      testing::IsEmpty());
}

TEST_F(ConfigTest, AllProblemsAreReportedAtOnce) {
  EXPECT_GE(load(R"({"a": 1, "policy": {"mode": 3, "b": 2}, "server": {"port": "x"}})").problems.size(), 4U);
}

TEST_F(ConfigTest, FlagsBeatTheEnvironmentWhichBeatsTheFile) {
  ConfigSources sources;
  sources.environment = {{"RELAY_PORT", "2"}, {"RELAY_BIND", "::1"}};
  set_path(sources.flags, "server/port", 3);
  const LoadedConfig loaded = load(R"({"server": {"port": 1, "bind": "127.0.0.2", "ui": false}})", sources);
  ASSERT_TRUE(loaded.problems.empty());
  EXPECT_EQ(loaded.config.server.port, 3);
  EXPECT_EQ(loaded.config.server.bind, "::1");
  EXPECT_FALSE(loaded.config.server.ui);
}

TEST_F(ConfigTest, ABadVariableIsNamed) {
  ConfigSources sources;
  sources.environment = {{"RELAY_PORT", "http"}};
  EXPECT_THAT(load("{}", sources).problems, Contains(Field(&ConfigProblem::where, "RELAY_PORT")));
}

TEST_F(ConfigTest, AContainerListensEverywhereWithAuthenticationUnlessToldOtherwise) {
  ConfigSources sources;
  sources.in_container = true;
  EXPECT_EQ(load("{}", sources).config.server.bind, "127.0.0.1");
  EXPECT_EQ(load(R"({"auth": {"mode": "token"}})", sources).config.server.bind, "0.0.0.0");
  sources.environment = {{"RELAY_BIND", "127.0.0.3"}};
  EXPECT_EQ(load(R"({"auth": {"mode": "token"}})", sources).config.server.bind, "127.0.0.3");
}

TEST_F(ConfigTest, AMissingNamedFileIsAProblem) {
  ConfigSources sources;
  sources.file = directory_ / "other.json";
  sources.file_required = true;
  EXPECT_THAT(load_config(sources).problems, Contains(Field(&ConfigProblem::where, HasSubstr("other.json"))));
}

TEST_F(ConfigTest, InitWritesAUsableFileOnce) {
  const auto path = write_initial_config(directory_);
  ASSERT_TRUE(path);
  ConfigSources sources;
  sources.file = *path;
  EXPECT_THAT(load_config(sources).problems, testing::IsEmpty());
  const auto again = write_initial_config(directory_);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::conflict);
}

}  // namespace
}  // namespace relay::config
