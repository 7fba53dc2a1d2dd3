#include "world/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/node_files.h"
#include "io/test_folder.h"
#include "io/test_loop.h"
#include "mcp/server_fixture.h"

namespace relay::world {
namespace {

using testing::HasSubstr;
using testing::Not;

class NoNetwork final : public net::HttpClient {
 public:
  io::Task<std::unique_ptr<net::ClientResponse>> send(net::ClientRequest) override {
    co_return fail(unavailable("this test has no network"));
  }
};

// A whole World in this process: its time, its chance and its directories are the test's.
class WorldTest : public testing::Test {
 protected:
  config::Config config_of(const std::string& text) {
    config::ConfigSources sources;
    sources.file = folder_ / "relay.config.json";
    sources.state = folder_ / "state";
    sources.text = text;
    config::LoadedConfig loaded = config::load_config(sources);
    EXPECT_TRUE(loaded.problems.empty()) << loaded.problems.front().what;
    return loaded.config;
  }
  void build(const std::string& text) {
    auto built =
        World::build(config_of(text), Purpose::run,
                     {clock_, random_, loop_.executor(), log_, http_, std::make_shared<secrets::Redactor>()});
    ASSERT_TRUE(built) << built.error().message;
    world_ = std::move(*built);
    server_ = std::make_unique<mcp::Server>(loop_.executor(), world_->backend(), clock_, world_->ids(),
                                            mcp::ServerOptions{});
  }
  ~WorldTest() override {
    if (server_) server_->stop();
    if (world_) EXPECT_TRUE(loop_.run(world_->stop()));
  }

  json::value call(const std::string& tool, const std::string& arguments) {
    const std::string message =
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + tool + R"(","arguments":)" +
        arguments +
        R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
    auto reply = std::make_shared<mcp::RecordingReply>();
    mcp::ModernDispatcher dispatcher(*server_);
    dispatcher.handle({.principal = "alice"}, std::get<protocol::Request>(*protocol::parse_message(message)),
                      reply, nullptr);
    loop_.context().restart();
    while (!reply->answer && loop_.context().run_one() > 0) {
    }
    return reply->answer.value_or(json::value());
  }
  static std::string text_of(const json::value& answer) {
    return std::string(json::view(answer.at("result").at("content").at(0).at("text").as_string()));
  }
  static bool is_refused(const json::value& answer) {
    const json::value* is_error = json::find(answer.at("result").as_object(), "isError");
    return is_error && is_error->as_bool();
  }
  json::value info() { return call("server_info", "{}").at("result").at("structuredContent"); }

