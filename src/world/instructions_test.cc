#include "world/instructions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace relay::world {
namespace {

config::Config config_of(std::string_view text) {
  config::ConfigSources sources;
  sources.text = std::string(text);
  sources.file = "/relay.config.json";
  config::LoadedConfig loaded = config::load_config(sources);
  for (const config::ConfigProblem& problem : loaded.problems)
    ADD_FAILURE() << problem.where << ": " << problem.what;
  return std::move(loaded.config);
}

std::string instructions_of(std::string_view text) {
  const config::Config config = config_of(text);
  return make_instructions(config, config.mcps);
}

bool has_line(const std::string& text, std::string_view line) {
  return ("\n" + text + "\n").find(fmt::format("\n{}\n", line)) != std::string::npos;
}

TEST(Instructions, SayWhatThereIsWithoutAConfiguration) {
  EXPECT_EQ(
      instructions_of("{}"),
      "Relay offers its tools under one policy. Prefer one run_js or run_py call that does several steps "
      "over many small calls: only what it prints or returns comes back. Long results are cut; the text "
      "says how to read the rest.\n"
      "No directory of the host is mounted: files are in /tmp and /out.\n"
      "Programs have no network.\n"
      "Switched off by the operator: toolset admin.");
}

TEST(Instructions, NameMountsHostsPackagesAndServers) {
  const std::string text = instructions_of(R"({
    "mounts": [{"name": "p", "path": "."}, {"name": "q", "path": ".", "mode": "rw"}],
    "policy": {"mode": "guarded", "requireServers": true, "network": {"allowedDomains": ["*.x.org", "api.y.org"]}},
    "npm": {"dependencies": {"lodash": "^4"}}, "pip": {"requirements": ["attrs>=23"]},
    "mcps": [{"name": "a", "command": "x"}, {"name": "b", "command": "x", "expose": "tools"},
             {"name": "c", "command": "x", "expose": "both"}, {"name": "d", "command": "x", "enabled": false}]})");
  EXPECT_TRUE(has_line(text, "Mounts: /host/p (ro), /host/q (rw).")) << text;
  EXPECT_TRUE(has_line(text, "Programs may reach *.x.org, api.y.org.")) << text;
  EXPECT_TRUE(has_line(text, "Installed packages: lodash (npm), attrs>=23 (pip).")) << text;
  EXPECT_TRUE(
      has_line(text, "MCP servers for programs: a, c; a call must name those it uses in \"servers\"."))
      << text;
  EXPECT_TRUE(has_line(text, "MCP servers in the tool list: b__*, c__*.")) << text;
  EXPECT_TRUE(has_line(text, "Calls that change state need a rule that allows them.")) << text;
  EXPECT_TRUE(has_line(text, "Switched off by the operator: toolset admin, MCP server d.")) << text;
}

TEST(Instructions, SpeakOfProgramsOnlyWhereTheyCanBeRun) {
  const std::string without = instructions_of(R"({"toolsets": ["files"], "policy": {"mode": "readonly"},
    "npm": {"dependencies": {"lodash": "^4"}}, "mcps": [{"name": "a", "command": "x"}]})");
  for (const char* word : {"run_", "Programs", "programs", "lodash"})
    EXPECT_EQ(without.find(word), std::string::npos) << word << "\n" << without;
  EXPECT_TRUE(has_line(without, "Only calls that change nothing are allowed.")) << without;
  EXPECT_TRUE(has_line(without, "Switched off by the operator: toolset code, toolset admin.")) << without;
  const std::string half = instructions_of(R"({"tools": {"run_js": {"enabled": false}}})");
  EXPECT_NE(half.find("Prefer one run_py call"), std::string::npos) << half;
  EXPECT_TRUE(has_line(half, "Switched off by the operator: toolset admin, tool run_js.")) << half;
}

TEST(Instructions, NameEveryToolsetThatIsOff) {
  const json::object schema = json::parse_object(config::config_schema_text()).value();
  config::Config config = config_of("{}");
  config.toolsets.clear();
  const std::string text = make_instructions(config, {});
  for (const json::value& toolset : schema.at("properties").at("toolsets").at("items").at("enum").as_array())
    EXPECT_NE(text.find(fmt::format("toolset {}", json::view(toolset.as_string()))), std::string::npos)
        << text;
}

TEST(Instructions, CutLongLists) {
  config::Config config = config_of("{}");
  for (int i = 0; i < 500; ++i) config.mounts.push_back({.name = fmt::format("m{}", i), .path = "/"});
  const std::string text = make_instructions(config, {});
  EXPECT_NE(text.find("/host/m11 (ro) and 488 more."), std::string::npos) << text;
}

TEST(Instructions, FollowTheServersThatRunNow) {
  const config::Config started = config_of("{}");
  const config::Config later = config_of(R"({"mcps": [{"name": "late", "command": "x"}]})");
  EXPECT_TRUE(has_line(make_instructions(started, later.mcps), "MCP servers for programs: late."));
}

}  // namespace
}  // namespace relay::world
