#include "peer/tool_result_shape.h"

#include <gtest/gtest.h>

namespace relay::peer {
namespace {

std::string shaped(std::string text) {
  const auto result = shape_tool_result(text, json::parse(text).value());
  return result ? std::string(result->text()) : "refused: " + result.error().message;
}

TEST(ToolResultShape, a_result_passes_as_it_was_spelled) {
  for (const char* text : {R"({"content":[],"n":1.50e0})", R"({"isError":true, "content":[{"type":"new"}]})",
                           R"({"content":[{"type":"text","text":"x"}],"structuredContent":[1]})"})
    EXPECT_EQ(shaped(text), text);
}

TEST(ToolResultShape, content_that_is_no_list_becomes_one) {
  EXPECT_EQ(shaped(R"({"content":"words"})"), R"({"content":[{"type":"text","text":"words"}]})");
  EXPECT_EQ(shaped(R"({"content":{"type":"text","text":"x"}})"),
            R"({"content":[{"type":"text","text":"x"}]})");
  EXPECT_EQ(shaped("{}"), R"({"content":[]})");
  EXPECT_EQ(shaped(R"({"content":null})"), R"({"content":[]})");
}

TEST(ToolResultShape, what_is_no_result_is_refused_with_the_member) {
  EXPECT_TRUE(shaped(R"({"content":[],"isError":"yes"})").contains("isError"));
  EXPECT_TRUE(shaped(R"({"content":5})").contains("content is no list"));
  EXPECT_TRUE(shaped(R"({"content":["x"]})").contains("no block"));
  EXPECT_TRUE(shaped("[1]").contains("no object"));
}

}  // namespace
}  // namespace relay::peer
