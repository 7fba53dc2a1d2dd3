// The search tool: grep for the tree, and find by name when there is no pattern. See search/search.h for what
// it finds; here are its arguments and how a model reads the answer: matches grouped by file, one line each,
// totals and what was left out at the end.
#pragma once

#include <string_view>

#include "base/json.h"
#include "protocol/tool.h"
#include "search/search.h"

namespace relay::tools {

search::SearchRequest read_search_arguments(const json::object& arguments);

/// Lines around matches that are near each other stand in it once.
protocol::ToolResult search_result(const search::SearchRequest& request, search::SearchResult found);

}  // namespace relay::tools
