#include "codemode/alias.h"

#include <gmock/gmock.h>

namespace relay::codemode {
namespace {

TEST(Alias, FollowsTheRules) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"github", "github"}, {"My-Server", "my_server"}, {"a.b c", "a_b_c"},
      {"3d", "_3d"},        {"class", "class_"},        {"--x--", "x"},
      {"", "server"},       {"日本", "server"},         {"async", "async_"},
      {"a__b", "a_b"},      {"NONE", "none"},           {"import;os", "import_os"},
  };
  for (const auto& [name, alias] : table) EXPECT_EQ(alias_of(name), alias) << name;
}

TEST(Alias, DuplicatesAreNumbered) {
  std::set<std::string, std::less<>> taken;
  EXPECT_EQ(free_alias("my-server", taken), "my_server");
  EXPECT_EQ(free_alias("my server", taken), "my_server_2");
  EXPECT_EQ(free_alias("My_Server", taken), "my_server_3");
}

TEST(Alias, AToolThatIsAnIdentifierKeepsItsName) {
  std::set<std::string, std::less<>> taken;
  EXPECT_EQ(free_tool_alias("getFileInfo", taken), "getFileInfo");
  EXPECT_EQ(free_tool_alias("list-issues", taken), "list_issues");
  EXPECT_EQ(free_tool_alias("list_issues", taken), "list_issues_2");
  EXPECT_EQ(free_tool_alias("import", taken), "import_");
}

TEST(Alias, SpellingsOfOneNameAreOne) {
  EXPECT_EQ(plain_spelling("list-issues"), plain_spelling("listIssues"));
  EXPECT_EQ(plain_spelling("list_issues"), "listissues");
}

TEST(Alias, NearestNamesComeBestFirst) {
  const std::vector<std::string> names{"list_issues", "create_issue", "get_file", "list_pulls"};
  EXPECT_THAT(nearest("list_isues", names), testing::ElementsAre("list_issues"));
  EXPECT_THAT(nearest("issue", names), testing::ElementsAre("create_issue", "list_issues"));
  EXPECT_THAT(nearest("zzzzzz", names), testing::IsEmpty());
  EXPECT_THAT(nearest(std::string(100'000, 'x'), names), testing::IsEmpty());
}

}  // namespace
}  // namespace relay::codemode
