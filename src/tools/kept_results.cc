#include "tools/kept_results.h"

#include <algorithm>

#include "base/limits.h"

namespace relay::tools {
namespace {

// What the URI says goes before what the arguments say: the URI is what a result told the model to read.
void add_arguments(pipeline::RangeRequest& range, const ReadArguments& arguments) {
  if (range.offset || range.line) return;
  if (arguments.first_line) range.line = *arguments.first_line;
  if (!range.line && arguments.offset > 0) range.offset = arguments.offset;
  if (!range.offset && arguments.lines && !range.lines) range.lines = *arguments.lines;
}

}  // namespace

bool is_kept_result(std::string_view path) {
  return path.starts_with(pipeline::kResultsPrefix);
}

Result<protocol::ToolResult> read_kept(pipeline::ResultsStore& results, std::string_view principal,
                                       ReadArguments arguments) {
  RELAY_TRY(pipeline::RangeRequest range, pipeline::parse_results_uri(arguments.path));
  add_arguments(range, arguments);
  const std::uint64_t most =
      std::min<std::uint64_t>(arguments.bytes_max.value_or(limits::kResultBytes), limits::kFileReadBytes);
  RELAY_TRY(pipeline::Slice slice, results.read(principal, range, most));
  FilePart part{.bytes = std::move(slice.text), .size = slice.total_bytes, .offset = slice.offset};
  if (range.line || range.lines) part.line = range.line.value_or(1);
  if (arguments.stat_only)
    return protocol::ToolResult::value(json::object{{"type", "result"}, {"size", part.size}});
  RELAY_TRY(part, finish_part(arguments, std::move(part)));
  return file_result(arguments, std::move(part));
}

}  // namespace relay::tools
