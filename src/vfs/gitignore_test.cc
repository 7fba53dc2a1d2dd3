#include "vfs/gitignore.h"

#include <gtest/gtest.h>

namespace relay::vfs {
namespace {

struct Row {
  const char* rules;
  const char* path;  // a slash at the end: a directory
  Verdict verdict;
};

TEST(IgnoreFile, Table) {
  const Row rows[] = {
      {"*.o", "a.o", Verdict::ignored},
      {"*.o", "d/a.o", Verdict::ignored},
      {"/a", "a", Verdict::ignored},
      {"/a", "d/a", Verdict::none},
      {"d/a", "d/a", Verdict::ignored},
      {"d/a", "x/d/a", Verdict::none},
      {"build/", "build/", Verdict::ignored},
      {"build/", "build", Verdict::none},
      {"build/", "x/build/", Verdict::ignored},
      {"a/b/", "x/a/b/", Verdict::none},
      {"**/a/b", "x/a/b", Verdict::ignored},
      {"a/**", "a/x/y", Verdict::ignored},
      {"a/**", "a/", Verdict::none},
      {"a/**/b", "a/b", Verdict::ignored},
      {"a/**/b", "a/x/y/b", Verdict::ignored},
      {"*\n!a.o", "a.o", Verdict::kept},
      {"!a.o\n*.o", "a.o", Verdict::ignored},
      {"# note", "# note", Verdict::none},
      {"\\#note", "#note", Verdict::ignored},
      {"\\!x", "!x", Verdict::ignored},
      {"", "x", Verdict::none},
      {"a  ", "a", Verdict::ignored},
      {"a\\ ", "a ", Verdict::ignored},
      {"a\r\nb", "a", Verdict::ignored},
      {"\xEF\xBB\xBF"
       "a",
       "a", Verdict::ignored},
      {"[ab].c", "b.c", Verdict::ignored},
      {"[!ab].c", "b.c", Verdict::none},
      {"[", "[", Verdict::none},
      {"{a,b}", "a", Verdict::none},
      {"{a,b}", "{a,b}", Verdict::ignored},
      {"foo*bar", "foo/bar", Verdict::none},
      {"/*\n!/src/", "src/", Verdict::kept},
      {"/*\n!/src/", "docs/", Verdict::ignored},
      {"A", "a", Verdict::none},
      {"/", "a", Verdict::none},
      {"*.[oa]", "lib.a", Verdict::ignored},
      {"a?c", "abc", Verdict::ignored},
      {"a?c", "a/c", Verdict::none},
      {"node_modules", "x/node_modules/", Verdict::ignored},
  };
  for (const Row& row : rows) {
    std::string_view path = row.path;
    const bool is_dir = path.ends_with('/');
    if (is_dir) path.remove_suffix(1);
    const Verdict verdict =
        IgnoreFile::parse(row.rules).judge(path, is_dir ? FileType::directory : FileType::file);
    EXPECT_EQ(verdict, row.verdict) << row.rules << " on " << row.path;
  }
}

std::shared_ptr<const IgnoreChain> chain(IgnoreChain::Level level,
                                         std::shared_ptr<const IgnoreChain> above = nullptr) {
  return std::make_shared<IgnoreChain>(std::move(level), std::move(above));
}

TEST(IgnoreChain, TheNearestOpinionDecides) {
  const auto root = chain({"", IgnoreFile::parse("*.log\n/sub/x"), {}});
  const auto sub = chain({"sub", IgnoreFile::parse("!keep.log\n/y"), {}}, root);
  EXPECT_TRUE(sub->ignores("sub/a.log", FileType::file));
  EXPECT_FALSE(sub->ignores("sub/keep.log", FileType::file));
  EXPECT_TRUE(sub->ignores("sub/x", FileType::file));
  EXPECT_TRUE(sub->ignores("sub/y", FileType::file));
  EXPECT_FALSE(sub->ignores("sub/d/y", FileType::file));
}

TEST(IgnoreChain, IgnoreFilesBeatGitignoreFilesFromAnyLevel) {
  const auto root = chain({"", {}, IgnoreFile::parse("!x")});
  const auto sub = chain({"sub", IgnoreFile::parse("x\nz"), IgnoreFile::parse("!z")}, root);
  EXPECT_FALSE(sub->ignores("sub/x", FileType::file));
  EXPECT_FALSE(sub->ignores("sub/z", FileType::file));
}

TEST(IgnoreChain, ARepositoryStartsAnew) {
  const auto root = chain({"", IgnoreFile::parse("*.o"), IgnoreFile::parse("*.tmp")});
  const auto repository = chain({"sub", IgnoreFile::parse("*.x"), {}, true}, root);
  EXPECT_FALSE(repository->ignores("sub/a.o", FileType::file));
  EXPECT_TRUE(repository->ignores("sub/a.x", FileType::file));
  EXPECT_TRUE(repository->ignores("sub/a.tmp", FileType::file));
}

}  // namespace
}  // namespace relay::vfs
