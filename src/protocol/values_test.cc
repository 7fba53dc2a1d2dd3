// How MCP values look on the wire, by revision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/ask.h"
#include "protocol/capabilities.h"
#include "protocol/listing.h"
#include "protocol/modern_envelope.h"
#include "protocol/tool.h"
#include "protocol/uri_template.h"

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

// Each revision gets exactly the members it defines: strict clients refuse a whole listing for one that they
// do not know.
TEST(ToolWire, EachRevisionGetsExactlyItsMembers) {
  Tool tool;
  tool.name = "t";
  tool.title = "T";
  tool.description = "d";
  tool.annotations = {
      .title = "A", .read_only = true, .destructive = false, .idempotent = true, .open_world = false};
  tool.icons.push_back({"data:x", "", {}, ""});
  tool.output_schema = JsonText::trusted(R"({"type":"object"})");
  tool.task_support = TaskSupport::required;
  const std::string start = R"({"name":"t",)";
  const std::string title = R"("title":"T",)";
  const std::string input = R"("description":"d","inputSchema":{"type":"object"})";
  const std::string output = R"(,"outputSchema":{"type":"object"})";
  const std::string hints =
      R"(,"annotations":{"title":"A","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false})";
  const std::string icons = R"(,"icons":[{"src":"data:x"}])";
  EXPECT_EQ(write(tool, Revision::v2024_11_05), start + input + "}");
  EXPECT_EQ(write(tool, Revision::v2025_03_26), start + input + hints + "}");
  EXPECT_EQ(write(tool, Revision::v2025_06_18), start + title + input + output + hints + "}");
  EXPECT_EQ(write(tool, Revision::v2025_11_25),
            start + title + input + output + hints + icons + R"(,"execution":{"taskSupport":"required"}})");
  EXPECT_EQ(write(tool, Revision::v2026_07_28), start + title + input + output + hints + icons + "}");
}

TEST(ToolWire, OneHintIsEnoughForAnnotationsAndNoneIsNot) {
  Tool tool;
  tool.name = "t";
  const std::string plain = write(tool, kLatestModern);
  EXPECT_EQ(plain, R"({"name":"t","inputSchema":{"type":"object"}})");
  const auto with = [&](auto change) {
    Tool changed = tool;
    change(changed.annotations);
    return write(changed, kLatestModern);
  };
  EXPECT_THAT(with([](ToolAnnotations& a) { a.title = "x"; }), HasSubstr(R"("annotations":{"title":"x"})"));
  EXPECT_THAT(with([](ToolAnnotations& a) { a.read_only = false; }), HasSubstr(R"({"readOnlyHint":false})"));
  EXPECT_THAT(with([](ToolAnnotations& a) { a.destructive = true; }),
              HasSubstr(R"({"destructiveHint":true})"));
  EXPECT_THAT(with([](ToolAnnotations& a) { a.idempotent = true; }), HasSubstr(R"({"idempotentHint":true})"));
  EXPECT_THAT(with([](ToolAnnotations& a) { a.open_world = true; }), HasSubstr(R"({"openWorldHint":true})"));
}

TEST(ToolWire, ARawDescriptionLosesOnlyTheOutputSchemaThatALegacyClientRefuses) {
  Tool tool;
  tool.name = "n";
  tool.raw = JsonText::trusted(R"({"name":"t","outputSchema":{"type":"array"},"x":1})");
  tool.output_schema = JsonText::trusted(R"({"type":"array"})");
  EXPECT_EQ(write(tool, Revision::v2025_11_25), R"({"name":"n","x":1})");
  EXPECT_EQ(write(tool, kLatestModern), R"({"name":"n","outputSchema":{"type":"array"},"x":1})");
  tool.output_schema = JsonText::trusted(R"({"type":"object"})");
  EXPECT_THAT(write(tool, Revision::v2025_06_18), HasSubstr("outputSchema"));
  EXPECT_EQ(write(tool, Revision::v2025_03_26), R"({"name":"n","x":1})");
}

TEST(ToolResultWire, PiecesErrorsAndStructuredPartsStandInOrder) {
  ToolResult result = ToolResult::error("a");
  result.content.push_back(text_content("b"));
  EXPECT_EQ(members(result, kLatestModern),
            R"("content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":true)");
  result.is_error = false;
  result.structured = json::object{{"x", 1}};
  EXPECT_EQ(
      members(result, Revision::v2025_06_18),
      R"("content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"x":1})");
  EXPECT_EQ(members(ToolResult{}, kLatestModern), R"("content":[])");
}