  io::TestFolder folder_;
  io::TestLoop loop_;
  FakeClock clock_;
  FakeRandom random_;
  NullLog log_;
  NoNetwork http_;
  std::unique_ptr<World> world_;
  std::unique_ptr<mcp::Server> server_;
};

TEST_F(WorldTest, CallsAToolAndCountsIt) {
  build(R"({"toolsets": ["files"]})");
  call("write", R"({"path": "/tmp/note.txt", "content": "forty-two"})");
  EXPECT_THAT(text_of(call("read", R"({"path": "/tmp/note.txt"})")), HasSubstr("forty-two"));
  const std::string page = world_->metrics().render();
  EXPECT_THAT(page,
              HasSubstr("relay_tool_calls_total{mode=\"open\",outcome=\"ok\",tier=\"0\",tool=\"read\"} 1"));
  EXPECT_THAT(page, HasSubstr("relay_audit_degraded 0"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "state" / "audit.jsonl"));
}

TEST_F(WorldTest, TheNodeIsPartOfIdsAndIsKept) {
  build(R"({"toolsets": ["admin"]})");
  const std::string node(json::view(info().at("node").as_string()));
  EXPECT_TRUE(is_node(node));
  EXPECT_THAT(json::write(call("audit_tail", "{}")), HasSubstr("req_" + node + "-"));
  EXPECT_EQ(config::open_node(world_->config(), random_).value(), node);
  const std::string key = world_->state_key().value();
  EXPECT_GE(key.size(), 32U);
  EXPECT_EQ(world_->state_key().value(), key);
}

TEST_F(WorldTest, TimeIsTheClockThatItWasGiven) {
  build(R"({"toolsets": ["admin"]})");
  EXPECT_EQ(info().at("startedAt"), json::value(format_iso8601(clock_.wall())));
}

TEST_F(WorldTest, EveryPartDescribesItself) {
  build(R"({"toolsets": ["admin", "code"], "mcps": [{"name": "other", "command": "/bin/false"}]})");
  const json::value told = info();
  for (const char* section : {"name", "version", "startedAt", "runtime", "policyMode", "limits", "audit",
                              "confirm", "results", "mounts", "execution", "toolsets", "upstreams"})
    EXPECT_TRUE(told.as_object().contains(section)) << section;
}

TEST_F(WorldTest, WithoutTheToolsetCodeNothingTellsOfRuns) {
  build(R"({"toolsets": ["admin"]})");
  EXPECT_FALSE(info().as_object().contains("execution"));
  EXPECT_THAT(world_->metrics().render(), Not(HasSubstr("relay_runs_total")));
}

TEST_F(WorldTest, AdoptedRulesJudgeTheNextCall) {
  build(R"({"toolsets": ["admin", "files"]})");
  world_->adopt(config_of(R"({"toolsets": ["admin", "files"], "policy": {"mode": "readonly"}})"));
  EXPECT_TRUE(is_refused(call("write", R"({"path": "/tmp/x", "content": "x"})")));
  EXPECT_EQ(info().at("policyMode"), json::value("readonly"));
}

TEST_F(WorldTest, AdoptedMountsHoldForTheNextCall) {
  std::filesystem::create_directories(folder_ / "a");
  build(R"({"toolsets": ["admin", "files"], "mounts": [{"name": "a", "path": "a", "mode": "rw"}]})");
  EXPECT_FALSE(is_refused(call("write", R"({"path": "/host/a/x", "content": "x"})")));
  world_->adopt(config_of(R"({"toolsets": ["admin", "files"], "mounts": [{"name": "a", "path": "a"}]})"));
  EXPECT_TRUE(is_refused(call("write", R"({"path": "/host/a/y", "content": "y"})")));
  EXPECT_FALSE(is_refused(call("read", R"({"path": "/host/a/x"})")));
  EXPECT_EQ(info().at("mounts"), (json::value{{{"path", "/host/a"}, {"mode", "ro"}}}));
  world_->adopt(config_of(R"({"toolsets": ["admin", "files"]})"));
  EXPECT_TRUE(is_refused(call("read", R"({"path": "/host/a/x"})")));
}

TEST_F(WorldTest, AMountThatIsGoneIsLeftOutAndTheOthersStay) {
  std::filesystem::create_directories(folder_ / "a");
  std::filesystem::create_directories(folder_ / "b");
  build(R"({"toolsets": ["files"], "mounts": [{"name": "a", "path": "a", "mode": "rw"}]})");
  const config::Config both = config_of(
      R"({"toolsets": ["files"], "mounts": [{"name": "a", "path": "a", "mode": "rw"}, {"name": "b", "path": "b"}]})");
  std::filesystem::remove(folder_ / "b");
  world_->adopt(both);
  EXPECT_FALSE(is_refused(call("write", R"({"path": "/host/a/x", "content": "x"})")));
  EXPECT_TRUE(is_refused(call("read", R"({"path": "/host/b"})")));
}

TEST_F(WorldTest, AdoptedDeniedPathsHoldForTheNextCall) {
  build(R"({"toolsets": ["files"]})");
  call("write", R"({"path": "/tmp/x", "content": "x"})");
  world_->adopt(config_of(R"({"toolsets": ["files"], "policy": {"filesystem": {"denied": ["/tmp/x"]}}})"));
  EXPECT_TRUE(is_refused(call("read", R"({"path": "/tmp/x"})")));
}

TEST_F(WorldTest, AToolThatIsSwitchedOffIsUnknownToTheNextCall) {
  build(R"({"toolsets": ["files"]})");
  world_->adopt(config_of(R"({"toolsets": ["files"], "tools": {"write": {"enabled": false}}})"));
  EXPECT_TRUE(call("write", R"({"path": "/tmp/x", "content": "x"})").as_object().contains("error"));
}

TEST_F(WorldTest, AToolsetGoesAndComesBackWithoutARestart) {
  build(R"({"toolsets": ["admin", "files"]})");
  world_->adopt(config_of(R"({"toolsets": ["admin"]})"));
  EXPECT_TRUE(call("read", R"({"path": "/tmp"})").as_object().contains("error"));
  EXPECT_EQ(info().at("toolsets"), (json::value{"admin"}));
  world_->adopt(config_of(R"({"toolsets": ["admin", "files", "code"]})"));
  EXPECT_FALSE(is_refused(call("read", R"({"path": "/tmp"})")));
  EXPECT_EQ(info().at("toolsets"), (json::value{"admin", "files"})) << "code was not opened at the start";
}

}  // namespace
}  // namespace relay::world
