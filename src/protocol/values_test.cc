// How MCP values look on the wire, by revision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/ask.h"
#include "protocol/capabilities.h"
#include "protocol/listing.h"
#include "protocol/modern_envelope.h"
#include "protocol/tool.h"

namespace relay::protocol {
namespace {

using testing::HasSubstr;
using testing::Not;

template <class T>
std::string write(const T& item, Revision revision) {
  std::string out;
  append_json(out, item, revision);
  EXPECT_TRUE(json::parse(out)) << out;
  return out;
}

std::string members(const ToolResult& result, Revision revision) {
  std::string out;
  append_members(out, result, revision);
  EXPECT_TRUE(json::parse("{" + out + "}")) << out;
  return out;
}

TEST(ToolWire, SchemaIsPassedOnByteForByte) {
  Tool tool;
  tool.name = "t";
  tool.input_schema = JsonText::trusted(R"({"type":"object",  "x-unknown":1.50,"$defs":{}})");
  EXPECT_THAT(write(tool, kLatestModern),
              HasSubstr(R"("inputSchema":{"type":"object",  "x-unknown":1.50,"$defs":{}})"));
}

TEST(ToolWire, FieldsFollowTheRevision) {
  Tool tool;
  tool.name = "t";
  tool.title = "T";
  tool.annotations.read_only = true;
  tool.icons.push_back({"data:x", "", {}, ""});
  tool.output_schema = JsonText::trusted(R"({"type":"array"})");
  tool.task_support = TaskSupport::optional;
  const std::string oldest = write(tool, Revision::v2024_11_05);
  EXPECT_THAT(oldest, Not(HasSubstr("annotations")));
  EXPECT_THAT(oldest, Not(HasSubstr("title")));
  EXPECT_THAT(write(tool, Revision::v2025_06_18), Not(HasSubstr("icons")));
  EXPECT_THAT(write(tool, Revision::v2025_11_25), HasSubstr(R"("taskSupport":"optional")"));
  EXPECT_THAT(write(tool, Revision::v2025_11_25), Not(HasSubstr("outputSchema")));
  EXPECT_THAT(write(tool, kLatestModern), HasSubstr("outputSchema"));
  EXPECT_THAT(write(tool, kLatestModern), Not(HasSubstr("execution")));
}

TEST(ToolWire, RawDescriptionGetsANewName) {
  Tool tool;
  tool.name = "up__t";
  tool.raw = JsonText::trusted(R"({"name":"t","inputSchema":{"n":1.0},"future":[1]})");
  EXPECT_EQ(write(tool, kLatestModern), R"({"name":"up__t","inputSchema":{"n":1.0},"future":[1]})");
}

TEST(ToolResultWire, TextAgreesWithStructuredContent) {
  const ToolResult result = ToolResult::value(json::object{{"sum", 3}});
  EXPECT_EQ(members(result, kLatestModern),
            R"x("content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3})x");
  EXPECT_THAT(members(result, Revision::v2025_03_26), Not(HasSubstr("structuredContent")));
  EXPECT_THAT(members(ToolResult::value(json::array{1}), Revision::v2025_11_25),
              Not(HasSubstr("structuredContent")));
  EXPECT_THAT(members(ToolResult::value(json::array{1}), kLatestModern),
              HasSubstr("\"structuredContent\":[1]"));
}

TEST(ContentWire, OldRevisionsGetWhatTheyKnow) {
  Resource file;
  file.uri = "file:///a";
  file.name = "a";
  EXPECT_THAT(write(Content(ResourceLink{file}), Revision::v2025_06_18), HasSubstr("resource_link"));
  EXPECT_THAT(write(Content(ResourceLink{file}), Revision::v2025_03_26), HasSubstr(R"("type":"text")"));
  EXPECT_THAT(write(audio_content("x", "audio/wav"), Revision::v2024_11_05), HasSubstr(R"("type":"text")"));
}

TEST(CompletionWire, AtMostAHundredValues) {
  Completion completion;
  completion.values.assign(150, "v");
  std::string out = "{";
  append_members(out, completion);
  const json::object parsed = *json::parse_object(out + "}");
  const json::object& body = parsed.at("completion").get_object();
  EXPECT_EQ(body.at("values").get_array().size(), 100u);
  EXPECT_TRUE(body.at("hasMore").get_bool());
}

TEST(Capabilities, EmptyElicitationMeansForms) {
  EXPECT_TRUE(parse_client_capabilities(*json::parse_object(R"({"elicitation":{}})")).elicitation_form);
  const auto url = parse_client_capabilities(*json::parse_object(R"({"elicitation":{"url":{}}})"));
  EXPECT_TRUE(url.elicitation_url);
  EXPECT_FALSE(url.elicitation_form);
  EXPECT_FALSE(
      parse_client_capabilities(*json::parse_object(R"({"elicitation":true,"sampling":[]})")).sampling);
}

TEST(Ask, OnlyWhatWasDeclared) {
  ClientCapabilities client;
  EXPECT_TRUE(missing_capability(ElicitForm{}, client));
  client.elicitation_form = client.sampling = true;
  EXPECT_FALSE(missing_capability(ElicitForm{}, client));
  SampleRequest sample;
  EXPECT_FALSE(missing_capability(sample, client));
  sample.tools.emplace_back();
  EXPECT_EQ(json::write(*missing_capability(sample, client)), R"({"sampling":{"tools":{}}})");
}

TEST(Ask, AnswersAreChecked) {
  const ElicitForm form{
      "?", JsonText::trusted(R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})")};
  EXPECT_TRUE(parse_answer(form, *json::parse(R"({"action":"accept","content":{"n":1}})")));
  EXPECT_TRUE(parse_answer(form, *json::parse(R"({"action":"decline"})")));
  EXPECT_FALSE(parse_answer(form, *json::parse(R"({"action":"accept","content":{"n":"x"}})")));
  EXPECT_FALSE(parse_answer(form, *json::parse(R"({"action":"accept"})")));
  EXPECT_FALSE(parse_answer(form, *json::parse(R"({"action":"yes"})")));
  EXPECT_FALSE(parse_answer(form, *json::parse("12345")));
  EXPECT_FALSE(parse_answer(RootsRequest{}, *json::parse(R"({"roots":[{"name":"x"}]})")));
  EXPECT_FALSE(parse_answer(SampleRequest{}, *json::parse(R"({"role":"assistant","content":7})")));
  const auto sample = parse_answer(
      SampleRequest{},
      *json::parse(
          R"({"role":"assistant","model":"m","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})"));
  ASSERT_TRUE(sample);
  EXPECT_EQ(std::get<SampleResult>(*sample).text(), "ab");
}

TEST(Envelope, RequiredKeysAreRequired) {
  const auto parse = [](std::string_view meta) {
    return parse_envelope(*json::parse_object(std::string(R"({"_meta":)") + std::string(meta) + "}"));
  };
  EXPECT_FALSE(parse("{}"));
  EXPECT_FALSE(parse(R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"})"));
  EXPECT_FALSE(parse(
      R"({"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":{}})"));
  EXPECT_FALSE(parse(
      R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"loud"})"));
  const auto good = parse(
      R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})");
  ASSERT_TRUE(good);
  EXPECT_FALSE(good->log_level);
}

TEST(Revision, NegotiationNeverAnswersModern) {
  EXPECT_EQ(negotiate("2025-03-26"), Revision::v2025_03_26);
  EXPECT_EQ(negotiate("2026-07-28"), kLatestLegacy);
  EXPECT_EQ(negotiate("nonsense"), kLatestLegacy);
  EXPECT_TRUE(names_modern_era("2027-01-01"));
  EXPECT_FALSE(names_modern_era("2025-11-25"));
}

}  // namespace
}  // namespace relay::protocol
