#include <gtest/gtest.h>

#include "base/bytes.h"
#include "tools/file_uri.h"
#include "tools/files_edit.h"
#include "tools/files_read.h"
#include "tools/files_search.h"
#include "tools/files_tools.h"
#include "tools/files_write.h"
#include "tools/kept_results.h"
#include "vfs/temp_dir.h"

namespace relay::tools {
namespace {

using protocol::TextContent;
using protocol::ToolResult;

json::object object(std::string_view text) {
  return json::parse_object(text).value();
}

std::string text_of(const ToolResult& result) {
  return std::get<TextContent>(result.content.at(0)).text;
}

class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    vfs::TreeParts parts;
    parts.tmp = vfs::Mount::open({"tmp", dir_.path(), vfs::MountMode::rw}).value();
    tree_.emplace(std::move(parts));
  }

  ToolResult read(std::string_view arguments) {
    auto result = read_path(*tree_, read_read_arguments(object(arguments)));
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : ToolResult::error("");
  }
  json::object structured(std::string_view arguments) { return read(arguments).structured->as_object(); }
  Error failure(std::string_view arguments) {
    return read_path(*tree_, read_read_arguments(object(arguments))).error();
  }

  vfs::TempDir dir_;
  std::optional<vfs::Tree> tree_;
};

TEST_F(FilesTest, ReadsAWholeFile) {
  dir_.write("f", "hällo\n");
  const ToolResult result = read(R"({"path":"/tmp/f"})");
  EXPECT_EQ(text_of(result), "hällo\n");
  EXPECT_EQ(json::write(*result.structured), R"({"content":"hällo\n","encoding":"utf-8","size":7})");
}

TEST_F(FilesTest, PagesByBytesWithoutSplittingCharacters) {
  std::string all;
  for (int i = 0; i < 100; ++i) all += "aä€😀";
  dir_.write("f", all);
  for (const int step : {5, 6, 7, 11, 64}) {
    std::string joined;
    std::int64_t offset = 0;
    for (int guard = 0; guard < 1000; ++guard) {
      const auto page =
          structured(fmt::format(R"({{"path":"/tmp/f","offset":{},"maxBytes":{}}})", offset, step));
      const std::string_view content = *json::find_string(page, "content");
      EXPECT_TRUE(is_valid_utf8(content));
      joined += content;
      const auto next = json::find_int(page, "nextOffset");
      if (!next) break;
      ASSERT_GT(*next, offset);
      offset = *next;
    }
    EXPECT_EQ(joined, all) << step;
  }
  EXPECT_EQ(*json::find_int(structured(R"({"path":"/tmp/f","offset":2})"), "offset"), 3);
}

TEST_F(FilesTest, PagesByLines) {
  std::string all;
  for (int i = 1; i <= 50; ++i) all += fmt::format("line {}\n", i);
  dir_.write("f", all);
  const ToolResult result = read(R"({"path":"/tmp/f","line":10,"lines":2})");
  EXPECT_TRUE(text_of(result).starts_with("line 10\nline 11\n\n[bytes ")) << text_of(result);
  EXPECT_NE(text_of(result).find("read on with line=12"), std::string::npos);
  EXPECT_EQ(*json::find_int(result.structured->as_object(), "nextLine"), 12);
  EXPECT_EQ(*json::find_string(structured(R"({"path":"/tmp/f","line":49})"), "content"),
            "line 49\nline 50\n");
  EXPECT_EQ(json::find(structured(R"({"path":"/tmp/f","line":49})"), "nextLine"), nullptr);
  EXPECT_NE(failure(R"({"path":"/tmp/f","line":99})").message.find("has only 50 lines"), std::string::npos);
}

