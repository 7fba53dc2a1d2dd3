// A ToolCatalog as files: README.md, index.d.ts, <tool>.d.ts, stubs.pyi, <tool>.pyi. Each is bounded, and
// nothing that a server says can get out of the comment or the literal it stands in. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codemode/tool_catalog.h"

namespace relay::codemode {

/// The declaration of one tool, by itself.
std::string typescript_of(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned);
std::string python_of(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned);

/// All of them in one file.
std::string typescript_index(const ToolCatalog& book, const LearnedTypes& learned);
std::string python_index(const ToolCatalog& book, const LearnedTypes& learned);

std::string readme_of(const ToolCatalog& book);

/// What /mcps/mcp.d.ts says: `mcp` itself.
std::string_view typescript_base();

/// One line per server for /mcps/README.md.
struct ServerLine {
  std::string name;
  std::string alias;
  std::string description;
  std::string state;  // "ready", "failed: ..."
};
std::string readme_of_all(const std::vector<ServerLine>& servers);

}  // namespace relay::codemode
