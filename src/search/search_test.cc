#include "search/search.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "vfs/temp_dir.h"

namespace relay::search {
namespace {

class SearchTest : public testing::Test {
 protected:
  void open(vfs::MountSpec spec = {}) {
    spec.name = "p";
    spec.host_path = dir_.path();
    vfs::TreeParts parts;
    parts.host.push_back(vfs::Mount::open(spec).value());
    parts.mcps = std::make_shared<vfs::FixedFiles>(
        std::vector<vfs::FixedFiles::File>{{"hub/api.ts", "export function find_issue()\n"}});
    tree_.emplace(std::move(parts));
  }

  SearchResult search(SearchRequest request) {
    if (!tree_) open();
    if (request.paths.empty()) request.paths = {"/host/p"};
    auto result = searcher_.search(*tree_, request);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : SearchResult{};
  }
  std::string paths(const SearchRequest& request) {
    std::string text;
    for (const SearchMatch& match : search(request).matches)
      text += match.path.substr(std::min<std::size_t>(8, match.path.size())) + " ";
    return text;
  }
  static SearchRequest ask(std::string pattern) {
    SearchRequest request;
    request.pattern.text = std::move(pattern);
    return request;
  }

  vfs::TempDir dir_;
  std::optional<vfs::Tree> tree_;
  Searcher searcher_{3};
};

TEST_F(SearchTest, SaysWhere) {
  dir_.write("src/a.cc", "one\ntwo needle\r\nthree\n");
  dir_.write("b.txt", "needle");
  const SearchResult result = search(ask("needle"));
  ASSERT_EQ(result.matches.size(), 2U);
  EXPECT_EQ(result.matches[0].path, "/host/p/b.txt");
  EXPECT_EQ(result.matches[1].path, "/host/p/src/a.cc");
  EXPECT_EQ(result.matches[1].line, 2U);
  EXPECT_EQ(result.matches[1].column, 5U);
  EXPECT_EQ(result.matches[1].text, "two needle");
  EXPECT_EQ(result.total, 2U);
  EXPECT_EQ(result.files_searched, 2U);
  EXPECT_EQ(result.end, SearchEnd::complete);
}

TEST_F(SearchTest, LeavesOutHiddenIgnoredAndBinaryFiles) {
  dir_.write(".gitignore", "*.log\nbuild/\n!keep.log\n");
  dir_.write(".hidden", "x");
  dir_.write("a.log", "x");
  dir_.write("keep.log", "x");
  dir_.write("build/out.txt", "x");
  dir_.write("src/.ignore", "gen.cc");
  dir_.write("src/gen.cc", "x");
  dir_.write("src/real.cc", "x");
  dir_.write("binary", std::string("x\0y", 3));
  EXPECT_EQ(paths(ask("x")), "keep.log src/real.cc ");
  SearchRequest all = ask("^x");
  all.ignored = Ignored::included;
  EXPECT_EQ(paths(all), ".hidden a.log build/out.txt keep.log src/gen.cc src/real.cc ");
}

TEST_F(SearchTest, FindsNamesWithoutAPattern) {
  dir_.write("src/a.cc", "x");
  dir_.write("src/empty.cc", "");
  dir_.write("src/binary.cc", std::string("\0", 1));
  dir_.write("src/b.h", "x");
  SearchRequest request = ask("");
  request.report = Report::names;
  request.file_pattern = "*.cc";
  EXPECT_EQ(paths(request), "src/a.cc src/binary.cc src/empty.cc ");
  request.results_max = 1;
  EXPECT_EQ(search(request).total, 3U);
}

TEST_F(SearchTest, RulesAboveTheSearchedPathCount) {
  dir_.write(".gitignore", "*.o\n/lib/gen\n");
  dir_.write("lib/a.o", "x");
  dir_.write("lib/gen/b", "x");
  dir_.write("lib/c", "x");
  SearchRequest request = ask("x");
  request.paths = {"/host/p/lib"};
  EXPECT_EQ(paths(request), "lib/c ");
  request.paths = {"/host/p/lib/a.o"};  // named by hand: searched
  EXPECT_EQ(paths(request), "lib/a.o ");
}

TEST_F(SearchTest, FilePatterns) {
  for (const char* name : {"a.ts", "b.tsx", "src/c.ts", "src/deep/d.ts", "lib/e.js"}) dir_.write(name, "x");
  const auto with = [&](std::string pattern) {
    SearchRequest request = ask("x");
    request.file_pattern = std::move(pattern);
    return paths(request);
  };
  EXPECT_EQ(with("*.ts"), "a.ts src/c.ts src/deep/d.ts ");
  EXPECT_EQ(with("*.{tsx,js}"), "b.tsx lib/e.js ");
  EXPECT_EQ(with("src/**/*.ts"), "src/c.ts src/deep/d.ts ");
  EXPECT_EQ(with("src/*.ts"), "src/c.ts ");
  SearchRequest bad = ask("x");
  bad.file_pattern = "[x";
  EXPECT_FALSE(searcher_.search(*tree_, bad));
}

TEST_F(SearchTest, RulesOfTheMountHide) {
  dir_.write("secret/key", "x");
  dir_.write("open", "x");
  dir_.write("id.pem", "x");
  vfs::MountSpec spec;
  spec.deny = {"secret", "*.pem"};
  open(spec);
  SearchRequest all = ask("x");
  all.ignored = Ignored::included;
  EXPECT_EQ(paths(all), "open ");
  all.paths = {"/host/p/secret"};
  EXPECT_EQ(searcher_.search(*tree_, all).error().kind, ErrorKind::denied);
}

TEST_F(SearchTest, PoliciesHide) {
  dir_.write("a/x", "x");
  dir_.write("b/c/x", "x");
  dir_.write("b/d/x", "x");
  open();
  const vfs::Tree narrow = tree_->narrowed({{"/host/p/b/c"}, {}, {}});
  const auto result = searcher_.search(narrow, ask("x"));
  ASSERT_TRUE(result);
  ASSERT_EQ(result->matches.size(), 1U);
  EXPECT_EQ(result->matches[0].path, "/host/p/b/c/x");
}

TEST_F(SearchTest, LinksAndPipesAreLeftAlone) {
  vfs::TempDir outside;
  outside.write("secret", "x");
  dir_.write("real", "x");
  dir_.link(outside.path(), "link");
  dir_.link("real", "alias");
  ASSERT_EQ(::mkfifo(dir_.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(paths(ask("x")), "real ");
}

TEST_F(SearchTest, FindsInMadeUpFilesAndThroughTheRoot) {
  dir_.write("f", "find_issue\n");
  SearchRequest request = ask("find_\\w+");
  request.paths = {"/", "/host"};
  const SearchResult result = search(request);
  ASSERT_EQ(result.matches.size(), 2U);
  EXPECT_EQ(result.matches[1].path, "/mcps/hub/api.ts");
  EXPECT_EQ(result.matches[1].column, 17U);
}

TEST_F(SearchTest, KeepsTheFirstInOrderAndCountsTheRest) {
  for (int i = 0; i < 300; ++i) dir_.write(fmt::format("d{}/f{:03}", i % 7, i), "x\nx\n");
  SearchRequest request = ask("x");
  request.results_max = 5;
  const SearchResult first = search(request);
  EXPECT_EQ(first.total, 600U);
  EXPECT_EQ(first.end, SearchEnd::complete);
  ASSERT_EQ(first.matches.size(), 5U);
  EXPECT_EQ(first.matches[0].path, "/host/p/d0/f000");
  EXPECT_EQ(first.matches[4].path, "/host/p/d0/f014");
  for (int i = 0; i < 20; ++i) {
    const SearchResult again = search(request);
    EXPECT_EQ(again.matches[4].path, first.matches[4].path);
    EXPECT_EQ(again.matches[3].line, first.matches[3].line);
  }
  request.total_max = 100;
  const SearchResult bounded = search(request);
  EXPECT_EQ(bounded.total, 100U);
  EXPECT_EQ(bounded.end, SearchEnd::counted);
  request.total_max = 100'000;
  request.report = Report::files;
  EXPECT_EQ(search(request).total, 300U);
}

TEST_F(SearchTest, GivesContextAlsoAcrossWindows) {
  std::string text;
  for (int i = 1; i <= 30'000; ++i) text += fmt::format("line {}\n", i);
  dir_.write("big", text);
  for (const int wanted : {1, 2, 5'000, 9'999, 16'384, 29'999, 30'000}) {
    SearchRequest request = ask(fmt::format("^line {}$", wanted));
    request.context = 3;
    const SearchResult result = search(request);
    ASSERT_EQ(result.matches.size(), 1U) << wanted;
    const SearchMatch& match = result.matches[0];
    EXPECT_EQ(match.line, static_cast<std::uint64_t>(wanted));
    ASSERT_EQ(match.before.size(), static_cast<std::size_t>(std::min(3, wanted - 1)));
    ASSERT_EQ(match.after.size(), static_cast<std::size_t>(std::min(3, 30'000 - wanted)));
    if (!match.before.empty()) EXPECT_EQ(match.before.back(), fmt::format("line {}", wanted - 1));
    if (!match.after.empty()) EXPECT_EQ(match.after.front(), fmt::format("line {}", wanted + 1));
  }
}

TEST_F(SearchTest, LongLinesAndOddEncodings) {
  dir_.write("long", std::string(200'000, 'a') + "needle" + std::string(200'000, 'b') + "\nneedle\n");
  dir_.write("marked", "\xEF\xBB\xBFneedle\n");
  dir_.write("wide", std::string("\xFF\xFEn\0e\0e\0d\0l\0e\0\n\0", 16));
  dir_.write("latin", "\xE4\xF6 needle \xFF\n");
  const SearchResult result = search(ask("needle"));
  ASSERT_EQ(result.matches.size(), 5U);
  EXPECT_EQ(result.matches[0].path, "/host/p/latin");
  EXPECT_TRUE(is_valid_utf8(result.matches[0].text));
  EXPECT_EQ(result.matches[1].column, 200'001U);
  EXPECT_LE(result.matches[1].text.size(), limits::kSearchLineBytes + 6);
  EXPECT_NE(result.matches[1].text.find("needle"), std::string::npos);
  EXPECT_EQ(result.matches[2].line, 2U);
  EXPECT_EQ(result.matches[3].column, 1U);
  EXPECT_EQ(result.matches[4].path, "/host/p/wide");
}

TEST_F(SearchTest, StopsWhenTold) {
  for (int i = 0; i < 200; ++i) dir_.write(fmt::format("d/f{}", i), "x\n");
  open();
  std::stop_source source;
  source.request_stop();
  const auto stopped = searcher_.search(*tree_, ask("x"), source.get_token());
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->end, SearchEnd::stopped);
  SearchRequest late = ask("x");
  late.time_max = std::chrono::milliseconds(0);
  EXPECT_EQ(search(late).end, SearchEnd::deadline);
  EXPECT_EQ(search(late).files_searched, 0U);
}

TEST_F(SearchTest, ManySearchesShareTheHelpers) {
  for (int i = 0; i < 100; ++i) dir_.write(fmt::format("d{}/f", i), "x\n");
  open();
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      SearchRequest request = ask("x");
      request.paths = {"/host/p"};
      for (int k = 0; k < 5; ++k) right += searcher_.search(*tree_, request)->total == 100;
    });
  }
  threads.clear();
  EXPECT_EQ(right, 40);
}

TEST(Excerpt, ShowsTheMatchAndNeverSplitsACharacter) {
  EXPECT_EQ(excerpt("short", 0, 10), "short");
  EXPECT_EQ(excerpt("0123456789abcdef", 0, 8), "01234567...");
  EXPECT_EQ(excerpt("0123456789abcdef", 15, 8), "...89abcdef");
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "ä";
  for (std::size_t at = 0; at < wide.size(); ++at) EXPECT_TRUE(is_valid_utf8(excerpt(wide, at, 21)));
}

// The same question to ripgrep, where it is installed.
TEST_F(SearchTest, AgreesWithRipgrep) {
  if (std::system("rg --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "ripgrep is not installed";
  dir_.write(".gitignore", "*.o\n/out/*\n!/out/keep\nd?c/\n**/gen/*.c\n!gen/b.c\n\\#x\n[a-c]z\n");
  dir_.write("sub/.gitignore", "!x.o\n/only\n*.t[mx]p\n");
  dir_.write("sub/.ignore", "!q.tmp\nz/\n");
  dir_.write("repo/.git/config", "x");
  dir_.write("repo/.gitignore", "a");
  for (const char* name :
       {"a.o",         "out/a",   "out/keep", "doc/x",    "dxc/x",      "gen/a.c",   "gen/b.c",
        "sub/gen/a.c", "sub/x.o", "sub/y.o",  "sub/only", "sub/d/only", "sub/q.tmp", "sub/r.txp",
        "sub/z/f",     "repo/a",  "repo/b.o", "#x",       "az",         "dz",        "plain"}) {
    dir_.write(name, "one\nthe x here\n  x\n");
  }
  for (const char* pattern : {"x", "^", "$", "x$", "e\\s+x", "\\bhere\\b", "[^o]e"}) {
    SearchRequest request = ask(pattern);
    request.results_max = 10'000;
    std::string ours;
    for (const SearchMatch& match : search(request).matches) {
      ours += fmt::format("{}:{}:{}:{}\n", match.path.substr(8), match.line, match.column, match.text);
    }
    const std::string command = fmt::format(
        "cd {} && rg --no-config --no-require-git -n --column --no-heading --color never -- '{}' . "
        "| sed 's,^[.]/,,' | LC_ALL=C sort -t: -k1,1 -k2,2n",
        dir_.path(), pattern);
    std::string theirs;
    FILE* pipe = ::popen(command.c_str(), "r");
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) theirs += static_cast<char>(c);
    ::pclose(pipe);
    EXPECT_EQ(ours, theirs) << pattern;
  }
}

}  // namespace
}  // namespace relay::search
