#include "imports/reader.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::imports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using upstream::ServerTransport;

const Surroundings kHere{.home = "/home/u",
                         .folder = "/home/u",
                         .working_directory = "/home/u/p/sub",
                         .environment = {{"SET", "value"}}};

Reading read(std::string_view text, std::string source = "cursor",
             DocumentFormat format = DocumentFormat::json) {
  const Place place{.source = std::move(source),
                    .title = "T",
                    .file = "/home/u/some.json",
                    .format = format,
                    .folder = "/home/u"};
  return read_servers(text, place, kHere);
}

std::vector<std::string> names(const Reading& reading) {
  std::vector<std::string> out;
  for (const FoundServer& found : reading.found) out.push_back(found.spec.name);
  return out;
}

TEST(Reader, ClaudeDesktop) {
  const Reading reading = read(
      R"({"mcpServers": {"fs": {"command": "npx", "args": ["-y", "server-filesystem", "/tmp", 5], "env": {"A": "b", "N": 1}}}})");
  ASSERT_THAT(reading.found, SizeIs(1));
  const FoundServer& found = reading.found[0];
  EXPECT_EQ(found.spec.command, "npx");
  EXPECT_EQ(found.spec.args, (std::vector<std::string>{"-y", "server-filesystem", "/tmp", "5"}));
  EXPECT_EQ(found.spec.env, (std::map<std::string, std::string>{{"A", "b"}, {"N", "1"}}));
  EXPECT_EQ(found.from.key, "mcpServers.fs");
  EXPECT_EQ(found.from.file, "/home/u/some.json");
  EXPECT_EQ(found.spec.cwd, "");
}

TEST(Reader, CommentsTrailingCommasAndAByteOrderMark) {
  EXPECT_THAT(
      names(
          read("\xEF\xBB\xBF{ // mine\n \"mcpServers\": { \"a\": {\"command\": \"x\",}, /* no more */ }, }")),
      ElementsAre("a"));
}

TEST(Reader, VsCodeServersWithInputs) {
  const Reading reading = read(R"({"inputs": [{"id": "tok", "type": "promptString"}], "servers": {
    "gh": {"type": "http", "url": "https://h/mcp", "headers": {"Authorization": "Bearer ${input:tok}"}},
    "x": {"type": "stdio", "command": "x", "args": ["${workspaceFolder}"], "envFile": ".env"}}})");
  ASSERT_THAT(names(reading), ElementsAre("gh", "x"));
  EXPECT_EQ(reading.found[0].spec.headers.at("Authorization"), "Bearer ${secret:gh.tok}");
  EXPECT_THAT(reading.found[0].needs, ElementsAre("gh.tok"));
  EXPECT_THAT(reading.found[0].secrets, IsEmpty());
  EXPECT_THAT(reading.found[1].spec.args, ElementsAre("/home/u"));
  EXPECT_THAT(reading.found[1].notes, ElementsAre(HasSubstr("envFile")));
}

TEST(Reader, VsCodeSettings) {
  EXPECT_EQ(
      read(R"({"editor.fontSize": 12, "mcp": {"servers": {"a": {"command": "x"}}}})").found.at(0).from.key,
      "mcp.servers.a");
}

TEST(Reader, Opencode) {
  const Reading reading = read(
      R"({"mcp": {"l": {"type": "local", "command": ["bun", "x", "y"], "environment": {"K": "{env:SET}"}, "enabled": false},
                                           "r": {"type": "remote", "url": "https://h/"}}})");
  ASSERT_THAT(names(reading), ElementsAre("l", "r"));
  EXPECT_EQ(reading.found[0].spec.command, "bun");
  EXPECT_THAT(reading.found[0].spec.args, ElementsAre("x", "y"));
  EXPECT_EQ(reading.found[0].spec.env.at("K"), "${env:SET}");
  EXPECT_FALSE(reading.found[0].spec.enabled);
  EXPECT_EQ(reading.found[1].spec.transport, ServerTransport::http);
}

