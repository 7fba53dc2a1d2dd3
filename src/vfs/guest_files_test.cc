#include "vfs/guest_files.h"

#include <gtest/gtest.h>

#include "vfs/temp_dir.h"
#include "vfs/workspace.h"

namespace relay::vfs {
namespace {

class GuestFilesTest : public testing::Test {
 protected:
  GuestFilesTest() {
    TreeSpec spec;
    spec.workspace_dir = state_.path("w");
    trees_ = Trees::open(spec, nullptr).value();
    files_.emplace(trees_->open_tree(authority::Unrecorded::listing({})).value());
  }

  std::string call(std::string_view op, std::string_view args, std::string body = "") {
    const auto reply = files_->perform(op, json::parse_object(args).value(), std::move(body));
    if (!reply) return json::write(to_guest_error(reply.error()));
    return json::write(reply->result) + reply->body;
  }

  TempDir state_;
  std::unique_ptr<Trees> trees_;
  std::optional<GuestFiles> files_;
};

TEST_F(GuestFilesTest, SpeaksTheWire) {
  EXPECT_EQ(call("fs.write", R"({"path":"/tmp/f","mode":"create","exclusive":true})", "hello"),
            R"({"bytesWritten":5,"size":5})");
  EXPECT_EQ(call("fs.write", R"({"path":"/tmp/f","mode":"at","offset":4})", "O!"),
            R"({"bytesWritten":2,"size":6})");
  EXPECT_EQ(call("fs.write", R"({"path":"/tmp/f","mode":"append"})", "?"), R"({"bytesWritten":1,"size":7})");
  EXPECT_EQ(call("fs.read", R"({"path":"/tmp/f","offset":1,"length":4})"), R"({"size":7,"eof":false}ellO)");
  EXPECT_EQ(call("fs.read", R"({"path":"/tmp/f","offset":5.0})"), R"({"size":7,"eof":true}!?)");
  EXPECT_EQ(call("fs.truncate", R"({"path":"/tmp/f","size":1})"), "{}");
  EXPECT_EQ(call("fs.list", R"({"path":"/tmp"})"), R"({"entries":[{"name":"f","type":"file","size":1}]})");
  EXPECT_EQ(call("fs.mkdir", R"({"path":"/tmp/a/b","recursive":true})"), "{}");
  EXPECT_EQ(call("fs.rename", R"({"from":"/tmp/f","to":"/out/f"})"), "{}");
  EXPECT_NE(call("fs.stat", R"({"path":"/out/f"})").find(R"("type":"file","size":1,"mtimeMs":)"),
            std::string::npos);
  EXPECT_EQ(call("fs.remove", R"({"path":"/tmp/a","recursive":true})"), "{}");
}

TEST_F(GuestFilesTest, ErrorsCarryTheirErrno) {
  EXPECT_EQ(call("fs.read", R"({"path":"/tmp/no"})"),
            R"({"type":"NotFound","message":"ENOENT: /tmp/no: no such file or directory","errno":"ENOENT"})");
  const auto number = [&](std::string_view op, std::string_view args) {
    return std::string(errno_name(files_->perform(op, json::parse_object(args).value(), "x").error().number));
  };
  EXPECT_EQ(number("fs.read", R"({})"), "EINVAL");
  EXPECT_EQ(number("fs.read", R"({"path":7})"), "EINVAL");
  EXPECT_EQ(number("fs.read", R"({"path":"/tmp/x","offset":-1})"), "EINVAL");
  EXPECT_EQ(number("fs.read", R"({"path":"/tmp/x","offset":1.5})"), "EINVAL");
  EXPECT_EQ(number("fs.read", R"({"path":"/tmp/x","offset":1e300})"), "EINVAL");
  EXPECT_EQ(number("fs.write", R"({"path":"/tmp/x","mode":"sideways"})"), "EINVAL");
  EXPECT_EQ(number("fs.write", R"({"path":"/tmp/x","mode":"at","offset":1})"), "ENOENT");
  EXPECT_EQ(number("fs.chown", R"({"path":"/tmp/x"})"), "ENOSYS");
  EXPECT_EQ(number("fs.remove", R"({"path":"/tmp"})"), "EBUSY");
  EXPECT_FALSE(GuestFiles::handles("fetch"));
  EXPECT_TRUE(GuestFiles::handles("fs.read"));
}

TEST_F(GuestFilesTest, SparseWritesCountTheirFullSize) {
  EXPECT_EQ(call("fs.write", R"({"path":"/tmp/s","mode":"create"})", ""), R"({"bytesWritten":0,"size":0})");
  const auto hole = files_->perform(
      "fs.write", json::parse_object(R"({"path":"/tmp/s","mode":"at","offset":9007199254740992})").value(),
      "x");
  ASSERT_FALSE(hole);
  EXPECT_EQ(hole.error().number, ENOSPC);
}

}  // namespace
}  // namespace relay::vfs
