#include "pipeline/bound.h"

#include <random>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "pipeline/reply.h"
#include "pipeline/results_store.h"

namespace relay::pipeline {
namespace {

TEST(Bound, SaysHowMuchWasCutAndHowToGetTheRest) {
  EXPECT_EQ(bound_text("short", 100, "see x?offset={M}").text, "short");
  const Bounded cut = bound_text(std::string(1000, 'a'), 200, "see x?offset={M}");
  EXPECT_EQ(cut.text, std::string(cut.shown_bytes, 'a') + "\n\n[TRUNCATED - 1000 bytes total, " +
                          std::to_string(cut.shown_bytes) +
                          " shown; see x?offset=" + std::to_string(cut.shown_bytes) + "]");
  EXPECT_TRUE(cut.cut());
}

TEST(Bound, NeverExceedsItsBudgetNorSplitsACharacter) {
  std::mt19937 random(1);
  const std::string_view alphabet[] = {"a", "é", "€", "😀", "\n"};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (unsigned i = random() % 400; i > 0; --i) text += alphabet[random() % 5];
    const std::size_t budget = random() % 300;
    const Bounded bounded = bound_text(text, budget, random() % 2 ? "x{M}" : "");
    EXPECT_LE(bounded.text.size(), budget);
    EXPECT_TRUE(is_valid_utf8(bounded.text));
    EXPECT_EQ(bounded.text.substr(0, bounded.shown_bytes), text.substr(0, bounded.shown_bytes));
    EXPECT_EQ(bounded.cut(), text.size() > budget);
  }
}

struct Store {
  FakeClock clock;
  SystemRandom random;
  ResultsStore results{clock, random};
};

TEST(ResultsStore, GivesRangesOfBytesAndLinesToTheirOwner) {
  Store s;
  const std::string uri = s.results.keep("alice", "one\ntwo €\nthree\n");
  EXPECT_EQ(s.results.read("alice", uri)->text, "one\ntwo €\nthree\n");
  EXPECT_EQ(s.results.read("alice", uri + "?offset=4&length=3")->text, "two");
  EXPECT_EQ(s.results.read("alice", uri + "?offset=9&length=4")->text, "€\n");  // 9 is inside the euro sign
  EXPECT_EQ(s.results.read("alice", uri + "?line=2&lines=1")->text, "two €\n");
  EXPECT_EQ(s.results.read("alice", uri + "?line=3")->text, "three\n");
  EXPECT_EQ(s.results.read("alice", uri + "?line=99&lines=2")->text, "");
  EXPECT_EQ(s.results.read("alice", uri + "?offset=99999")->text, "");
  EXPECT_EQ(s.results.read("mallory", uri).error().kind, ErrorKind::not_found);
  for (const char* bad :
       {"?offset=-1", "?offset=", "?x=1", "?offset=1&line=1", "?offset=99999999999999999999", "?offset"})
    EXPECT_EQ(s.results.read("alice", uri + bad).error().kind, ErrorKind::invalid) << bad;
  s.clock.advance(limits::kResultKept);
  EXPECT_EQ(s.results.read("alice", uri).error().kind, ErrorKind::not_found);
  EXPECT_EQ(s.results.bytes(), 0U);
}

TEST(ResultsStore, IsBoundedInNumberAndBytes) {
  Store s;
  const std::string first = s.results.keep("a", "x");
  for (std::size_t i = 0; i < limits::kKeptResults; ++i) s.results.keep("a", "y");
  EXPECT_EQ(s.results.count(), limits::kKeptResults);
  EXPECT_FALSE(s.results.read("a", first));
  for (int i = 0; i < 12; ++i) s.results.keep("a", std::string(40 * limits::kMiB, 'z'));
  EXPECT_LE(s.results.bytes(), limits::kKeptBytes);
}

TEST(ResultsStore, PagesReadTheWholeTextBackByteForByte) {
  Store s;
  std::string text;
  for (int i = 0; text.size() < 300'000; ++i) text += fmt::format("line {} – €\n", i);
  const std::string uri = s.results.keep("a", text);
  std::string back;
  for (;;) {
    const auto slice = s.results.read("a", fmt::format("{}?offset={}&length=7777", uri, back.size()));
    ASSERT_TRUE(slice);
    back += slice->text;
    if (slice->last()) break;
  }
  EXPECT_EQ(back, text);
}

std::size_t text_bytes(const protocol::ToolResult& reply) {
  std::size_t bytes = 0;
  for (const auto& piece : reply.content)
    if (const auto* text = std::get_if<protocol::TextContent>(&piece)) bytes += text->text.size();
  return bytes;
}

TEST(Reply, ToolResultsAreBoundedWhateverTheirShape) {
  Store s;
  protocol::ToolResult many;
  for (int i = 0; i < 10; ++i) many.content.push_back(protocol::text_content(std::string(100'000, 'x')));
  many.content.push_back(protocol::image_content("png", "image/png"));
  bound(many, limits::kResultBytes, "a", s.results);
  EXPECT_LE(text_bytes(many), limits::kResultBytes);
  EXPECT_EQ(many.content.size(), 2U);
  const auto& text = std::get<protocol::TextContent>(many.content[0]).text;
  const std::size_t at = text.find("relay://results/");
  ASSERT_NE(at, std::string::npos) << text.substr(text.size() - 200);
  EXPECT_EQ(s.results.read("a", text.substr(at, text.find(' ', at) - at))->total_bytes, 1'000'009U);

  protocol::ToolResult proxied;
  proxied.raw = protocol::JsonText::trusted(R"({"content":[{"type":"text","text":")" +
                                            std::string(200'000, 'y') + R"("}],"isError":true})");
  bound(proxied, limits::kResultBytes, "a", s.results);
  EXPECT_FALSE(proxied.raw);
  EXPECT_TRUE(proxied.is_error);
  EXPECT_LE(text_bytes(proxied), limits::kResultBytes);

  protocol::ToolResult small;
  small.raw = protocol::JsonText::trusted(R"({"content":[]})");
  bound(small, limits::kResultBytes, "a", s.results);
  EXPECT_TRUE(small.raw);

  protocol::ToolResult structured =
      protocol::ToolResult::value(json::object{{"exitCode", 3}, {"x", std::string(8 * limits::kMiB, 'z')}});
  EXPECT_EQ(outcome_of(structured).exit_code, 3);
  bound(structured, limits::kResultBytes, "a", s.results);
  ASSERT_TRUE(structured.structured);
  EXPECT_EQ(structured.structured->at("exitCode").as_int64(), 3);
  EXPECT_LE(structured.structured->at("x").as_string().size(), limits::kResultBytes + 100);
  EXPECT_LE(text_bytes(structured), limits::kResultBytes);
}

}  // namespace
}  // namespace relay::pipeline