TEST(Reader, WindsurfAndGeminiNameTheirUrls) {
  EXPECT_EQ(
      read(
          R"({"mcpServers": {"a": {"serverUrl": "https://h/mcp", "disabled": true, "disabledTools": ["rm"]}}})")
          .found.at(0)
          .spec.endpoint,
      "https://h/mcp");
  const Reading gemini = read(
      R"({"mcpServers": {"a": {"httpUrl": "https://h/mcp", "timeout": 5000, "includeTools": ["x"], "excludeTools": ["y"]}, "b": {"url": "https://h/sse"}}})",
      "gemini");
  EXPECT_EQ(gemini.found.at(0).spec.transport, ServerTransport::http);
  EXPECT_EQ(gemini.found.at(0).spec.call_timeout, std::chrono::seconds(5));
  EXPECT_THAT(gemini.found.at(0).spec.allow, ElementsAre("x"));
  EXPECT_THAT(gemini.found.at(0).spec.deny, ElementsAre("y"));
  EXPECT_EQ(gemini.found.at(1).spec.transport, ServerTransport::sse);
}

TEST(Reader, CodexToml) {
  const Reading reading = read(R"(
model = "m"  # a comment
[mcp_servers.docs]
command = 'npx'
args = ["-y", "docs", """multi
line"""]
startup_timeout_sec = 20
tool_timeout_sec = 90.5
env = { "A" = "b", C.D = "x" }
[mcp_servers.docs.env]
)",
                               "codex", DocumentFormat::toml);
  EXPECT_THAT(reading.problem, HasSubstr("TOML")) << "a table that is defined twice is refused";
  const Reading good = read(R"(
model = "m"  # a comment
[mcp_servers.docs]
command = 'npx'
args = ["-y", "docs", """multi
line""", '''raw \ one''', ]
startup_timeout_sec = 20
tool_timeout_sec = 90.5
[mcp_servers.docs.env]
A = "b\u0041"
[mcp_servers."figma remote"]
url = "https://h/mcp"
bearer_token_env_var = "FIGMA"
env_http_headers = { X-Key = "K" }
http_headers = { "X-Region" = "eu" }
enabled = false
when = 1979-05-27T07:32:00Z
)",
                            "codex", DocumentFormat::toml);
  ASSERT_EQ(good.problem, "");
  ASSERT_THAT(names(good), ElementsAre("docs", "figma-remote"));
  EXPECT_THAT(good.found[0].spec.args, ElementsAre("-y", "docs", "multi\nline", "raw \\ one"));
  EXPECT_EQ(good.found[0].spec.env.at("A"), "bA");
  EXPECT_EQ(good.found[0].spec.start_timeout, std::chrono::seconds(20));
  EXPECT_EQ(good.found[0].spec.call_timeout, std::chrono::milliseconds(90'500));
  EXPECT_EQ(good.found[1].spec.headers,
            (std::map<std::string, std::string>{
                {"Authorization", "Bearer ${env:FIGMA}"}, {"X-Key", "${env:K}"}, {"X-Region", "eu"}}));
  EXPECT_THAT(good.found[1].notes, ElementsAre(HasSubstr("renamed")));
  EXPECT_FALSE(good.found[1].spec.enabled);
}

TEST(Reader, ClaudeCodeProjectsTheOwnOneFirst) {
  const Reading reading = read(R"({"mcpServers": {"user": {"command": "u"}}, "projects": {
    "/other": {"mcpServers": {"far": {"command": "o"}}}, "/home/u/p": {"mcpServers": {"near": {"type": "stdio", "command": "n"}}}}})");
  ASSERT_THAT(names(reading), ElementsAre("near", "user", "far"));
  EXPECT_EQ(reading.found[0].spec.cwd, "/home/u/p");
  EXPECT_FALSE(reading.found[0].from_other_project);
  EXPECT_EQ(reading.found[1].spec.cwd, "");
  EXPECT_EQ(reading.found[2].spec.cwd, "/other");
  EXPECT_TRUE(reading.found[2].from_other_project);
}

TEST(Reader, RelativePathsAreThoseOfTheProgramThatWroteThem) {
  const Reading reading = read(
      R"({"mcpServers": {"a": {"command": "./bin/x", "cwd": "sub"}, "b": {"command": "~/x"}, "c": {"command": "x"}}})");
  EXPECT_EQ(reading.found.at(0).spec.cwd, "/home/u/sub");
  EXPECT_EQ(reading.found[0].spec.command, "/home/u/sub/bin/x");
  EXPECT_EQ(reading.found.at(1).spec.command, "/home/u/x");
  EXPECT_EQ(reading.found.at(2).spec.command, "x");
}

TEST(Reader, ASingleServerIsNamedByItsFile) {
  EXPECT_THAT(names(read(R"({"command": "x"})")), ElementsAre("some"));
}

