#include "config/config_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/embedded.h"
#include "imports/document.h"

namespace relay::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ConfigDocument parsed(std::string text) {
  auto document = ConfigDocument::parse(std::move(text));
  EXPECT_TRUE(document);
  return *std::move(document);
}

const json::object kEntry{{"name", "x"}, {"command", "c"}};

TEST(ConfigDocument, AnEntryIsAddedWhereverTheListIs) {
  for (const char* text : {"{}", "{ }", "{\n}\n", "{\"mcps\":[]}", "{\"mcps\": [ ]}", "{\"a\": 1}",
                           "{\"a\": {\"mcps\": 1},}", "{\"mcps\": [\n  // none yet\n]}",
                           "// top\n{\"a\": \"]}\" /* , */}", "{\"a\": [1, 2,], \"mcps\": [],\n}"}) {
    ConfigDocument document = parsed(text);
    document.append_server(kEntry);
    EXPECT_THAT(document.server_names(), ElementsAre("x")) << document.text();
    document.append_server({{"name", "y"}});
    EXPECT_THAT(document.server_names(), ElementsAre("x", "y")) << document.text();
    EXPECT_TRUE(imports::parse_jsonc(document.text())) << document.text();
  }
}

TEST(ConfigDocument, WhatIsNotEditedStaysByteForByte) {
  const std::string text =
      "{\n  // mine\n  \"toolsets\":   [\"code\"],\n  \"mcps\": [\n    {\"name\":\"a\",\"command\":\"x\"}, "
      "// first\n    {\"name\": \"b\"},\n  ],\n}\n";
  ConfigDocument document = parsed(text);
  ASSERT_TRUE(document.set_in_server("b", "enabled", false));
  EXPECT_THAT(document.text(), HasSubstr("{\"name\": \"b\", \"enabled\": false},"));
  ASSERT_TRUE(document.set_in_server("b", "enabled", true));
  EXPECT_THAT(document.text(), HasSubstr("{\"name\": \"b\", \"enabled\": true},"));
  document.append_server(kEntry);
  ASSERT_TRUE(document.remove_server("x"));
  ASSERT_TRUE(document.replace_server("b", {{"name", "b"}}));
  EXPECT_EQ(document.text(), text);
}

TEST(ConfigDocument, RemovingLeavesAList) {
  for (const char* text :
       {R"({"mcps": [{"name": "a"}]})", R"({"mcps": [{"name": "a"},]})",
        R"({"mcps": [{"name": "a"} , /* c */ ]})", R"({"mcps": [{"name": "a"}, {"name": "b"}]})",
        R"({"mcps": [{"name": "b"}, {"name": "a"},]})",
        R"({"mcps": [{"name": "b"}, /* } */ {"name": "a"}, {"name": "c"}]})"}) {
    ConfigDocument document = parsed(text);
    ASSERT_TRUE(document.remove_server("a")) << text;
    EXPECT_TRUE(imports::parse_jsonc(document.text())) << document.text();
    EXPECT_THAT(document.server_names(), testing::Not(testing::Contains("a")));
  }
}

TEST(ConfigDocument, AnUnknownNameIsAnError) {
  ConfigDocument document = parsed(R"({"mcps": [{"name": "a"}]})");
  EXPECT_EQ(document.remove_server("b").error().kind, ErrorKind::not_found);
  EXPECT_EQ(document.set_in_server("b", "enabled", true).error().kind, ErrorKind::not_found);
}

TEST(ConfigDocument, WhatIsNoConfigurationIsRefused) {
  EXPECT_FALSE(ConfigDocument::parse("{"));
  EXPECT_FALSE(ConfigDocument::parse("[]"));
  EXPECT_FALSE(ConfigDocument::parse(R"({"mcps": {}})"));
}

TEST(ConfigDocument, ASyntaxErrorHasALineAndAColumn) {
  const auto place = [](std::string_view text) { return imports::parse_jsonc(text).error().message; };
  EXPECT_EQ(place("{\n  \"a\": 1\n  \"b\": 2\n}"), "not valid JSON: syntax error at line 3, column 3");
  EXPECT_EQ(place("{\"a\""), "not valid JSON: incomplete JSON at line 1, column 5");
  EXPECT_EQ(place("\xEF\xBB\xBF{} // done\n}"), "not valid JSON: extra data at line 2, column 1");
  EXPECT_EQ(place("{\"\xC3\xA4\": /* \xC3\xB6 */ x}"), "not valid JSON: syntax error at line 1, column 15")
      << "characters are counted, not bytes";
}

TEST(ConfigDocument, ACommentEndsWhereItEndsForEverybody) {
  ConfigDocument document =
      parsed("{ /** mine **/ \"mcps\": [{\"name\": \"a//b\"}, /* \"**/ {\"name\": \"b\"} // */ ]\n ] }");
  EXPECT_THAT(document.server_names(), ElementsAre("a//b", "b"));
  EXPECT_FALSE(ConfigDocument::parse("{} /* does not end"));
  EXPECT_FALSE(ConfigDocument::parse("{\"a\": 1 /*/ }"));
}

TEST(ConfigDocument, TheTemplateTakesEntriesAndKeepsItsComments) {
  const std::string text(embedded::config_template());
  ConfigDocument document = parsed(text);
  document.append_server(kEntry);
  EXPECT_THAT(document.server_names(), ElementsAre("x"));
  EXPECT_THAT(document.text(), HasSubstr("// Relay's configuration"));
  EXPECT_TRUE(imports::parse_jsonc(document.text())) << document.text();
}

TEST(ConfigDocument, LongEntriesGetALineForEachMember) {
  const json::object entry{{"name", "x"}, {"args", {std::string(100, 'a'), "b"}}};
  EXPECT_EQ(format_entry(entry, "    "),
            "{\n      \"name\": \"x\",\n      \"args\": [\"" + std::string(100, 'a') + "\", \"b\"]\n    }");
  EXPECT_EQ(format_entry({{"name", "x"}, {"env", {{"A", "b"}}}}, ""), R"({"name": "x", "env": {"A": "b"}})");
}

}  // namespace
}  // namespace relay::config
