#include "pipeline/bound.h"

#include <random>

#include <fmt/format.h>
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
  Bounds bounds(std::size_t budget_bytes = limits::kResultBytes) { return {budget_bytes, "a", results}; }
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
  bound(many, s.bounds());
  EXPECT_LE(text_bytes(many), limits::kResultBytes);
  EXPECT_EQ(many.content.size(), 2U);
  const auto& text = std::get<protocol::TextContent>(many.content[0]).text;
  const std::size_t at = text.find("relay://results/");
  ASSERT_NE(at, std::string::npos) << text.substr(text.size() - 200);
  EXPECT_EQ(s.results.read("a", text.substr(at, text.find(' ', at) - at))->total_bytes, 1'000'009U);

  protocol::ToolResult proxied;
  proxied.raw = protocol::JsonText::trusted(R"({"content":[{"type":"text","text":")" +
                                            std::string(200'000, 'y') + R"("}],"isError":true})");
  bound(proxied, s.bounds());
  EXPECT_FALSE(proxied.raw);
  EXPECT_TRUE(proxied.is_error);
  EXPECT_LE(text_bytes(proxied), limits::kResultBytes);

  protocol::ToolResult small;
  small.raw = protocol::JsonText::trusted(R"({"content":[]})");
  bound(small, s.bounds());
  EXPECT_TRUE(small.raw);

  protocol::ToolResult structured =
      protocol::ToolResult::value(json::object{{"exitCode", 3}, {"x", std::string(8 * limits::kMiB, 'z')}});
  EXPECT_EQ(outcome_of(structured).exit_code, 3);
  bound(structured, s.bounds());
  ASSERT_TRUE(structured.structured);
  EXPECT_EQ(structured.structured->at("exitCode").as_int64(), 3);
  EXPECT_LE(json::write(*structured.structured).size(), limits::kResultBytes);
  EXPECT_EQ(structured.structured->at("x").as_string().find('['),
            std::string::npos);  // no marker in the value
  EXPECT_TRUE(structured.structured->at("truncated").as_bool());
  EXPECT_TRUE(structured.content.empty());  // the text that is sent is the bounded structure
}

// The URI of a rest: "call read with path relay://results/x?offset=7 (stdout: …)".
std::string uri_in(std::string_view rest) {
  const std::string_view from = rest.substr(rest.find(kResultsPrefix));
  return std::string(from.substr(0, from.find(' ')));
}

TEST(BoundStructure, KeepsSmallMembersWholeAndSharesTheRestAmongTheLargeOnes) {
  json::object members{{"exitCode", 1},
                       {"note", "short"},
                       {"stdout", std::string(5000, 'a')},
                       {"stderr", std::string(9000, '\n')}};
  const std::vector<CutMember> cuts = bound_structure(members, 2000);
  EXPECT_LE(json::write(members).size(), 2000U);
  EXPECT_GT(json::write(members).size(), 1900U);
  EXPECT_EQ(members.at("note"), "short");
  ASSERT_EQ(cuts.size(), 2U);
  EXPECT_EQ(cuts[0].name, "stdout");
  EXPECT_EQ(cuts[0].total, 5000U);
  EXPECT_EQ(cuts[0].query(), "?offset=" + std::to_string(members.at("stdout").as_string().size()));
  EXPECT_EQ(cuts[1].whole, std::string(9000, '\n'));
  EXPECT_LT(members.at("stderr").as_string().size() * 2, 1000U);  // escapes count
}

TEST(BoundStructure, CutsListsBetweenItemsAndCountsThem) {
  json::array matches;
  for (int i = 0; i < 1000; ++i) matches.push_back({{"line", i}});
  json::object members{{"matches", matches}, {"totalMatches", 1000}};
  const std::vector<CutMember> cuts = bound_structure(members, 800);
  EXPECT_LE(json::write(members).size(), 800U);
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_EQ(cuts[0].shown, members.at("matches").as_array().size());
  EXPECT_EQ(cuts[0].total, 1000U);
  EXPECT_EQ(json::parse(cuts[0].whole).value(), json::value(matches));
  // The named line is the first item that is not shown.
  Store s;
  const auto rest = s.results.read("a", s.results.keep("a", cuts[0].whole) + cuts[0].query());
  EXPECT_TRUE(rest->text.starts_with(json::write(matches[cuts[0].shown]))) << rest->text.substr(0, 100);
}

