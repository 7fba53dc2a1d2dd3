#include "protocol/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::protocol {
namespace {

using testing::HasSubstr;

Schema compile(std::string_view text) {
  auto schema = Schema::compile(*json::parse(text));
  EXPECT_TRUE(schema.has_value()) << schema.error().message;
  return *std::move(schema);
}

std::string check(std::string_view schema, std::string_view value) {
  return describe(compile(schema).check(*json::parse(value)));
}

TEST(Schema, ReportsEveryProblemWithItsPath) {
  const std::string problems = check(
      R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"integer","minimum":1}}},"required":["c"]})",
      R"({"a":1,"b":[1,0,"x"]})");
  EXPECT_EQ(problems,
            "$: missing required property 'c'; $.a: must be string, is integer; $.b[1]: must be at least 1; "
            "$.b[2]: must be integer, is string");
}

TEST(Schema, NamesTheNearestKnownProperty) {
  EXPECT_EQ(check(R"({"properties":{"message":{}},"additionalProperties":false})", R"({"mesage":1})"),
            "$.mesage: unknown property, did you mean 'message'?");
}

TEST(Schema, NumbersThatAreIntegersCountAsIntegers) {
  EXPECT_EQ(check(R"({"type":"integer"})", "1.0"), "");
  EXPECT_NE(check(R"({"type":"integer"})", "1.5"), "");
  EXPECT_EQ(check(R"({"type":"number"})", "3"), "");
  EXPECT_EQ(check(R"({"enum":[1]})", "1.0"), "");
  EXPECT_EQ(check(R"({"multipleOf":0.1})", "0.3"), "");
}

TEST(Schema, ValuesAndTexts) {
  EXPECT_NE(check(R"({"const":"a"})", R"("b")"), "");
  EXPECT_THAT(check(R"({"enum":["a","b"]})", R"("c")"), HasSubstr(R"(must be one of ["a","b"])"));
  EXPECT_EQ(check(R"({"maxLength":2})", R"("é€")"), "");
  EXPECT_NE(check(R"({"minLength":3})", R"("é€")"), "");
  EXPECT_NE(check(R"({"pattern":"^[a-z]+$"})", R"("A")"), "");
}

TEST(Schema, LogicCombines) {
  EXPECT_EQ(check(R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "null"), "");
  EXPECT_NE(check(R"({"oneOf":[{"type":"integer"},{"minimum":0}]})", "1"), "");
  EXPECT_NE(check(R"({"not":{"type":"string"}})", R"("x")"), "");
  const char* conditional =
      R"({"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"else":{"required":["b"]}})";
  EXPECT_EQ(check(conditional, R"({"k":1,"a":0})"), "");
  EXPECT_THAT(check(conditional, R"({"k":2,"a":0})"), HasSubstr("'b'"));
}

TEST(Schema, ArraysAndObjects) {
  EXPECT_NE(check(R"({"uniqueItems":true})", "[1,2,1.0]"), "");
  EXPECT_NE(check(R"({"prefixItems":[{"type":"string"}],"items":false})", R"(["a",1])"), "");
  EXPECT_NE(check(R"({"contains":{"const":1},"maxContains":1})", "[1,1]"), "");
  EXPECT_NE(check(R"({"propertyNames":{"pattern":"^x"}})", R"({"y":1})"), "");
  EXPECT_NE(check(R"({"patternProperties":{"^n":{"type":"number"}}})", R"({"n1":"x"})"), "");
  EXPECT_NE(check(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})"), "");
}

TEST(Schema, FollowsReferencesInsideTheDocument) {
  const char* list =
      R"({"$defs":{"node":{"$anchor":"n","type":"object","properties":{"next":{"$ref":"#/$defs/node"}},"additionalProperties":false}},"$ref":"#n"})";
  EXPECT_EQ(check(list, R"({"next":{"next":{}}})"), "");
  EXPECT_THAT(check(list, R"({"next":{"next":{"x":1}}})"), HasSubstr("$.next.next.x"));
}