TEST_F(FilesTest, APartFitsTheBudgetInBothForms) {
  std::string lines;
  for (int i = 0; lines.size() < 200'000; ++i) lines += fmt::format("\"line\" {}\n", i);
  dir_.write("big", lines);
  const ToolResult result = read(R"({"path":"/tmp/big"})");
  const json::object& shown = result.structured->as_object();
  const std::string_view content = *json::find_string(shown, "content");
  EXPECT_LE(text_of(result).size(), limits::kResultBytes);
  EXPECT_LE(json::write(shown).size(), limits::kResultBytes);
  EXPECT_GT(json::write(shown).size(), limits::kResultBytes - 1000);  // escapes are counted, not guessed
  EXPECT_TRUE(*json::find_bool(shown, "truncated"));
  EXPECT_EQ(*json::find_string(shown, "rest"), fmt::format("read on with offset={}", content.size()));
  EXPECT_TRUE(text_of(result).ends_with(
      fmt::format("[bytes 0-{0} of {1}; read on with offset={0}]", content.size(), lines.size())));

  const ToolResult by_line = read(R"({"path":"/tmp/big","line":3})");
  EXPECT_TRUE(json::find_string(by_line.structured->as_object(), "content")->ends_with('\n'));
  EXPECT_NE(json::find_int(by_line.structured->as_object(), "nextLine"), std::nullopt);

  const auto asked = structured(R"({"path":"/tmp/big","maxBytes":150000})");
  EXPECT_EQ(json::find_string(asked, "content")->size(), 150'000U);
}

TEST_F(FilesTest, Base64PagesByTheBytesOfTheFile) {
  dir_.write("big", std::string(200'000, '\0'));
  const std::string text = text_of(read(R"({"path":"/tmp/big","encoding":"base64"})"));
  EXPECT_TRUE(text.ends_with("\n[bytes 0-48768 of 200000; read on with offset=48768]"))
      << text.substr(text.size() - 80);
  EXPECT_TRUE(find_base64(text.substr(0, text.find('\n'))) == std::string(48'768, '\0'));
}

TEST_F(FilesTest, ListsToADepthAndFindsByName) {
  dir_.write("a/b/c.txt", "x");
  dir_.write("a/d.txt", "x");
  EXPECT_EQ(text_of(read(R"({"path":"/tmp/a"})")), "b/\nd.txt 1\n");
  EXPECT_EQ(text_of(read(R"({"path":"/tmp","depth":2})")), "a/\na/b/\na/d.txt 1\n");
  EXPECT_EQ(text_of(read(R"({"path":"/tmp","depth":3})")), "a/\na/b/\na/b/c.txt 1\na/d.txt 1\n");
}

TEST(SearchResult, LinesAroundMatchesStandInItOnce) {
  search::SearchRequest request;
  request.context = 2;
  search::SearchResult found;
  found.matches = {{"/tmp/a", 3, 1, "x", {"1", "2"}, {"4", "5"}},
                   {"/tmp/a", 5, 1, "x", {"3", "4"}, {"6", "7"}},
                   {"/tmp/a", 9, 1, "x", {"7", "8"}, {"10", "11"}},
                   {"/tmp/a", 20, 1, "x", {"18", "19"}, {}}};
  found.total = 4;
  const ToolResult result = search_result(request, found);
  EXPECT_EQ(text_of(result).substr(0, text_of(result).find('[')),
            "/tmp/a\n  1- 1\n  2- 2\n  3:1: x\n  4- 4\n  5:1: x\n  6- 6\n  7- 7\n  8- 8\n  9:1: x\n"
            "  10- 10\n  11- 11\n  --\n  18- 18\n  19- 19\n  20:1: x\n");
  EXPECT_EQ(json::write(result.structured->at("matches").as_array()[1]),
            R"({"path":"/tmp/a","line":5,"column":1,"text":"x","after":["6","7"]})");
}

EditArguments edit_of(std::string old_text, std::string new_text, std::size_t count = 1) {
  return {"/tmp/f", std::move(old_text), std::move(new_text), count};
}

std::string diff_between(std::string_view text, const EditArguments& arguments) {
  const auto edited = replace_text(text, arguments);
  return edited ? diff_of(text, arguments, *edited) : edited.error().message;
}

TEST(Edit, ReplacesExactlyAsOftenAsExpected) {
  EXPECT_EQ(replace_text("a b a", edit_of("b", "c"))->text, "a c a");
  EXPECT_EQ(replace_text("aaa", edit_of("aa", "b"))->text, "ba");  // occurrences do not overlap
  EXPECT_EQ(replace_text("a b a", edit_of("a", "", 2))->text, " b ");
  EXPECT_NE(replace_text("a b a", edit_of("a", "c")).error().message.find("2 times in /tmp/f, not 1"),
            std::string::npos);
  EXPECT_NE(replace_text("a", edit_of("b", "c")).error().message.find("not in /tmp/f"), std::string::npos);
  EXPECT_FALSE(replace_text("a", edit_of("", "c")));
  EXPECT_FALSE(replace_text("a", edit_of("a", "a")));
}

TEST(Edit, ShowsTheChangedLinesAsDiffDoes) {
  const std::string text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n";
  EXPECT_EQ(diff_between(text, edit_of("7\n8", "7\nseven\n8")),
            "@@ -5,6 +5,7 @@\n 5\n 6\n 7\n+seven\n 8\n 9\n 10\n");
  EXPECT_EQ(diff_between("x\na\nb\nc\nd\ne\nf\ng\nh\nx\n", edit_of("x", "y\nz", 2)),
            "@@ -1,4 +1,5 @@\n-x\n+y\n+z\n a\n b\n c\n@@ -7,4 +8,5 @@\n f\n g\n h\n-x\n+y\n+z\n");
  EXPECT_EQ(diff_between("a\nb\nc\n", edit_of("b\n", "")), "@@ -1,3 +1,2 @@\n a\n-b\n c\n");
  EXPECT_EQ(diff_between("a\nb", edit_of("b", "c")),
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n");
  EXPECT_EQ(diff_between("a\nb\n", edit_of("a\n", "x ")), "@@ -1,2 +1,1 @@\n-a\n-b\n+x b\n");
}

TEST(KeptResults, AreReadLikeFiles) {
  FakeClock clock;
  SystemRandom random;
  pipeline::ResultsStore results(clock, random);
  const std::string uri = results.keep("ann", "one\ntwo\nthree\n");
  const auto read_with = [&](std::string path, std::string_view more) {
    json::object arguments = object(more);
    arguments["path"] = std::move(path);
    return read_kept(results, "ann", read_read_arguments(arguments));
  };
  EXPECT_TRUE(is_kept_result(uri));
  EXPECT_EQ(json::write(*read_with(uri, "{}")->structured),
            R"({"content":"one\ntwo\nthree\n","encoding":"utf-8","size":14})");
  for (const auto& [path, more] :
       {std::pair(uri + "?offset=4&length=4", "{}"), std::pair(uri + "?line=2&lines=1", "{}"),
        std::pair(uri, R"({"offset":4,"maxBytes":4})"), std::pair(uri, R"({"line":2,"lines":1})")}) {
    const auto found = read_with(path, more);
    ASSERT_TRUE(found) << path;
    EXPECT_EQ(*json::find_string(found->structured->as_object(), "content"), "two\n") << path;
    EXPECT_EQ(*json::find_int(found->structured->as_object(), "nextOffset"), 8) << path;
  }
  EXPECT_EQ(*json::find_int(read_with(uri, R"({"line":2,"lines":1})")->structured->as_object(), "nextLine"),
            3);
  EXPECT_EQ(json::write(*read_with(uri, R"({"stat":true})")->structured), R"({"type":"result","size":14})");
  EXPECT_EQ(read_kept(results, "bob", {.path = uri}).error().kind, ErrorKind::not_found);
}

TEST_F(FilesTest, BinaryFiles) {
  dir_.write("b.png", std::string("\x89PNG\0\xff", 6));
  EXPECT_NE(failure(R"({"path":"/tmp/b.png"})").message.find("is binary (6 bytes)"), std::string::npos);
  const auto base64 = structured(R"({"path":"/tmp/b.png","encoding":"base64"})");
  EXPECT_EQ(find_base64(*json::find_string(base64, "content")), std::string("\x89PNG\0\xff", 6));
  const ToolResult shown = read(R"({"path":"/tmp/b.png","encoding":"binary"})");
  EXPECT_EQ(std::get<protocol::ImageContent>(shown.content.at(1)).mime_type, "image/png");
  dir_.write("latin", "caf\xE9\n");
  const ToolResult lossy = read(R"({"path":"/tmp/latin"})");
  EXPECT_TRUE(is_valid_utf8(text_of(lossy)));
  EXPECT_TRUE(*json::find_bool(lossy.structured->as_object(), "lossy"));
}

TEST_F(FilesTest, ListsAndStats) {
  dir_.write("d/a.txt", "12345");
  dir_.make_dir("d/sub");
  const ToolResult listing = read(R"({"path":"/tmp/d"})");
  EXPECT_EQ(text_of(listing), "a.txt 5\nsub/\n");
  EXPECT_EQ(
      json::write(*listing.structured),
      R"({"type":"dir","entries":[{"name":"a.txt","type":"file","size":5},{"name":"sub","type":"dir"}]})");
  const ToolResult found = read(R"({"path":"/tmp/d/a.txt","stat":true})");
  EXPECT_EQ(*json::find_int(found.structured->as_object(), "size"), 5);
  EXPECT_EQ(failure(R"({"path":"/tmp/none"})").kind, ErrorKind::not_found);
}

TEST_F(FilesTest, WriteArguments) {
  const auto request = read_write_arguments(
      object(R"({"path":"/out/x","content":"aGk=","encoding":"base64","mode":"append","parents":true})"));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->bytes, "hi");
  EXPECT_EQ(request->mode, vfs::WriteMode::append);
  EXPECT_EQ(request->parents, vfs::Parents::created);
  EXPECT_EQ(request->durability, vfs::Durability::synced);
  EXPECT_FALSE(read_write_arguments(object(R"({"path":"/out/x","content":"a b","encoding":"base64"})")));
  EXPECT_EQ(read_write_arguments(object(R"({"path":"/out/x","content":""})"))->mode, vfs::WriteMode::create);
}

TEST_F(FilesTest, WriteTierFollowsTheCleanPath) {
  const auto tier = [](std::string_view path) { return write_tier({{"path", path}}); };
  EXPECT_EQ(tier("/tmp/x"), authority::Tier::reversible);
  EXPECT_EQ(tier("/out//x"), authority::Tier::reversible);
  EXPECT_EQ(tier("/host/p/x"), authority::Tier::stateful);
  EXPECT_EQ(tier("/tmp/../host/p/x"), authority::Tier::stateful);
  EXPECT_EQ(tier("/tmpfoo"), authority::Tier::stateful);
  EXPECT_EQ(tier("x"), authority::Tier::stateful);
}

TEST_F(FilesTest, WriteResultLinksToTheFile) {
  const ToolResult result = write_result("/out/a b.json", {16, 16, true});
  EXPECT_EQ(text_of(result), "created: wrote 16 bytes to /out/a b.json (16 bytes now)");
  EXPECT_EQ(std::get<protocol::ResourceLink>(result.content.at(1)).resource.uri,
            "relay://files/out%2Fa%20b.json");
  EXPECT_EQ(*json::find_int(result.structured->as_object(), "bytesWritten"), 16);
}

TEST_F(FilesTest, SearchSpeaksCompactly) {
  dir_.write("a.cc", "one\ntwo x\nthree\n");
  dir_.write("b.cc", "x\nx\n");
  search::Searcher searcher(0);
  const auto ask = [&](std::string_view arguments) {
    const search::SearchRequest request = read_search_arguments(object(arguments));
    return search_result(request, searcher.search(*tree_, request).value());
  };
  EXPECT_EQ(text_of(ask(R"({"pattern":"x"})")),
            "/tmp/a.cc\n  2:5: two x\n/tmp/b.cc\n  1:1: x\n  2:1: x\n[3 matches in 2 files searched]");
  EXPECT_EQ(text_of(ask(R"({"pattern":"two","context":1})")),
            "/tmp/a.cc\n  1- one\n  2:1: two x\n  3- three\n[1 matches in 2 files searched]");
  EXPECT_EQ(text_of(ask(R"({"pattern":"x","filesOnly":true})")),
            "/tmp/a.cc\n/tmp/b.cc\n[2 files in 2 files searched]");
  const ToolResult cut = ask(R"({"pattern":"X","caseSensitive":false,"maxResults":1})");
  EXPECT_EQ(
      json::write(*cut.structured),
      R"({"matches":[{"path":"/tmp/a.cc","line":2,"column":5,"text":"two x"}],"totalMatches":3,"truncated":true,"filesSearched":2,"rest":"the first 1 are here; raise maxResults, or narrow paths or filePattern"})");
  EXPECT_EQ(json::write(ask(R"({"pattern":"a.c","literal":true})").structured->as_object()["matches"]), "[]");
}

TEST(FileUri, ThereAndBack) {
  for (const char* path : {"/out/a b.txt", "/host/p/ä%2F?#x", "/tmp/x", "/"}) {
    const std::string uri = uri_of_file(path);
    EXPECT_EQ(find_file_of_uri(uri), path) << uri;
    EXPECT_EQ(uri.find('/', std::string_view("relay://files/").size()), std::string::npos);
  }
  EXPECT_EQ(find_file_of_uri("relay://files/tmp/x"), "/tmp/x");
  EXPECT_EQ(find_file_of_uri("relay://files/%2"), std::nullopt);
  EXPECT_EQ(find_file_of_uri("relay://files/%zz"), std::nullopt);
  EXPECT_EQ(find_file_of_uri("relay://results/1"), std::nullopt);
}

TEST(FilesTools, NameTheMountsAndTakeTheirTiersFromTheCode) {
  vfs::TempDir state;
  vfs::TreeSpec spec;
  spec.workspace_dir = state.path("w");
  spec.mounts = {{"p", state.path()}};
  auto trees = vfs::Trees::open(spec, nullptr).value();
  io::ThreadPool pool(1);
  FakeClock clock;
  SystemRandom random;
  pipeline::ResultsStore results(clock, random);
  const auto world = std::make_shared<FilesWorld>(
      FilesWorld{*trees, pool, std::make_shared<search::Searcher>(1), pool, results, {}});
  pipeline::Toolset toolset("files");
  ASSERT_TRUE(add_files_tools(toolset, world));
  std::vector<protocol::Tool> tools;
  toolset.append_tools({}, tools);
  ASSERT_EQ(tools.size(), 4U);
  for (const protocol::Tool& tool : tools)
    EXPECT_TRUE(tool.description.ends_with(" Mounts: /host/p (ro).")) << tool.description;
  std::vector<protocol::Resource> resources;
  toolset.append_resources({}, resources);
  EXPECT_EQ(resources.size(), 3U);  // the mount, /tmp and /out
  const auto writing = toolset.find({}, "write");
  ASSERT_NE(writing, nullptr);
  EXPECT_EQ(writing->guarded.classify({{"path", "/host/p/x"}}), authority::Tier::stateful);
  EXPECT_EQ(toolset.find({}, "read")->guarded.tier, authority::Tier::read_only);
}

TEST(FilesPolicyText, UsesThePathAsTheTreeReadsIt) {
  EXPECT_EQ(read_policy_text({{"path", "/tmp//a/../b"}}), "/tmp/b");
  EXPECT_EQ(write_policy_text({{"path", "/out/./x"}, {"content", "text"}}), "/out/x create\ntext");
  EXPECT_EQ(search_policy_text(object(R"({"pattern":"p","paths":["/host//a"],"filePattern":"*.c"})")),
            "p /host/a *.c");
}

}  // namespace
}  // namespace relay::tools
