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

}  // namespace
}  // namespace relay::codemode
