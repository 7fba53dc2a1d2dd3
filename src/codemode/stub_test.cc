#include <gmock/gmock.h>

#include "codemode/python_stub.h"
#include "codemode/stub_text.h"
#include "codemode/typescript.h"

namespace relay::codemode {
namespace {

using testing::HasSubstr;
using testing::Not;

Shape shape(std::string_view schema) {
  return shape_of(*json::parse(schema));
}

constexpr std::string_view kIssues = R"({"type":"object","required":["repo"],"properties":{
  "repo":{"type":"string","description":"owner/name"},
  "state":{"enum":["open","closed",null]},
  "labels":{"type":"array","items":{"type":["string","integer"]}},
  "page":{"type":"integer","default":1},
  "author":{"$ref":"#/$defs/user"}},
  "$defs":{"user":{"type":"object","properties":{"name":{"type":"string"},"boss":{"$ref":"#/$defs/user"}},"required":["name"]}}})";

TEST(TypeScript, AToolWithEverythingInIt) {
  const Shape output = shape(
      R"({"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":true}})");
  EXPECT_EQ(typescript_method("list_issues", "Lists issues.\nNewest first.", shape(kIssues), &output, "  "),
            R"(  /**
   * Lists issues.
   * Newest first.
   */
  list_issues(args: {
    /** owner/name */
    repo: string;
    state?: "open" | "closed" | null;
    labels?: (string | number)[];
    page?: number;
    author?: {
      name: string;
      boss?: unknown;
    };
  }): Promise<{
    id: number;
    [key: string]: unknown;
  }[]>;
)");
}

TEST(TypeScript, TypesOfAllKinds) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"true", "unknown"},
      {"false", "never"},
      {"{}", "unknown"},
      {R"({"type":"integer"})", "number"},
      {R"({"type":"string","nullable":true})", "string | null"},
      {R"({"type":["string","null"]})", "string | null"},
      {R"({"const":3})", "3"},
      {R"({"enum":["a","a"]})", "\"a\""},
      {R"({"anyOf":[{"type":"string"},{"type":"array","items":{"type":"boolean"}}]})", "string | boolean[]"},
      {R"({"type":"object","additionalProperties":{"type":"number"}})", "Record<string, number>"},
      {R"({"type":"object"})", "Record<string, unknown>"},
      {R"({"type":"array"})", "unknown[]"},
      {R"({"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]})", "[string, number]"},
      {R"({"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]})",
       "{\n  a?: string;\n}"},
      {R"({"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"null"}},"required":["b"]}]})",
       "{\n  a?: string;\n  b: null;\n}"},
      {R"({"$ref":"https://elsewhere.test/x"})", "unknown"},
      {R"({"$ref":"#"})", "unknown"},
      {R"({"type":"banana"})", "unknown"},
      {"7", "unknown"},
  };
  for (const auto& [schema, type] : table) EXPECT_EQ(typescript_type(shape(schema)), type) << schema;
}

TEST(TypeScript, NoArguments) {
  EXPECT_EQ(typescript_method("ping", "", shape(R"({"type":"object","properties":{}})"), nullptr, ""),
            "ping(args?: {}): Promise<unknown>;\n");
}

TEST(Python, AToolWithEverythingInIt) {
  const Shape output = shape(
      R"({"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}}})");
  PythonStub stub;
  EXPECT_EQ(stub.function("list_issues", "Lists issues.", shape(kIssues), &output),
            R"(class ListIssuesAuthor(TypedDict):
    name: str
    boss: NotRequired[Any]

class ListIssuesResultItemsItem(TypedDict):
    id: int

class ListIssuesResult(TypedDict):
    items: NotRequired[list[ListIssuesResultItemsItem]]

def list_issues(*, repo: str, state: Literal["open", "closed"] | None = ..., labels: list[str | int] = ..., page: int = ..., author: ListIssuesAuthor = ...) -> ListIssuesResult:
    """
    Lists issues.

    repo: owner/name
    """
    ...
)");
}

TEST(Python, NamesThatPythonCannotTakeTravelInADictionary) {
  PythonStub stub;
  EXPECT_EQ(
      stub.function(
          "x", "",
          shape(
              R"({"type":"object","required":["class"],"properties":{"class":{"type":"string"},"a-b":{"type":"number"}}})"),
          nullptr),
      R"(XArguments = TypedDict("XArguments", {
    "class": str,
    "a-b": NotRequired[float],
})

def x(arguments: XArguments, /) -> Any: ...
)");
}

TEST(Python, ClassesOfOneFileHaveDifferentNames) {
  PythonStub stub;
  const Shape input =
      shape(R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}})");
  EXPECT_THAT(stub.function("t", "", input, nullptr), HasSubstr("class TA(TypedDict)"));
  EXPECT_THAT(stub.function("t", "", input, nullptr), HasSubstr("class TA2(TypedDict)"));
}

// Whatever a server writes into a description, it stays a comment.
TEST(Stubs, DescriptionsCannotLeaveTheirComments) {
  const std::string evil =
      "*/ process.exit() /* \"\"\" import os \\\"\"\" \xE2\x80\xAE txt \x01\x1b[2J \xE2\x80\xA8 \"";
  const std::string js = jsdoc(evil, "");
  EXPECT_EQ(js.find("*/"), js.size() - 3);
  const std::string py = docstring(evil, "");
  EXPECT_EQ(py.find("\"\"\"", 3), py.size() - 4);
  for (const std::string& text : {js, py}) {
    EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
    EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xA8")));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

TEST(Stubs, ADocstringCannotEndInABackslash) {
  EXPECT_EQ(docstring("x\\", ""), "\"\"\"x\\\\\"\"\"\n");
}

TEST(Stubs, NamesCannotLeaveTheirQuotes) {
  const Shape evil = shape(
      R"({"type":"object","properties":{"a\"}; evil(); //":{"type":"string"},"x\ny":{"type":"string"}}})");
  EXPECT_EQ(typescript_type(evil), "{\n  \"a\\\"}; evil(); //\"?: string;\n  \"x\\ny\"?: string;\n}");
  PythonStub stub;
  EXPECT_THAT(stub.function("t", "", evil, nullptr), HasSubstr(R"("a\"}; evil(); //": NotRequired[str],)"));
  EXPECT_EQ(string_literal("a\xE2\x80\xAE"), "\"a\\u202e\"");
}

TEST(Stubs, SchemasThatExplodeAreBounded) {
  std::string schema = R"({"type":"object","properties":{"a":{"$ref":"#/$defs/l0"}},"$defs":{)";
  for (int i = 0; i < 30; ++i)
    schema += "\"l" + std::to_string(i) + R"(":{"type":"object","properties":{"x":{"$ref":"#/$defs/l)" +
              std::to_string(i + 1) + R"("},"y":{"$ref":"#/$defs/l)" + std::to_string(i + 1) + "\"}}},";
  schema += R"("l30":{"type":"string"}}})";
  EXPECT_LT(typescript_type(shape(schema)).size(), 400'000U);
}

TEST(Stubs, TextIsCutBetweenCharacters) {
  EXPECT_EQ(printable("äöü", 3), "ä …");
  EXPECT_EQ(first_sentence("One. Two.", 100), "One.");
  EXPECT_EQ(first_sentence("One\ntwo\n\nthree", 100), "One two");
}

}  // namespace
}  // namespace relay::codemode
