#include "vfs/tree_path.h"

#include <gtest/gtest.h>

namespace relay::vfs {
namespace {

struct Case {
  const char* text;
  const char* clean;
  PathEnding ending;
};

TEST(TreePath, IsMadeClean) {
  const Case cases[] = {
      {"/", "/", PathEnding::directory},
      {"//", "/", PathEnding::directory},
      {"/tmp/x", "/tmp/x", PathEnding::any},
      {"/tmp//x///y", "/tmp/x/y", PathEnding::any},
      {"/tmp/x/", "/tmp/x", PathEnding::directory},
      {"/tmp/./x/.", "/tmp/x", PathEnding::directory},
      {"/tmp/a/../b", "/tmp/b", PathEnding::any},
      {"/tmp/a/..", "/tmp", PathEnding::directory},
      {"/../../etc/passwd", "/etc/passwd", PathEnding::any},
      {"/tmp/../../../etc", "/etc", PathEnding::any},
      {"/tmp/...", "/tmp/...", PathEnding::any},
      {"/tmp/..x", "/tmp/..x", PathEnding::any},
      {"/tmp/ä\xff b", "/tmp/ä\xff b", PathEnding::any},
  };
  for (const Case& c : cases) {
    const auto path = parse_tree_path(c.text);
    ASSERT_TRUE(path) << c.text;
    EXPECT_EQ(path->text(), c.clean) << c.text;
    EXPECT_EQ(path->ending, c.ending) << c.text;
  }
}

TEST(TreePath, RefusesWhatTheKernelWouldMisread) {
  using namespace std::string_view_literals;
  EXPECT_EQ(parse_tree_path("").error().number, ENOENT);
  EXPECT_EQ(parse_tree_path("/tmp/a\0b"sv).error().number, EINVAL);
  EXPECT_EQ(parse_tree_path("tmp/x").error().number, EINVAL);
  EXPECT_EQ(parse_tree_path("/" + std::string(256, 'a')).error().number, ENAMETOOLONG);
  EXPECT_TRUE(parse_tree_path("/" + std::string(255, 'a')));
  std::string deep;
  while (deep.size() <= 4096) deep += "/aaaa";
  EXPECT_EQ(parse_tree_path(deep).error().number, ENAMETOOLONG);
}

TEST(TreePath, JoinsAndSplits) {
  EXPECT_EQ(join("", "a"), "a");
  EXPECT_EQ(join("a", ""), "a");
  EXPECT_EQ(join("a/b", "c"), "a/b/c");
  EXPECT_EQ(join("/", "c"), "/c");
  EXPECT_EQ(split_last("a/b/c").directory, "a/b");
  EXPECT_EQ(split_last("a/b/c").name, "c");
  EXPECT_EQ(split_last("c").directory, "");
}

}  // namespace
}  // namespace relay::vfs