TEST(Reader, SecretsAreTakenOut) {
  const Reading reading = read(
      R"({"mcpServers": {"gh": {"command": "x", "env": {"GITHUB_TOKEN": "ghp_1234567890", "LEVEL": "debugging"}},
                                                  "r": {"url": "http://h/", "headers": {"authorization": "Bearer abcdef123"}}}})");
  EXPECT_EQ(reading.found.at(0).spec.env.at("GITHUB_TOKEN"), "${secret:gh.GITHUB_TOKEN}");
  EXPECT_EQ(reading.found[0].spec.env.at("LEVEL"), "debugging");
  EXPECT_EQ(reading.found[0].secrets.at(0).value, "ghp_1234567890");
  EXPECT_EQ(reading.found.at(1).spec.headers.at("authorization"), "Bearer ${secret:r.authorization}");
  EXPECT_EQ(reading.found[1].secrets.at(0).value, "abcdef123");
}

TEST(Reader, ArgumentsAndUrlsKeepTheirReferences) {
  const Reading reading = read(
      R"({"mcpServers": {"a": {"command": "x", "args": ["${SET}", "--key", "${input:k}", "${NOT_SET}"]},
                         "b": {"url": "https://h/${SET}"}}})");
  EXPECT_THAT(reading.found.at(0).spec.args,
              ElementsAre("${env:SET}", "--key", "${secret:a.k}", "${env:NOT_SET}"));
  EXPECT_THAT(reading.found[0].needs, ElementsAre("a.k"));
  EXPECT_EQ(reading.found.at(1).spec.endpoint, "https://h/${env:SET}");
}

TEST(Reader, SecretsAreTakenOutOfArguments) {
  const Reading reading = read(
      R"({"mcpServers": {"a": {"command": "npx", "args": ["-y", "server", "--api-key", "abcdef-1", "--token=abcdef-2",
          "--header", "Authorization: Bearer abcdef-3", "--header", "authorization:Basic abcdef-4", "ghp_abcdef5",
          "https://h:8080/mcp", "--key-file", "/home/u/key", "--verbose", "--auth", "none"]}}})");
  const FoundServer& found = reading.found.at(0);
  EXPECT_THAT(found.spec.args,
              ElementsAre("-y", "server", "--api-key", "${secret:a.api-key}", "--token=${secret:a.token}",
                          "--header", "Authorization: Bearer ${secret:a.Authorization}", "--header",
                          "authorization:Basic ${secret:a.authorization}", "${secret:a.arg9}",
                          "https://h:8080/mcp", "--key-file", "/home/u/key", "--verbose", "--auth", "none"));
  std::vector<std::string> values;
  for (const KeptSecret& kept : found.secrets) values.push_back(kept.value);
  EXPECT_THAT(values, ElementsAre("abcdef-1", "abcdef-2", "abcdef-3", "abcdef-4", "ghp_abcdef5"));
  EXPECT_EQ(found.secrets[1].where, "args[4]");
}

TEST(Reader, TwoSecretsOfOneNameAreKeptApart) {
  const Reading reading =
      read(R"({"mcpServers": {"a": {"command": "x", "args": ["--key", "abcdef-1", "--key", "abcdef-2"]}}})");
  EXPECT_THAT(reading.found.at(0).spec.args,
              ElementsAre("--key", "${secret:a.key}", "--key", "${secret:a.key_2}"));
}

struct Bad {
  const char* entry;
  const char* why;
};
class Unusable : public testing::TestWithParam<Bad> {};

