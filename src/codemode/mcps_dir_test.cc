#include "codemode/mcps_dir.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "codemode/tool_catalog.h"
#include "vfs/tree.h"

namespace relay::codemode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<const ToolCatalog> make_book(const std::vector<std::pair<std::string, std::string>>& tools) {
  upstream::ServerSpec spec;
  spec.name = "github";
  spec.description = "Issues and code";
  upstream::Offer offer;
  offer.instructions = "Be kind.\n``` # not a heading";
  std::vector<protocol::Tool> listed;
  for (const auto& [name, description] : tools) {
    protocol::Tool tool;
    tool.name = name;
    tool.description = description;
    tool.input_schema = protocol::JsonText::trusted(
        R"({"type":"object","properties":{"repo":{"type":"string"}},"required":["repo"]})");
    listed.push_back(std::move(tool));
  }
  offer.tools.items = std::make_shared<const std::vector<protocol::Tool>>(std::move(listed));
  return make_handbook(spec, "github", offer);
}

class FixedSource final : public HandbookSource {
 public:
  std::vector<ServerLine> servers() override {
    return {{"github", "github", "Issues and code", "ready"},
            {"bad/name", "bad_name", "", "failed: exited with 1"}};
  }
  Known find(const std::string& server) override {
    if (server == "github") return {book, {}};
    return {nullptr, "failed: exited with 1"};
  }
  std::shared_ptr<const ToolCatalog> book =
      make_book({{"list-issues", "Lists issues. And more."}, {"index", "A tool with a taken name"}});
};

class McpsDir : public testing::Test {
 protected:
  std::vector<std::string> names(std::string_view path) {
    std::vector<std::string> out;
    for (const vfs::DirEntry& entry : tree_.list(path).value().entries) out.push_back(entry.name);
    return out;
  }
  std::string text(std::string_view path) {
    auto read = tree_.read(path, 0, 4 * limits::kMiB);
    return read ? read->bytes : "error: " + read.error().message;
  }
  std::shared_ptr<LearnedTypes> learned_ = std::make_shared<LearnedTypes>(std::filesystem::path());
  std::shared_ptr<FixedSource> source_ = std::make_shared<FixedSource>();
  vfs::Tree tree_{vfs::TreeParts{.host = {}, .tmp = {}, .out = {}, .mcps = make_mcps_dir(source_, learned_)}};
};

TEST_F(McpsDir, ListsServersAndTheirFiles) {
  EXPECT_THAT(names("/mcps"), ElementsAre("README.md", "bad_name", "github", "mcp.d.ts"));
  EXPECT_THAT(names("/mcps/github"), ElementsAre("README.md", "index.d.ts", "index_.d.ts", "index_.pyi",
                                                 "list_issues.d.ts", "list_issues.pyi", "stubs.pyi"));
  EXPECT_THAT(names("/mcps/bad_name"), ElementsAre("README.md"));
  EXPECT_FALSE(tree_.list("/mcps/nope"));
}

TEST_F(McpsDir, ReadmesSayHowToCall) {
  EXPECT_THAT(text("/mcps/README.md"), HasSubstr("- `github` github: Issues and code (ready)\n"));
  EXPECT_THAT(text("/mcps/README.md"), HasSubstr("failed: exited with 1"));
  const std::string readme = text("/mcps/github/README.md");
  EXPECT_THAT(readme, HasSubstr("`await mcp.github.<tool>({...})`"));
  EXPECT_THAT(readme, HasSubstr("- `list_issues` Lists issues.\n"));
  EXPECT_THAT(readme, HasSubstr("    Be kind.\n    ``` # not a heading\n"));
  EXPECT_THAT(text("/mcps/bad_name/README.md"), HasSubstr("exited with 1"));
}

TEST_F(McpsDir, DeclarationsAreGolden) {
  EXPECT_EQ(text("/mcps/github/list_issues.d.ts"), R"(// await mcp.github.list_issues({...})
interface Mcp { github: mcp_github }
interface mcp_github {
  /** Lists issues. And more. */
  list_issues(args: {
    repo: string;
  }): Promise<unknown>;
}
)");
  EXPECT_EQ(text("/mcps/github/list_issues.pyi"), R"(# mcp_github.list_issues(...), plain or awaited
from typing import Any, Literal, Never, NotRequired, TypedDict

def list_issues(*, repo: str) -> Any:
    """Lists issues. And more."""
    ...
)");
}

TEST_F(McpsDir, LearnedTypesShowWhereTheyComeFrom) {
  const ToolDoc& tool = source_->book->tools[0];
  learned_->learn({"github", tool.name, tool.input_hash}, *json::parse(R"({"id":1})"));
  EXPECT_THAT(text("/mcps/github/list_issues.d.ts"),
              HasSubstr("Returns: learned from 1 result, not declared by the server."));
  EXPECT_THAT(text("/mcps/github/list_issues.d.ts"), HasSubstr("Promise<{\n    id: number;\n  }>"));
  EXPECT_THAT(text("/mcps/github/list_issues.pyi"), HasSubstr("-> ListIssuesResult:"));
}

TEST_F(McpsDir, NothingCanBeWritten) {
  vfs::WriteRequest request;
  request.path = "/mcps/github/README.md";
  request.mode = vfs::WriteMode::overwrite;
  EXPECT_FALSE(tree_.write(request));
}

TEST_F(McpsDir, AThousandToolsFitTheirFiles) {
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < 1000; ++i) many.emplace_back("tool_" + std::to_string(i), std::string(3000, 'x'));
  source_->book = make_book(many);
  EXPECT_LT(text("/mcps/github/index.d.ts").size(), limits::kIndexBytes + limits::kStubBytes + 1000);
  EXPECT_THAT(text("/mcps/github/index.d.ts"), HasSubstr("more: each has a file of its own"));
}

}  // namespace
}  // namespace relay::codemode
