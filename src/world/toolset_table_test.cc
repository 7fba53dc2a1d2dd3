#include "world/toolset_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace relay::world {
namespace {

TEST(ToolsetTable, HasTheToolsetsOfTheSchemaAndNoOthers) {
  std::vector<std::string> known;
  for (const ToolsetEntry& entry : toolset_table()) known.emplace_back(entry.name);
  const json::value& toolsets = config::config_schema().at("properties").at("toolsets");
  std::vector<std::string> allowed;
  for (const json::value& name : toolsets.at("items").at("enum").as_array())
    allowed.emplace_back(json::view(name.as_string()));
  EXPECT_THAT(known, testing::UnorderedElementsAreArray(allowed));
}

TEST(ToolsetTable, FindsAnEntryByItsNameOnly) {
  ASSERT_NE(find_toolset("files"), nullptr);
  EXPECT_EQ(find_toolset("files")->name, "files");
  EXPECT_EQ(find_toolset("file"), nullptr);
}

}  // namespace
}  // namespace relay::world