TEST(Schema, NeverLeavesTheDocument) {
  EXPECT_FALSE(Schema::compile(*json::parse(R"({"$ref":"https://example.com/schema.json"})")));
  EXPECT_FALSE(Schema::compile(*json::parse(R"({"$ref":"file:///etc/passwd"})")));
  EXPECT_FALSE(Schema::compile(*json::parse(R"({"$ref":"#/nowhere"})")));
}

TEST(Schema, WorkIsBounded) {
  EXPECT_THAT(check(R"({"$ref":"#"})", "1"), HasSubstr("too complex"));
  EXPECT_THAT(
      check(R"({"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"})",
            "1"),
      HasSubstr("none"));
  std::string array = "[0";
  for (int i = 1; i < 5000; ++i) array += "," + std::to_string(i);
  EXPECT_THAT(check(R"({"uniqueItems":true})", array + "]"), HasSubstr("too complex"));
}

TEST(Schema, LongTextsMatchInLinearTime) {
  const std::string text = "\"" + std::string(1 << 20, 'a') + "b\"";
  EXPECT_NE(check(R"({"pattern":"^(a+)+$"})", text), "");
}

TEST(Schema, RefusesWhatIsNoSchema) {
  EXPECT_FALSE(Schema::compile(*json::parse("7")));
  EXPECT_FALSE(Schema::compile(*json::parse(R"({"type":"text"})")));
  EXPECT_NE(check("false", "1"), "");
  EXPECT_EQ(check("true", "1"), "");
}

TEST(Schema, ReportsAtMostAsManyAsAsked) {
  const Schema schema = compile(R"({"items":{"type":"string"}})");
  EXPECT_EQ(schema.check(*json::parse("[1,2,3,4,5]"), 2).size(), 2u);
}

// A bound that is off by one refuses the very value that the schema's author named.
TEST(Schema, BoundsIncludeTheirEdgeAndExclusiveOnesDoNot) {
  struct Row {
    std::string_view schema, good, bad;
  };
  const Row rows[] = {
      {R"({"minimum":2})", "2", "1"},
      {R"({"maximum":2})", "2", "3"},
      {R"({"exclusiveMinimum":2})", "3", "2"},
      {R"({"exclusiveMaximum":2})", "1", "2"},
      {R"({"multipleOf":3})", "9", "10"},
      {R"({"minLength":2})", R"("ab")", R"("a")"},
      {R"({"maxLength":2})", R"("ab")", R"("abc")"},
      {R"({"minItems":2})", "[1,2]", "[1]"},
      {R"({"maxItems":2})", "[1,2]", "[1,2,3]"},
      {R"({"minProperties":1})", R"({"a":1})", "{}"},
      {R"({"maxProperties":1})", R"({"a":1})", R"({"a":1,"b":2})"},
      {R"({"contains":{"const":1}})", "[0,1]", "[0]"},
      {R"({"contains":{"const":1},"minContains":2})", "[1,1]", "[1]"},
      {R"({"contains":{"const":1},"maxContains":2})", "[1,1]", "[1,1,1]"},
      {R"({"contains":{"const":1},"minContains":0})", "[0]", ""},
      {R"({"minItems":0,"maxItems":0})", "[]", "[1]"},
      {R"({"uniqueItems":true})", "[1,2]", "[1,1]"},
      {R"({"uniqueItems":false})", "[1,1]", ""},
      {R"({"type":["string","null"]})", "null", "1"},
      {R"({"const":1})", "1.0", "2"},
      {R"({"required":["a"]})", R"({"a":null})", "{}"},
      {R"({"additionalProperties":{"type":"string"}})", R"({"a":"x"})", R"({"a":1})"},
      {R"({"properties":{"a":{}},"additionalProperties":false})", R"({"a":1})", R"({"b":1})"},
      {R"({"patternProperties":{"^x":{}},"additionalProperties":false})", R"({"xy":1})", R"({"y":1})"},
      {R"({"dependentRequired":{"a":["b"]}})", R"({"b":1})", R"({"a":1})"},
      {R"({"dependentSchemas":{"a":{"required":["b"]}}})", R"({"a":1,"b":1})", R"({"a":1})"},
      {R"({"items":[{"type":"string"}],"additionalItems":false})", R"(["a"])", R"(["a",1])"},
      {R"({"prefixItems":[{"type":"string"}],"items":{"type":"integer"}})", R"(["a",1])", R"([1,1])"},
      {R"({"allOf":[{"minimum":1},{"maximum":2}]})", "2", "3"},
      {R"({"anyOf":[{"minimum":5}]})", "5", "4"},
      {R"({"oneOf":[{"type":"string"},{"type":"null"}]})", "null", "1"},
      {R"({"not":{"type":"string"}})", "1", R"("x")"},
      {R"({"if":{"const":1},"then":false})", "2", "1"},
      {R"({"if":{"const":1},"else":false})", "1", "2"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(check(row.schema, row.good), "") << row.schema;
    if (row.bad.empty()) continue;  // every value fits
    EXPECT_NE(check(row.schema, row.bad), "") << row.schema << " " << row.bad;
  }
}

// The messages are what a model reads before it tries again.
TEST(Schema, SaysWhatIsWrong) {
  struct Row {
    std::string_view schema, value, problem;
  };
  const Row rows[] = {
      {R"({"exclusiveMinimum":2})", "2", "$: must be more than 2"},
      {R"({"maxItems":1})", "[1,2]", "$: has more than 1 items"},
      {R"({"uniqueItems":true})", "[1,2,1]", "$: items 0 and 2 are equal"},
      {R"({"oneOf":[{},{}]})", "1", "$: matches more than one of the exclusive schemas"},
      {R"({"oneOf":[false,false]})", "1", "$: matches none of the allowed schemas"},
      {R"({"anyOf":[{"type":"string"}]})", "1", "$: must be string, is integer"},
      {R"({"anyOf":[false,false]})", "1", "$: matches none of the allowed schemas"},
      {R"({"not":{}})", "1", "$: matches a schema that it must not match"},
      {R"({"type":["number","null"]})", R"("x")", "$: must be null or number, is string"},
      {R"({"properties":{"message":{}},"additionalProperties":false})", R"({"xyz":1})",
       "$.xyz: unknown property"},
      {R"({"properties":{"abc":{}},"additionalProperties":false})", R"({"a":1})",
       "$.a: unknown property, did you mean 'abc'?"},
      {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})", "$: 'a' needs 'b' too"},
      {"false", "1", "$: is not allowed"},
  };
  for (const Row& row : rows) EXPECT_EQ(check(row.schema, row.value), row.problem) << row.schema;
}

TEST(Schema, RefusesSubschemasThatAreNone) {
  for (const std::string_view text :
       {R"({"properties":{"a":1}})", R"({"items":"x"})", R"({"anyOf":[1]})", R"({"not":1})", R"({"if":1})",
        R"({"additionalProperties":1})", R"({"propertyNames":1})", R"({"contains":1})",
        R"({"prefixItems":[1]})", R"({"dependentSchemas":{"a":1}})", R"({"patternProperties":{"(":{}}})",
        R"({"patternProperties":{"a":1}})", R"({"type":["string",7]})",
        R"({"$defs":{"a":1},"$ref":"#/$defs/a"})"})
    EXPECT_FALSE(Schema::compile(*json::parse(text))) << text;
  std::string many = R"({"anyOf":[true)";
  for (int i = 0; i < 10'001; ++i) many += ",true";
  EXPECT_FALSE(Schema::compile(*json::parse(many + "]}")));
}

}  // namespace
}  // namespace relay::protocol