TEST(ContentWire, EachRevisionGetsExactlyItsMembers) {
  Resource file;
  file.uri = "file:///a";
  file.name = "a";
  file.title = "A";
  file.size = 3;
  file.annotations.priority = 0.5;
  file.icons.push_back({"data:x", "image/png", {"16x16"}, "dark"});
  const std::string rest = R"("size":3,"annotations":{"priority":0.5})";
  EXPECT_EQ(write(file, Revision::v2025_03_26), R"({"uri":"file:///a","name":"a",)" + rest + "}");
  EXPECT_EQ(write(file, Revision::v2025_06_18), R"({"uri":"file:///a","name":"a","title":"A",)" + rest + "}");
  EXPECT_EQ(write(file, Revision::v2025_11_25),
            R"({"uri":"file:///a","name":"a","title":"A",)" + rest +
                R"(,"icons":[{"src":"data:x","mimeType":"image/png","sizes":["16x16"],"theme":"dark"}]})");
  EXPECT_EQ(write(audio_content("x", "audio/wav"), Revision::v2025_03_26),
            R"({"type":"audio","data":"eA==","mimeType":"audio/wav"})");
  EXPECT_EQ(write(image_content("x", "image/png"), Revision::v2024_11_05),
            R"({"type":"image","data":"eA==","mimeType":"image/png"})");
  EXPECT_EQ(write(Content(ResourceLink{file}), Revision::v2025_03_26),
            R"({"type":"text","text":"file:///a","annotations":{"priority":0.5}})");
}

TEST(ListingWire, PromptsAndTemplatesFollowTheRevision) {
  Prompt prompt;
  prompt.name = "p";
  prompt.title = "P";
  prompt.icons.push_back({"data:x", "", {}, ""});
  prompt.arguments.push_back({.name = "a", .title = "A", .description = "", .required = true});
  EXPECT_EQ(write(prompt, Revision::v2025_03_26),
            R"({"name":"p","arguments":[{"name":"a","required":true}]})");
  EXPECT_EQ(write(prompt, Revision::v2025_06_18),
            R"({"name":"p","title":"P","arguments":[{"name":"a","title":"A","required":true}]})");
  EXPECT_THAT(write(prompt, Revision::v2025_11_25), HasSubstr(R"("icons":[{"src":"data:x"}])"));
  prompt.arguments.clear();
  prompt.icons.clear();
  EXPECT_EQ(write(prompt, Revision::v2025_11_25), R"({"name":"p","title":"P"})");
  ResourceTemplate item;
  item.uri_template = "a:{b}";
  item.name = "n";
  item.title = "N";
  EXPECT_EQ(write(item, Revision::v2025_03_26), R"({"uriTemplate":"a:{b}","name":"n"})");
  EXPECT_EQ(write(item, Revision::v2025_06_18), R"({"uriTemplate":"a:{b}","name":"n","title":"N"})");
}

TEST(CompletionWire, ExactlyAHundredValuesAreAll) {
  Completion completion;
  completion.values.assign(100, "v");
  std::string out = "{";
  append_members(out, completion);
  EXPECT_FALSE(json::parse_object(out + "}")->at("completion").get_object().at("hasMore").get_bool());
  completion.has_more = true;
  completion.total = 7;
  out = "{";
  append_members(out, completion);
  const json::object parsed = *json::parse_object(out + "}");
  EXPECT_TRUE(parsed.at("completion").get_object().at("hasMore").get_bool());
  EXPECT_EQ(parsed.at("completion").get_object().at("total").get_int64(), 7);
}

TEST(CompletionWire, ARequestNamesAPromptOrAResource) {
  const auto parse = [](std::string_view text) {
    return parse_completion_request(*json::parse_object(text));
  };
  const auto prompt = parse(
      R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"},"context":{"arguments":{"x":"y"}}})");
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt->kind, CompletionRequest::Kind::prompt);
  EXPECT_EQ(prompt->ref, "p");
  EXPECT_TRUE(prompt->context.contains("x"));
  const auto resource =
      parse(R"({"ref":{"type":"ref/resource","uri":"u"},"argument":{"name":"a","value":"v"}})");
  ASSERT_TRUE(resource);
  EXPECT_EQ(resource->kind, CompletionRequest::Kind::resource);
  for (const std::string_view text :
       {R"({"argument":{"name":"a","value":"v"}})", R"({"ref":{"type":"ref/prompt","name":"p"}})",
        R"({"ref":{"type":"ref/tool","name":"p"},"argument":{"name":"a","value":"v"}})",
        R"({"ref":{"type":"ref/prompt","uri":"p"},"argument":{"name":"a","value":"v"}})",
        R"({"ref":{"type":"ref/resource","name":"p"},"argument":{"name":"a","value":"v"}})",
        R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"value":"v"}})",
        R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a"}})"})
    EXPECT_FALSE(parse(text)) << text;
}