TEST_P(Unusable, EntriesAreSkippedWithAReason) {
  const Reading reading =
      read(std::string(R"({"mcpServers": {"good": {"command": "x"}, "bad": )") + GetParam().entry + "}}");
  EXPECT_THAT(names(reading), ElementsAre("good"));
  ASSERT_THAT(reading.skipped, SizeIs(1));
  EXPECT_THAT(reading.skipped[0].why, HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    Entries, Unusable,
    testing::Values(Bad{R"({"type": "ws", "url": "ws://h/"})", "\"ws\" is not supported"},
                    Bad{"7", "not an object"}, Bad{"{}", "neither a command nor a URL"},
                    Bad{R"({"url": "ftp://h/"})", "neither http"}, Bad{R"({"command": {}})", "not text"},
                    Bad{R"({"command": "x", "args": [[]]})", "not text"},
                    Bad{R"({"command": "x\u0000y"})", "NUL"}, Bad{R"({"command": "${NOT_SET}"})", "NOT_SET"},
                    Bad{R"({"command": "${input:key}"})", "input"}, Bad{R"({"type": "http"})", "no URL"}));

TEST(Reader, AFileThatIsNoneIsAProblem) {
  EXPECT_THAT(read("{").problem, HasSubstr("not valid JSON"));
  EXPECT_THAT(read("[]").problem, HasSubstr("not an object"));
  EXPECT_THAT(read("\xff").problem, HasSubstr("UTF-8"));
  EXPECT_THAT(read("a = ", "codex", DocumentFormat::toml).problem, HasSubstr("line 1"));
  EXPECT_THAT(read(std::string(limits::kImportFileBytes + 1, ' ')).problem, HasSubstr("larger"));
  EXPECT_THAT(read("a = " + std::string(100'000, '['), "codex", DocumentFormat::toml).problem,
              HasSubstr("TOML"));
  EXPECT_THAT(read("[\x01[m", "codex", DocumentFormat::toml).problem, HasSubstr("TOML"));
  EXPECT_EQ(read("{}").problem, "");
}

TEST(ServerName, BecomesAnId) {
  EXPECT_EQ(make_server_name("github"), "github");
  EXPECT_EQ(make_server_name("My Server (new)"), "My-Server-new");
  EXPECT_EQ(make_server_name("io.github.x/y"), "io-github-x-y");
  EXPECT_EQ(make_server_name("a__b"), "a_b");
  EXPECT_EQ(make_server_name("__"), "server");
  EXPECT_EQ(make_server_name("日本"), "server");
  EXPECT_EQ(make_server_name(std::string(50, 'x')), std::string(32, 'x'));
}

upstream::ServerSpec process(std::string command, std::vector<std::string> args = {}) {
  upstream::ServerSpec spec;
  spec.command = std::move(command);
  spec.args = std::move(args);
  return spec;
}

TEST(PointsToRelay, FindsItselfInManyCoats) {
  const std::vector<std::string> own = {"http://127.0.0.1:7800", "http://localhost:7800"};
  EXPECT_TRUE(points_to_relay(process("relay", {"stdio"}), own));
  EXPECT_TRUE(points_to_relay(process("/opt/bin/relay", {"stdio"}), own));
  EXPECT_TRUE(points_to_relay(process("env", {"A=b", "/opt/bin/relay", "stdio"}), own));
  EXPECT_TRUE(points_to_relay(process("bash", {"-c", "cd x && exec /opt/relay stdio"}), own));
  EXPECT_TRUE(points_to_relay(process("npx", {"mcp-remote", "http://localhost:7800/mcp"}), own));
  EXPECT_FALSE(points_to_relay(process("npx", {"mcp-remote", "http://localhost:78001/mcp"}), own));
  EXPECT_FALSE(points_to_relay(process("relay-log-server"), own));
  upstream::ServerSpec remote;
  remote.endpoint = "http://127.0.0.1:7800/mcp";
  EXPECT_TRUE(points_to_relay(remote, own));
  remote.endpoint = "http://127.0.0.1:7801/mcp";
  EXPECT_FALSE(points_to_relay(remote, own));
}

TEST(Places, TheProjectComesBeforeTheUser) {
  const std::vector<Place> places = known_places("/home/u", "/projects/p");
  const auto find = [&](const char* path) {
    return std::ranges::find(places, std::filesystem::path(path), &Place::file) - places.begin();
  };
  EXPECT_LT(find("/projects/p/.cursor/mcp.json"), find("/home/u/.cursor/mcp.json"));
  EXPECT_LT(find("/projects/p/.mcp.json"), find("/home/u/.claude.json"));
  EXPECT_EQ(places.at(static_cast<std::size_t>(find("/home/u/.codex/config.toml"))).format,
            DocumentFormat::toml);
  EXPECT_TRUE(places.at(static_cast<std::size_t>(find("/home/u/MCPs"))).every_file);
  EXPECT_THAT(source_names(places), testing::Contains("windsurf"));
}

TEST(Places, ANamedFileSaysWhatItIs) {
  EXPECT_EQ(place_of_file("/p/.gemini/settings.json", "/h").source, "gemini");
  EXPECT_EQ(place_of_file("/p/.vscode/mcp.json", "/h").folder, "/p");
  EXPECT_EQ(place_of_file("/p/config.toml", "/h").format, DocumentFormat::toml);
  EXPECT_EQ(place_of_file("/p/mcp.json", "/h").folder, "/p");
}

}  // namespace
}  // namespace relay::imports
