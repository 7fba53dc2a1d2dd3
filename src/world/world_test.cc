#include "world/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  void build(const std::string& text) {
    config::ConfigSources sources;
    sources.file = folder_ / "relay.config.json";
    sources.state = folder_ / "state";
    sources.text = text;
    config::LoadedConfig loaded = config::load_config(sources);
    ASSERT_TRUE(loaded.problems.empty()) << loaded.problems.front().what;
    auto built =
        World::build(loaded.config, Purpose::run,
                     {clock_, random_, loop_.executor(), log_, http_, std::make_shared<secrets::Redactor>()});
    ASSERT_TRUE(built) << built.error().message;
    world_ = std::move(*built);
    server_ = std::make_unique<mcp::Server>(loop_.executor(), world_->backend(), clock_, random_,
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
  policy::Policy stricter = world_->config().policy;
  stricter.rules.mode = policy::PolicyMode::readonly;
  world_->adopt_policy(stricter);
  EXPECT_TRUE(call("write", R"({"path": "/tmp/x", "content": "x"})").at("result").at("isError").as_bool());
  EXPECT_EQ(info().at("policyMode"), json::value("readonly"));
}

}  // namespace
}  // namespace relay::world
