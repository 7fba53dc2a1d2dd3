// What guests are told about tools, as JSON text; and what of a result is worth learning from. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codemode/tool_catalog.h"

namespace relay::codemode {

enum class ToolDetail : std::uint8_t { names, summary, full };

/// {"tools":[...]}
std::string write_tools(const ToolCatalog& book, ToolDetail detail, const LearnedTypes& learned);
/// A server, with a line about each tool.
std::string write_server(const ToolCatalog& book, const LearnedTypes& learned);
/// A tool, with its schemas and its declarations in both languages.
std::string write_tool(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned);
/// {"results":[...]}: the tools that fit the words best. `missing` names servers that did not answer in time.
std::string write_hits(const std::vector<std::shared_ptr<const ToolCatalog>>& books, std::string_view query,
                       std::size_t limit, ToolDetail detail, const std::vector<std::string>& missing,
                       const LearnedTypes& learned);

/// The value that a guest gets of a CallToolResult, when it has a structure: structuredContent, or one text
/// that is a JSON object or array.
std::optional<json::value> find_sample(const json::value& result);

}  // namespace relay::codemode