TEST(BoundStructure, FitsWhateverTheShape) {
  std::mt19937 random(7);
  const auto make = [&](auto& self, int depth) -> json::value {
    const unsigned kind = depth == 0 ? random() % 2 : random() % 4;
    if (kind == 0) return json::string(random() % 300, random() % 3 == 0 ? '"' : 'x');
    if (kind == 1) return static_cast<int>(random() % 1000);
    if (kind == 2) {
      json::array items;
      for (unsigned i = random() % 20; i > 0; --i) items.push_back(self(self, depth - 1));
      return items;
    }
    json::object members;
    for (unsigned i = random() % 20; i > 0; --i) members[fmt::format("k{}", i)] = self(self, depth - 1);
    return members;
  };
  for (int round = 0; round < 300; ++round) {
    json::object members{{"a", make(make, 4)}, {"b", make(make, 2)}};
    const std::size_t before = json::write(members).size();
    const std::size_t budget = 300 + random() % 3000;
    const auto cuts = bound_structure(members, budget);
    EXPECT_LE(json::write(members).size(), std::max<std::size_t>(budget, 300)) << round;
    EXPECT_EQ(cuts.empty(), before <= budget);
  }
}

TEST(Reply, TheRestOfAStructureIsNamedAndReadsBack) {
  Store s;
  s.results.set_read_tool("read");
  std::string printed;
  for (int i = 0; i < 20'000; ++i) printed += fmt::format("{}\n", i);
  protocol::ToolResult reply = protocol::ToolResult::value(json::object{{"stdout", printed}});
  bound(reply, s.bounds());
  const json::object& shown = reply.structured->as_object();
  const std::string rest(*json::find_string(shown, "rest"));
  EXPECT_TRUE(rest.starts_with("call read with path relay://results/")) << rest;
  EXPECT_TRUE(rest.ends_with(
      fmt::format("(stdout: {} of {} bytes shown)", shown.at("stdout").as_string().size(), printed.size())))
      << rest;
  std::string whole(*json::find_string(shown, "stdout"));
  const std::string uri = uri_in(rest);
  const RangeRequest range = parse_results_uri(uri).value();
  EXPECT_EQ(range.offset, whole.size());
  whole += s.results.read("a", range, printed.size())->text;
  EXPECT_EQ(whole, printed);
}

TEST(Reply, AnUpstreamStructureStillFitsItsSchema) {
  Store s;
  const auto reply_of = [](std::string_view text) {
    protocol::ToolResult reply;
    reply.raw = protocol::JsonText::trusted(fmt::format(
        R"({{"content":[{{"type":"text","text":"t"}}],"structuredContent":{{"x":"{}"}}}})", text));
    return reply;
  };
  const auto closed = protocol::JsonText::trusted(
      R"({"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":false})");
  protocol::ToolResult cut = reply_of(std::string(200'000, 'y'));
  Bounds bounds = s.bounds();
  bounds.output_schema = &closed;
  bound(cut, bounds);
  EXPECT_FALSE(cut.is_error);
  EXPECT_EQ(cut.structured->as_object().size(), 1U);
  EXPECT_TRUE(cut.meta.at("truncated").as_bool());

  const auto exact = protocol::JsonText::trusted(
      R"({"type":"object","properties":{"x":{"type":"string","minLength":200000}}})");
  protocol::ToolResult refused = reply_of(std::string(200'000, 'y'));
  bounds.output_schema = &exact;
  bound(refused, bounds);
  EXPECT_TRUE(refused.is_error);  // a client that checks the schema would refuse what is left
  EXPECT_FALSE(refused.structured);
}

TEST(Reply, AnUpstreamResultWhoseFormsFitStaysByteForByte) {
  Store s;
  const std::string text(40'000, 'y');
  protocol::ToolResult both;
  both.raw = protocol::JsonText::trusted(fmt::format(
      R"({{"content":[{{"type":"text","text":"{0}"}}],"structuredContent":{{"x":"{0}"}},"extra":1}})", text));
  bound(both, s.bounds());
  EXPECT_TRUE(both.raw);
  protocol::ToolResult unbounded;
  unbounded.raw = protocol::JsonText::trusted(
      fmt::format(R"({{"content":[{{"type":"text","text":"{}"}}]}})", std::string(200'000, 'y')));
  bound(unbounded, s.bounds(kNoBudget));
  EXPECT_TRUE(unbounded.raw);
}

}  // namespace
}  // namespace relay::pipeline