TEST(Capabilities, EachRevisionIsToldWhatItKnows) {
  ServerCapabilities server;
  server.resources = server.resource_subscriptions = server.prompts = server.completions = server.tasks =
      true;
  const std::string start =
      R"({"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true})";
  EXPECT_EQ(write(server, Revision::v2024_11_05), start + R"(,"logging":{}})");
  EXPECT_EQ(write(server, Revision::v2025_03_26), start + R"(,"completions":{},"logging":{}})");
  EXPECT_THAT(write(server, Revision::v2025_11_25), HasSubstr(R"("tasks":{"list":{})"));
  EXPECT_THAT(write(server, Revision::v2025_11_25), Not(HasSubstr("extensions")));
  EXPECT_THAT(write(server, Revision::v2025_06_18), Not(HasSubstr("tasks")));
  EXPECT_THAT(write(server, kLatestModern), HasSubstr("extensions"));
  ServerCapabilities none;
  none.tools = none.logging = none.list_changes = false;
  EXPECT_EQ(write(none, kLatestModern), "{}");
  EXPECT_THAT(write(Implementation{.name = "n", .title = "T", .version = "1", .description = "d"},
                    Revision::v2025_06_18),
              Not(HasSubstr("description")));
}

TEST(Capabilities, OfAClientAreReadOneByOne) {
  const auto parse = [](std::string_view text) {
    return parse_client_capabilities(*json::parse_object(text));
  };
  EXPECT_TRUE(parse(R"({"roots":{}})").roots);
  EXPECT_FALSE(parse("{}").roots);
  EXPECT_TRUE(parse(R"({"sampling":{"tools":{}}})").sampling_tools);
  EXPECT_FALSE(parse(R"({"sampling":{}})").sampling_tools);
  EXPECT_TRUE(parse(R"({"elicitation":{"url":{},"form":{}}})").elicitation_form);
  EXPECT_TRUE(parse(R"({"extensions":{"a":{}}})").has_extension("a"));
  EXPECT_FALSE(parse(R"({"extensions":{"a":{}}})").has_extension("b"));
  EXPECT_FALSE(parse("{}").has_extension("a"));
}

TEST(Ask, EachKindNeedsItsCapability) {
  const auto needed = [](const InputRequest& request, const ClientCapabilities& client) {
    const auto missing = missing_capability(request, client);
    return missing ? json::write(*missing) : std::string();
  };
  const ClientCapabilities none;
  EXPECT_EQ(needed(ElicitUrl{}, none), R"({"elicitation":{"url":{}}})");
  EXPECT_EQ(needed(RootsRequest{}, none), R"({"roots":{}})");
  EXPECT_EQ(needed(SampleRequest{}, none), R"({"sampling":{}})");
  const auto raw = [](std::string method, std::string params) {
    return InputRequest(RawRequest{std::move(method), JsonText::trusted(std::move(params))});
  };
  EXPECT_EQ(needed(raw("roots/list", "{}"), none), R"({"roots":{}})");
  EXPECT_EQ(needed(raw("sampling/createMessage", "{}"), none), R"({"sampling":{}})");
  EXPECT_EQ(needed(raw("sampling/createMessage", R"({"tools":[]})"), none), R"({"sampling":{"tools":{}}})");
  EXPECT_EQ(needed(raw("elicitation/create", R"({"mode":"url"})"), none), R"({"elicitation":{"url":{}}})");
  EXPECT_EQ(needed(raw("elicitation/create", "{}"), none), R"({"elicitation":{}})");
}

TEST(Ask, QuestionsAreSpelledAsTheRevisionDoes) {
  const ElicitForm form{"?", JsonText::trusted("{}")};
  EXPECT_EQ(params_of(form, Revision::v2025_06_18), R"({"message":"?","requestedSchema":{}})");
  EXPECT_EQ(params_of(form, Revision::v2025_11_25), R"({"mode":"form","message":"?","requestedSchema":{}})");
  const ElicitUrl page{"?", "https://x", "e1"};
  EXPECT_EQ(params_of(page, Revision::v2025_11_25),
            R"({"mode":"url","message":"?","url":"https://x","elicitationId":"e1"})");
  EXPECT_EQ(params_of(page, kLatestModern), R"({"mode":"url","message":"?","url":"https://x"})");
  const RawRequest raw{"elicitation/create",
                       JsonText::trusted(R"({"mode":"form","elicitationId":"e","x":1})")};
  EXPECT_EQ(params_of(raw, Revision::v2025_06_18), R"({"elicitationId":"e","x":1})");
  EXPECT_EQ(params_of(raw, Revision::v2025_11_25), R"({"mode":"form","elicitationId":"e","x":1})");
  EXPECT_EQ(params_of(raw, kLatestModern), R"({"mode":"form","x":1})");
  SampleRequest sample;
  sample.messages.push_back({"user", {text_content("a")}});
  sample.messages.push_back({"user", {text_content("a"), text_content("b")}});
  sample.tool_choice = "auto";
  EXPECT_EQ(
      params_of(sample, kLatestModern),
      R"({"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}],"maxTokens":1024,"toolChoice":{"mode":"auto"}})");
}

