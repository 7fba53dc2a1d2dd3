#include "protocol/modern_headers.h"

#include <map>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::protocol {
namespace {

Request request(std::string params = R"({"name":"echo"})", std::string method = "tools/call") {
  return std::get<Request>(
      *parse_message(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}"));
}

class ModernHeaders : public testing::Test {
 protected:
  std::map<std::string, std::string> fields_{
      {"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "echo"}};
  FindHeader find_ = [this](std::string_view name) -> std::optional<std::string_view> {
    const auto found = fields_.find(std::string(name));
    return found == fields_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
};

TEST_F(ModernHeaders, AgreeWithTheBody) {
  EXPECT_FALSE(check_standard_headers(request(), "2026-07-28", find_));
  fields_["Mcp-Name"] = " \techo  ";
  EXPECT_FALSE(check_standard_headers(request(), "2026-07-28", find_));
  fields_["Mcp-Name"] = "=?base64?ZWNobw==?=";
  EXPECT_FALSE(check_standard_headers(request(), "2026-07-28", find_));
}

TEST_F(ModernHeaders, MissingOrOtherwiseIsAMismatch) {
  const auto complete = fields_;
  for (const auto& [name, value] : complete) {
    fields_ = complete;
    fields_.erase(name);
    ASSERT_TRUE(check_standard_headers(request(), "2026-07-28", find_)) << name;
    EXPECT_EQ(check_standard_headers(request(), "2026-07-28", find_)->code, code::kHeaderMismatch);
    fields_[name] = "other";
    EXPECT_TRUE(check_standard_headers(request(), "2026-07-28", find_)) << name;
  }
}

TEST_F(ModernHeaders, ValuesAreCaseSensitive) {
  fields_["Mcp-Name"] = "Echo";
  EXPECT_TRUE(check_standard_headers(request(), "2026-07-28", find_));
  fields_["Mcp-Name"] = "=?BASE64?ZWNobw==?=";
  EXPECT_TRUE(check_standard_headers(request(), "2026-07-28", find_));
}

TEST_F(ModernHeaders, NameFollowsTheMethod) {
  EXPECT_EQ(find_named_param(request(R"({"uri":"a:b"})", "resources/read")), "a:b");
  EXPECT_EQ(find_named_param(request(R"({"taskId":"t"})", "tasks/get")), "t");
  EXPECT_EQ(find_named_param(request("{}", "tools/list")), std::nullopt);
}

TEST(HeaderValue, RoundTrips) {
  for (const std::string value :
       {"plain", "with space", " leading", "trailing ", "é", "a\nb", "=?base64?x?=", "tab\tinside"}) {
    const std::string encoded = encode_header_value(value);
    EXPECT_EQ(encoded.find('\n'), std::string::npos);
    EXPECT_EQ(find_decoded_header_value(encoded), value) << value;
  }
}

TEST(HeaderValue, BadSentinelsAreRefused) {
  EXPECT_FALSE(find_decoded_header_value("=?base64?***?="));
  EXPECT_FALSE(find_decoded_header_value("=?base64?/w==?="));
  EXPECT_FALSE(find_decoded_header_value("caf\xc3\xa9"));
  EXPECT_EQ(find_decoded_header_value("=?base64?"), "=?base64?");
}

TEST(HeaderParams, AreFoundThroughProperties) {
  const auto params = parse_header_params(*json::parse(
      R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}})"));
  ASSERT_TRUE(params);
  ASSERT_EQ(params->size(), 2u);
  EXPECT_EQ((*params)[1].path, (std::vector<std::string>{"deep", "n"}));
}

TEST(HeaderParams, WrongAnnotationsAreRefused) {
  for (
      const char* schema :
      {R"({"properties":{"a":{"type":"number","x-mcp-header":"A"}}})",
       R"({"properties":{"a":{"type":"string","x-mcp-header":"A b"}}})",
       R"({"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}})",
       R"({"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}})",
       R"({"type":"string","x-mcp-header":"A"})",
       R"({"properties":{"a":{"type":"string","x-mcp-header":7}}})"})
    EXPECT_FALSE(parse_header_params(*json::parse(schema))) << schema;
}

TEST_F(ModernHeaders, ParamsAreCompared) {
  const std::vector<HeaderParam> params{{{"region"}, "Region"}, {{"count"}, "Count"}};
  const json::object arguments = *json::parse_object(R"({"region":"eu","count":42})");
  EXPECT_TRUE(check_param_headers(arguments, params, find_));
  fields_["Mcp-Param-Region"] = "eu";
  fields_["Mcp-Param-Count"] = "42.0";
  EXPECT_FALSE(check_param_headers(arguments, params, find_));
  fields_["Mcp-Param-Count"] = "43";
  EXPECT_TRUE(check_param_headers(arguments, params, find_));
  EXPECT_TRUE(check_param_headers({}, params, find_)) << "a header without its argument";
}

