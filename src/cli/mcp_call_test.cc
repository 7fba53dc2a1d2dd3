#include "cli/mcp_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::cli {
namespace {

const json::value kSchema{{"properties", {{"text", {{"type", "string"}}}, {"n", {{"type", "number"}}}}}};

std::string parsed(const std::vector<std::string>& words) {
  const auto arguments = parse_call_arguments(words, kSchema);
  return arguments ? *arguments : "error: " + arguments.error().message;
}

TEST(CallArguments, PairsAreTypedByTheSchema) {
  EXPECT_EQ(parsed({}), "{}");
  EXPECT_EQ(parsed({"text=5", "n=5"}), R"({"text":"5","n":5})");
  EXPECT_EQ(parsed({"other=true", "list=[1,2]", "word=hello", "empty="}),
            R"({"other":true,"list":[1,2],"word":"hello","empty":""})");
  EXPECT_EQ(parsed({"text=a=b"}), R"({"text":"a=b"})");
}

TEST(CallArguments, AnObjectStaysAsItWasSpelled) {
  EXPECT_EQ(parsed({R"({"n": 1.0})"}), R"({"n": 1.0})");
}

TEST(CallArguments, AMistakeIsNamed) {
  EXPECT_THAT(parsed({"{"}), testing::StartsWith("error"));
  EXPECT_THAT(parsed({"hello"}), testing::HasSubstr("\"hello\" is no argument"));
  EXPECT_THAT(parsed({"=x"}), testing::StartsWith("error"));
}

}  // namespace
}  // namespace relay::cli
