#include "base/nearest_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay {
namespace {

TEST(NearestName, SpellingsOfOneNameAreOne) {
  EXPECT_EQ(plain_spelling("list-issues"), plain_spelling("listIssues"));
  EXPECT_EQ(plain_spelling("list_issues"), "listissues");
}

TEST(NearestName, TheBestComesFirst) {
  const std::vector<std::string> names{"list_issues", "create_issue", "get_file", "list_pulls"};
  EXPECT_THAT(nearest_names("list_isues", names), testing::ElementsAre("list_issues"));
  EXPECT_THAT(nearest_names("issue", names), testing::ElementsAre("create_issue", "list_issues"));
  EXPECT_THAT(nearest_names("issue", names, 1), testing::ElementsAre("create_issue"));
  EXPECT_EQ(nearest_name("mod", {"modelling", "mode", "mod_"}), "mod_") << "the same spelling is nearest";
}

TEST(NearestName, OnlyLikelyMistakesAreSuggested) {
  EXPECT_EQ(nearest_name("tolsets", {"toolsets", "tools"}), "toolsets");
  EXPECT_EQ(nearest_name("Toolsets", {"toolsets"}), "toolsets");
  EXPECT_EQ(nearest_name("xyz", {"toolsets"}), "");
  EXPECT_THAT(nearest_names("zzzzzz", {"list_issues", "get_file"}), testing::IsEmpty());
  EXPECT_EQ(nearest_name("--", {"a", "if"}), "") << "nothing is left to compare";
  EXPECT_EQ(nearest_name("", {"a"}), "");
}

TEST(NearestName, TheLengthOfANameDoesNotMatter) {
  EXPECT_EQ(nearest_name(std::string(100'000, 'x'), {"list_issues"}), "");
}

}  // namespace
}  // namespace relay