// The header says which method and name a proxy may route by; each method has its own member.
TEST_F(ModernHeaders, EveryNamedMethodHasItsMember) {
  const std::tuple<std::string, std::string> rows[] = {
      {"tools/call", "name"},  {"prompts/get", "name"},    {"resources/read", "uri"},
      {"tasks/get", "taskId"}, {"tasks/update", "taskId"}, {"tasks/cancel", "taskId"},
  };
  for (const auto& [method, key] : rows)
    EXPECT_EQ(find_named_param(request("{\"" + key + "\":\"v\"}", method)), "v") << method;
  EXPECT_EQ(find_named_param(request(R"({"name":7})")), std::nullopt);
}

TEST_F(ModernHeaders, AMismatchSaysWhichHeaderAndWhy) {
  fields_["Mcp-Name"] = "=?base64?*?=";
  EXPECT_EQ(check_standard_headers(request(), "2026-07-28", find_)->message,
            "the header Mcp-Name holds no valid base64");
  fields_["Mcp-Name"] = "other";
  EXPECT_EQ(check_standard_headers(request(), "2026-07-28", find_)->message,
            "the header Mcp-Name does not say what the body says");
  fields_.erase("Mcp-Name");
  EXPECT_EQ(check_standard_headers(request(), "2026-07-28", find_)->message,
            "the header Mcp-Name is missing");
}

TEST_F(ModernHeaders, AParameterIsComparedByItsType) {
  struct Row {
    std::string_view arguments, header;
    bool agrees;
  };
  const Row rows[] = {
      {R"({"a":"x"})", "x", true},
      {R"({"a":"x"})", "y", false},
      {R"({"a":true})", "true", true},
      {R"({"a":true})", "false", false},
      {R"({"a":false})", "false", true},
      {R"({"a":7})", "7", true},
      {R"({"a":7})", "7.0", true},
      {R"({"a":7})", "7e0", true},
      {R"({"a":7})", "7x", false},
      {R"({"a":7})", "7.0x", false},
      {R"({"a":7})", "x", false},
      {R"({"a":7})", "7.5", false},
      {R"({"a":null})", "x", false},
      {R"({"b":1})", "x", false},
      {R"({"a":"x"})", "=?base64?*?=", false},
  };
  const std::vector<HeaderParam> params{{{"a"}, "A"}};
  for (const Row& row : rows) {
    fields_["Mcp-Param-A"] = row.header;
    EXPECT_EQ(!check_param_headers(*json::parse_object(row.arguments), params, find_), row.agrees)
        << row.arguments << " " << row.header;
  }
  fields_.erase("Mcp-Param-A");
  EXPECT_TRUE(check_param_headers(*json::parse_object(R"({"a":1})"), params, find_));
  EXPECT_FALSE(check_param_headers(*json::parse_object(R"({"a":null})"), params, find_));
  EXPECT_FALSE(check_param_headers(*json::parse_object("{}"), params, find_));
}

TEST_F(ModernHeaders, ADeepParameterIsFoundByItsPath) {
  const std::vector<HeaderParam> params{{{"a", "b", "c"}, "C"}};
  fields_["Mcp-Param-C"] = "1";
  EXPECT_FALSE(check_param_headers(*json::parse_object(R"({"a":{"b":{"c":1}}})"), params, find_));
  for (const std::string_view text : {R"({"a":{"b":1}})", R"({"a":1})", R"({"c":1})", R"({"a":{"c":1}})"})
    EXPECT_TRUE(check_param_headers(*json::parse_object(text), params, find_)) << text;
}

// A value that a proxy would change is sent as base64; one that it would not is sent as it is.
TEST(HeaderValue, OnlyVisibleTextIsSentAsItIs) {
  for (const std::string_view value : {"a", "~", "!", "a b", "a\tb", ""})
    EXPECT_EQ(encode_header_value(value), value);
  for (const std::string_view value : {" a", "a ", "\x7f",
                                       "\x1f"
                                       "a",
                                       "a\r\n",
                                       "=?base64?"
                                       "?="})
    EXPECT_TRUE(encode_header_value(value).starts_with("=?base64?")) << value;
  EXPECT_EQ(find_decoded_header_value("=?base64?"
                                      "?="),
            "");
}

TEST(HeaderParams, AnAnnotationInAValueIsData) {
  for (const std::string_view keyword : {"const", "enum", "default", "examples"}) {
    const auto params = parse_header_params(
        *json::parse("{\"properties\":{\"a\":{\"" + std::string(keyword) + "\":{\"x-mcp-header\":7}}}}"));
    ASSERT_TRUE(params) << keyword;
    EXPECT_TRUE(params->empty()) << keyword;
  }
  EXPECT_FALSE(parse_header_params(*json::parse(R"({"anyOf":[{"type":"string","x-mcp-header":"A"}]})")));
  for (const std::string_view type : {"string", "integer", "boolean"})
    EXPECT_TRUE(parse_header_params(*json::parse("{\"properties\":{\"a\":{\"type\":\"" + std::string(type) +
                                                 "\",\"x-mcp-header\":\"A\"}}}")))
        << type;
  EXPECT_FALSE(
      parse_header_params(*json::parse(R"({"properties":{"a":{"type":"string","x-mcp-header":""}}})")));
}

}  // namespace
}  // namespace relay::protocol
