#include "runs/run_host.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "audit/recorded_fixture.h"
#include "io/test_loop.h"
#include "runs/file_service.h"
#include "runs/server_service.h"
#include "vfs/workspace.h"

namespace relay::runs {
namespace {

class NoStream final : public executors::HostStream {
 public:
  void send_reply(json::value) override {}
  io::Task<void> send_event(std::string_view, json::object, std::string_view) override {
    co_return Result<void>{};
  }
};

class RunHostTest : public testing::Test {
 protected:
  RunHostTest() {
    for (const char* name : {"rw", "ro"}) std::filesystem::create_directory(folder.file(name));
    vfs::TreeSpec spec;
    spec.mounts.push_back({.name = "p", .host_path = folder.file("rw"), .mode = vfs::MountMode::rw});
    spec.mounts.push_back({.name = "r", .host_path = folder.file("ro"), .mode = vfs::MountMode::ro});
    spec.workspace_dir = folder.file("workspace");
    trees = std::move(*vfs::Trees::open(std::move(spec), nullptr));
    host = std::make_shared<RunHost>(std::vector<std::shared_ptr<HostService>>{
        std::make_shared<FileService>(recorded.get(), pool, *trees->open_tree(recorded.get())),
        std::make_shared<ServerService>(nullptr)});
  }
  Result<executors::HostReply> ask(std::string op, json::object args, std::string body = {}) {
    NoStream stream;
    executors::HostCall made{.op = std::move(op), .args = std::move(args), .body = std::move(body)};
    return loop.run(host->call(std::move(made), stream));
  }
  bool call(std::string op, json::object args, std::string body = {}) {
    const auto reply = ask(std::move(op), std::move(args), std::move(body));
    return reply && !reply->failure;
  }
  bool write(std::string path, std::string body, std::string mode = "create") {
    return call("fs.write", {{"path", std::move(path)}, {"mode", std::move(mode)}}, std::move(body));
  }
  static std::string args_of(const json::object& line) { return json::write(line.at("args")); }

  audit::TempFolder folder;
  audit::RecordedCall recorded;
  io::TestLoop loop;
  io::ThreadPool pool{1};
  std::unique_ptr<vfs::Trees> trees;
  std::shared_ptr<RunHost> host;
};

TEST_F(RunHostTest, AnOperationThatNoServiceHasIsRefusedByName) {
  const auto reply = ask("shell.exec", {});
  ASSERT_TRUE(reply && reply->failure);
  EXPECT_EQ(reply->failure->type, "ValidationError");
  EXPECT_EQ(reply->failure->message, "unknown operation \"shell.exec\"");
}

TEST_F(RunHostTest, ARunWithoutServersSaysSo) {
  const auto reply = ask("mcp.call", {});
  ASSERT_TRUE(reply && reply->failure);
  EXPECT_EQ(reply->failure->type, "NotFound");
}

TEST_F(RunHostTest, AChangeOfAMountIsAnEffectOfTheRun) {
  ASSERT_TRUE(write("/host/p//a", "12345"));
  ASSERT_TRUE(call("fs.rename", {{"from", "/host/p/a"}, {"to", "/host/p/b"}}));
  ASSERT_TRUE(call("fs.remove", {{"path", "/host/p/b"}}));
  const auto lines = recorded.lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(json::find_string(lines[0], "tool"), "fs.write");
  EXPECT_EQ(json::find_string(lines[0], "parent"), "req_1");
  EXPECT_EQ(json::find_int(lines[0], "tier"), 2);
  EXPECT_EQ(args_of(lines[0]), R"({"path":"/host/p/a","sentBytes":5})");
  EXPECT_EQ(args_of(lines[1]), R"({"path":"/host/p/a","to":"/host/p/b"})");
  EXPECT_EQ(json::find_string(lines[2], "tool"), "fs.remove");
}

TEST_F(RunHostTest, ManyWritesToOneFileAreSummed) {
  ASSERT_TRUE(write("/host/p/log", "x"));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(write("/host/p/log", "xx", "append"));
  host.reset();
  recorded.end();
  const auto lines = recorded.lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(args_of(lines[1]), R"({"count":21,"path":"/host/p/log","sentBytes":41})");
}

TEST_F(RunHostTest, AChangeThatIsRefusedIsOnRecordToo) {
  ASSERT_FALSE(write("/host/r/a", "1"));
  const auto lines = recorded.lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(json::find_bool(lines[0], "denied"), true);
}

TEST_F(RunHostTest, TheWorkspaceAndReadingLeaveNoLines) {
  ASSERT_TRUE(write("/tmp/a", "1"));
  ASSERT_TRUE(write("/out/a", "1"));
  ASSERT_TRUE(call("fs.list", {{"path", "/host/p"}}));
  EXPECT_TRUE(recorded.lines().empty());
}

// The guest spells the path; what counts is where it leads.
TEST_F(RunHostTest, APathThatOnlyBeginsInTheWorkspaceIsSeenThrough) {
  ASSERT_TRUE(write("/tmp/../host/p/a", "1"));
  EXPECT_EQ(recorded.lines().size(), 1U);
}

}  // namespace
}  // namespace relay::runs
