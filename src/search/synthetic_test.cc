// Files that functions compute, seen through the tree: as tools, guests and search see them.
#include "vfs/synthetic.h"

#include <gtest/gtest.h>

#include "search/search.h"
#include "vfs/tree.h"

namespace relay::vfs {
namespace {

using Entries = std::vector<ComputedFiles::Entry>;

class ComputedFilesTest : public testing::Test {
 protected:
  FileResult<Entries> list(std::string_view directory) {
    if (directory.empty()) return Entries{ComputedFiles::directory("hub"), ComputedFiles::file("README.md")};
    if (directory == "hub") {
      return Entries{
          ComputedFiles::input_file("invoke"), ComputedFiles::file("broken"), {"api.ts", FileType::file, 6}};
    }
    return fail(file_error(directory == "README.md" ? ENOTDIR : ENOENT, directory));
  }
  FileResult<std::string> read(std::string_view file) {
    read_.emplace_back(file);
    if (file == "hub/broken") return fail(file_error(EIO, file));
    return file == "hub/api.ts" ? "needle" : fmt::format("made up for {}: needle\n", file);
  }
  Tree tree() {
    ComputedFiles::Provider provider;
    provider.list = [this](std::string_view directory) { return list(directory); };
    provider.read = [this](std::string_view file) { return read(file); };
    provider.write = [this](std::string_view file, std::string_view bytes) -> FileResult<> {
      written_ += fmt::format("{}={}", file, bytes);
      return {};
    };
    TreeParts parts;
    parts.mcps = std::make_shared<ComputedFiles>(std::move(provider));
    return Tree(std::move(parts));
  }
  static std::string names(const Tree& tree, std::string_view path) {
    std::string text;
    for (const DirEntry& entry : tree.list(path).value().entries)
      text += fmt::format("{}:{} ", entry.name, entry.size);
    return text;
  }
  static std::vector<std::string> search(const Tree& tree, std::string path, std::string file_pattern = "") {
    search::SearchRequest request;
    request.pattern.text = "needle";
    request.paths = {std::move(path)};
    request.file_pattern = std::move(file_pattern);
    std::vector<std::string> paths;
    for (const search::SearchMatch& match : search::Searcher(1).search(tree, request).value().matches)
      paths.push_back(match.path);
    return paths;
  }

  std::vector<std::string> read_;
  std::string written_;
};

using Paths = std::vector<std::string>;

TEST_F(ComputedFilesTest, AreListedSortedWithTheirTrueSizes) {
  const Tree on = tree();
  EXPECT_EQ(names(on, "/mcps"), "README.md:30 hub:0 ");
  EXPECT_EQ(names(on, "/mcps/hub"), "api.ts:6 broken:0 invoke:0 ");
  EXPECT_EQ(on.stat("/mcps/README.md")->size, 30U);
  EXPECT_EQ(on.stat("/mcps/hub")->type, FileType::directory);
  EXPECT_EQ(on.stat("/mcps/hub/invoke")->mode, 0222U);
}

TEST_F(ComputedFilesTest, AreReadInParts) {
  const Tree on = tree();
  EXPECT_EQ(on.read("/mcps/README.md", 8, 3)->bytes, "for");
  EXPECT_EQ(on.read("/mcps/README.md", 0, 100)->bytes, "made up for README.md: needle\n");
}

TEST_F(ComputedFilesTest, WhatWasNotListedIsNotAskedFor) {
  const Tree on = tree();
  EXPECT_EQ(on.read("/mcps/hub/nothing", 0, 1).error().number, ENOENT);
  EXPECT_EQ(on.read("/mcps/README.md/x", 0, 1).error().number, ENOTDIR);
  EXPECT_EQ(on.read("/mcps/hub", 0, 1).error().number, EISDIR);
  EXPECT_EQ(on.list("/mcps/README.md").error().number, ENOTDIR);
  EXPECT_EQ(read_, Paths{});
}

TEST_F(ComputedFilesTest, TakeInputWhereTheySaySo) {
  Tree on = tree();
  EXPECT_TRUE(on.write({"/mcps/hub/invoke", "{}", WriteMode::overwrite}));
  EXPECT_EQ(written_, "hub/invoke={}");
  EXPECT_EQ(on.read("/mcps/hub/invoke", 0, 1).error().number, EACCES);
  EXPECT_EQ(on.write({"/mcps/hub/api.ts", "{}", WriteMode::overwrite}).error().number, EROFS);
  EXPECT_EQ(on.write({"/mcps/hub/new", "{}", WriteMode::create}).error().number, ENOENT);
  EXPECT_EQ(written_, "hub/invoke={}");
}

TEST_F(ComputedFilesTest, AreSearched) {
  const Tree on = tree();
  EXPECT_EQ(search(on, "/mcps"), (Paths{"/mcps/README.md", "/mcps/hub/api.ts"}));
  EXPECT_EQ(search(on, "/mcps", "*.ts"), Paths{"/mcps/hub/api.ts"});
  EXPECT_EQ(search(on, "/mcps", "hub/*"), Paths{"/mcps/hub/api.ts"});
  EXPECT_EQ(search(on, "/mcps/hub", "/api.*"), Paths{"/mcps/hub/api.ts"});
  EXPECT_EQ(search(on, "/mcps/hub/api.ts"), Paths{"/mcps/hub/api.ts"});
}

TEST_F(ComputedFilesTest, SearchKeepsToThePolicy) {
  const Tree on = tree().narrowed({{"/mcps/hub"}, {}, {}});
  EXPECT_EQ(search(on, "/mcps"), Paths{"/mcps/hub/api.ts"});
}

}  // namespace
}  // namespace relay::vfs
