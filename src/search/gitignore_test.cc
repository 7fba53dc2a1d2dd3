#include "search/gitignore.h"

#include <gtest/gtest.h>

namespace relay::search {
namespace {

struct IgnoreRow {
  const char* rules;
  const char* path;  // a slash at the end: a directory
  IgnoreVerdict verdict;
};

TEST(IgnoreFile, Table) {
  const IgnoreRow rows[] = {
      {"*.o", "a.o", IgnoreVerdict::ignored},
      {"*.o", "d/a.o", IgnoreVerdict::ignored},
      {"/a", "a", IgnoreVerdict::ignored},
      {"/a", "d/a", IgnoreVerdict::none},
      {"d/a", "d/a", IgnoreVerdict::ignored},
      {"d/a", "x/d/a", IgnoreVerdict::none},
      {"build/", "build/", IgnoreVerdict::ignored},
      {"build/", "build", IgnoreVerdict::none},
      {"build/", "x/build/", IgnoreVerdict::ignored},
      {"a/b/", "x/a/b/", IgnoreVerdict::none},
      {"**/a/b", "x/a/b", IgnoreVerdict::ignored},
      {"a/**", "a/x/y", IgnoreVerdict::ignored},
      {"a/**", "a/", IgnoreVerdict::none},
      {"a/**/b", "a/b", IgnoreVerdict::ignored},
      {"a/**/b", "a/x/y/b", IgnoreVerdict::ignored},
      {"*\n!a.o", "a.o", IgnoreVerdict::kept},
      {"!a.o\n*.o", "a.o", IgnoreVerdict::ignored},
      {"# note", "# note", IgnoreVerdict::none},
      {"\\#note", "#note", IgnoreVerdict::ignored},
      {"\\!x", "!x", IgnoreVerdict::ignored},
      {"", "x", IgnoreVerdict::none},
      {"a  ", "a", IgnoreVerdict::ignored},
      {"a\\ ", "a ", IgnoreVerdict::ignored},
      {"a\r\nb", "a", IgnoreVerdict::ignored},
      {"\xEF\xBB\xBF"
       "a",
       "a", IgnoreVerdict::ignored},
      {"[ab].c", "b.c", IgnoreVerdict::ignored},
      {"[!ab].c", "b.c", IgnoreVerdict::none},
      {"[", "[", IgnoreVerdict::none},
      {"{a,b}", "a", IgnoreVerdict::none},
      {"{a,b}", "{a,b}", IgnoreVerdict::ignored},
      {"foo*bar", "foo/bar", IgnoreVerdict::none},
      {"/*\n!/src/", "src/", IgnoreVerdict::kept},
      {"/*\n!/src/", "docs/", IgnoreVerdict::ignored},
      {"A", "a", IgnoreVerdict::none},
      {"/", "a", IgnoreVerdict::none},
      {"*.[oa]", "lib.a", IgnoreVerdict::ignored},
      {"a?c", "abc", IgnoreVerdict::ignored},
      {"a?c", "a/c", IgnoreVerdict::none},
      {"node_modules", "x/node_modules/", IgnoreVerdict::ignored},
  };
  for (const IgnoreRow& row : rows) {
    std::string_view path = row.path;
    const bool is_dir = path.ends_with('/');
    if (is_dir) path.remove_suffix(1);
    const IgnoreVerdict verdict =
        IgnoreFile::parse(row.rules).judge(path, is_dir ? vfs::FileType::directory : vfs::FileType::file);
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
  EXPECT_TRUE(sub->ignores("sub/a.log", vfs::FileType::file));
  EXPECT_FALSE(sub->ignores("sub/keep.log", vfs::FileType::file));
  EXPECT_TRUE(sub->ignores("sub/x", vfs::FileType::file));
  EXPECT_TRUE(sub->ignores("sub/y", vfs::FileType::file));
  EXPECT_FALSE(sub->ignores("sub/d/y", vfs::FileType::file));
}

TEST(IgnoreChain, IgnoreFilesBeatGitignoreFilesFromAnyLevel) {
  const auto root = chain({"", {}, IgnoreFile::parse("!x")});
  const auto sub = chain({"sub", IgnoreFile::parse("x\nz"), IgnoreFile::parse("!z")}, root);
  EXPECT_FALSE(sub->ignores("sub/x", vfs::FileType::file));
  EXPECT_FALSE(sub->ignores("sub/z", vfs::FileType::file));
}

TEST(IgnoreChain, ARepositoryStartsAnew) {
  const auto root = chain({"", IgnoreFile::parse("*.o"), IgnoreFile::parse("*.tmp")});
  const auto repository = chain({"sub", IgnoreFile::parse("*.x"), {}, true}, root);
  EXPECT_FALSE(repository->ignores("sub/a.o", vfs::FileType::file));
  EXPECT_TRUE(repository->ignores("sub/a.x", vfs::FileType::file));
  EXPECT_TRUE(repository->ignores("sub/a.tmp", vfs::FileType::file));
}

}  // namespace
}  // namespace relay::search