TEST(Ask, AnswersOfEveryKindAreChecked) {
  EXPECT_TRUE(parse_answer(ElicitUrl{}, *json::parse(R"({"action":"accept"})")));
  EXPECT_FALSE(parse_answer(ElicitUrl{}, *json::parse(R"({"action":"accept","content":7})")));
  EXPECT_EQ(
      std::get<ElicitResult>(*parse_answer(ElicitUrl{}, *json::parse(R"({"action":"cancel","content":7})")))
          .action,
      ElicitAction::cancel);
  EXPECT_FALSE(parse_answer(SampleRequest{}, *json::parse(R"({"content":{}})")));
  EXPECT_FALSE(parse_answer(SampleRequest{}, *json::parse(R"({"role":"assistant"})")));
  EXPECT_FALSE(parse_answer(SampleRequest{}, *json::parse(R"({"role":"assistant","content":[7]})")));
  EXPECT_TRUE(parse_answer(SampleRequest{}, *json::parse(R"({"role":"assistant","content":{}})")));
  EXPECT_FALSE(parse_answer(RootsRequest{}, *json::parse("{}")));
  EXPECT_FALSE(parse_answer(RootsRequest{}, *json::parse(R"({"roots":[7]})")));
  EXPECT_TRUE(parse_answer(RootsRequest{}, *json::parse(R"({"roots":[{"uri":"file:///a"}]})")));
  const auto raw = [](std::string method, std::string_view answer) {
    return parse_answer(RawRequest{std::move(method), JsonText()}, *json::parse(answer)).has_value();
  };
  EXPECT_TRUE(raw("roots/list", R"({"roots":[]})"));
  EXPECT_FALSE(raw("roots/list", "{}"));
  EXPECT_TRUE(raw("sampling/createMessage", R"({"role":"a","content":{}})"));
  EXPECT_FALSE(raw("sampling/createMessage", "{}"));
  EXPECT_TRUE(raw("elicitation/create", R"({"action":"accept"})"));
  EXPECT_FALSE(raw("elicitation/create", "{}"));
  EXPECT_FALSE(raw("other", R"({"action":"accept"})"));
}

TEST(Envelope, MembersOfTheWrongTypeAreRefusedByName) {
  const auto refused = [](std::string_view extra) {
    const auto envelope = parse_envelope(*json::parse_object(
        R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},)" +
        std::string(extra) + "}}"));
    return envelope ? std::string() : envelope.error().message;
  };
  EXPECT_EQ(refused(R"("io.modelcontextprotocol/clientInfo":7)"),
            R"(params._meta["io.modelcontextprotocol/clientInfo"] must be an object)");
  EXPECT_EQ(refused(R"("io.modelcontextprotocol/logLevel":7)"),
            R"(params._meta["io.modelcontextprotocol/logLevel"] must be a log level)");
  EXPECT_EQ(refused(R"("io.modelcontextprotocol/logLevel":"error")"), "");
  EXPECT_TRUE(
      claims_modern_era(*json::parse_object(R"({"_meta":{"io.modelcontextprotocol/protocolVersion":7}})")));
  EXPECT_FALSE(claims_modern_era(*json::parse_object(R"({"_meta":{}})")));
  EXPECT_FALSE(claims_modern_era(*json::parse_object("{}")));
}

TEST(UriTemplate, VariablesStopAtSlashes) {
  EXPECT_EQ(find_variables("test://{id}/data", "test://12/data"), (UriVariables{{"id", "12"}}));
  EXPECT_FALSE(find_variables("test://{id}/data", "test://1/2/data"));
  EXPECT_FALSE(find_variables("test://{id}/data", "test:///data"));
  EXPECT_FALSE(find_variables("test://{id}", "other://1"));
  EXPECT_EQ(find_variables("a:{x}/{y}", "a:1/2"), (UriVariables{{"x", "1"}, {"y", "2"}}));
  EXPECT_EQ(find_variables("f://{h}/{+rest}", "f://me/a/b.txt"),
            (UriVariables{{"h", "me"}, {"rest", "a/b.txt"}}));
  EXPECT_EQ(find_variables("f://{+rest}/raw", "f://a/b/raw"), (UriVariables{{"rest", "a/b"}}));
  EXPECT_FALSE(find_variables("f://{+rest}/raw", "f://a/b"));
}

}  // namespace
}  // namespace relay::protocol
