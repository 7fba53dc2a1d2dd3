#include "protocol/modern_headers.h"

#include <map>

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

}  // namespace
}  // namespace relay::protocol
