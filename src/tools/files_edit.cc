#include "tools/files_edit.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "tools/file_uri.h"
#include "tools/files_tools.h"

namespace relay::tools {
namespace {

constexpr std::size_t kContextLines = 3;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::size_t line_start(std::string_view text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

std::size_t line_end(std::string_view text, std::size_t at) {
  const std::size_t newline = text.find('\n', at);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

std::size_t back(std::string_view text, std::size_t at, std::size_t lines) {
  for (; lines > 0 && at > 0; --lines) at = line_start(text, at - 1);
  return at;
}

std::size_t forward(std::string_view text, std::size_t at, std::size_t lines) {
  for (; lines > 0 && at < text.size(); --lines) at = line_end(text, at);
  return at;
}

void append_lines(std::string& out, char mark, std::string_view text) {
  for (const std::string_view line : lines_of(text)) {
    out += mark;
    out += to_valid_utf8(line);
    if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
  }
}

// Changes whose lines or surroundings touch are one piece of the diff.
struct Change {
  std::size_t begin = 0, end = 0;  // whole lines of the text as it was
  std::vector<std::size_t> places;
};

std::vector<Change> changes_of(std::string_view text, const EditArguments& arguments, const Edited& edited) {
  std::vector<Change> changes;
  for (const std::size_t place : edited.places) {
    const std::size_t begin = line_start(text, place);
    // A last line break that goes joins the next line to this one.
    const std::size_t last = place + arguments.old_text.size();
    const bool at_break = last > 0 && text[last - 1] == '\n' && arguments.new_text.ends_with('\n');
    const std::size_t end = at_break ? last : line_end(text, last);
    if (!changes.empty() && back(text, begin, 2 * kContextLines) <= changes.back().end) {
      changes.back().end = std::max(end, changes.back().end);
      changes.back().places.push_back(place);
    } else {
      changes.push_back({begin, end, {place}});
    }
  }
  return changes;
}

std::string replaced(std::string_view text, const EditArguments& arguments, const Change& change) {
  std::string out;
  std::size_t from = change.begin;
  for (const std::size_t place : change.places) {
    out += text.substr(from, place - from);
    out += arguments.new_text;
    from = place + arguments.old_text.size();
  }
  return out + std::string(text.substr(from, change.end - from));
}

struct Replacement {
  std::string_view before, after;
};

// Equal lines at both ends belong to the surroundings.
std::size_t common_head(const Replacement& change) {
  std::size_t bytes = 0;
  while (bytes < std::min(change.before.size(), change.after.size())) {
    const std::size_t end = line_end(change.before, bytes);
    if (change.before.substr(bytes, end - bytes) !=
        change.after.substr(bytes, line_end(change.after, bytes) - bytes))
      break;
    bytes = end;
  }
  return bytes;
}

std::size_t common_tail(const Replacement& change) {
  std::size_t bytes = 0;
  while (bytes < change.before.size() && bytes < change.after.size()) {
    const std::string_view before = change.before.substr(0, change.before.size() - bytes);
    const std::string_view after = change.after.substr(0, change.after.size() - bytes);
    const std::string_view last = before.substr(line_start(before, before.size() - 1));
    if (last != after.substr(line_start(after, after.size() - 1))) break;
    bytes += last.size();
  }
  return bytes;
}

json::object as_write(const json::object& arguments) {
  return {{"path", json::find_string(arguments, "path").value_or("")},
          {"mode", "overwrite"},
          {"content", json::find_string(arguments, "newText").value_or("")}};
}

std::size_t count_lines(std::string_view text) {
  return lines_of(text).size();
}

}  // namespace

EditArguments read_edit_arguments(const json::object& arguments) {
  EditArguments out;
  out.path = json::find_string(arguments, "path").value_or("");
  out.old_text = json::find_string(arguments, "oldText").value_or("");
  out.new_text = json::find_string(arguments, "newText").value_or("");
  out.count =
      static_cast<std::size_t>(std::max<std::int64_t>(1, json::find_int(arguments, "count").value_or(1)));
  return out;
}

Result<Edited> replace_text(std::string_view text, const EditArguments& arguments) {
  const std::string& old_text = arguments.old_text;
  if (old_text.empty()) return fail(invalid("oldText is empty; use write to make or extend a file"));
  if (old_text == arguments.new_text) return fail(invalid("oldText and newText are the same"));
  Edited edited;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(old_text, from)) != std::string_view::npos;
       from = at + old_text.size()) {
    edited.places.push_back(at);
    edited.text.append(text.substr(from, at - from)).append(arguments.new_text);
  }
  edited.text += text.substr(from);
  const std::size_t found = edited.places.size();
  if (found == arguments.count) return edited;
  if (found == 0)
    return fail(invalid(fmt::format(
        "oldText is not in {}; it must be the same byte for byte, white space too: read the file first",
        arguments.path)));
  return fail(invalid(fmt::format(
      "oldText is {} times in {}, not {}; add lines around it until it is unique, or set count to {}", found,
      arguments.path, arguments.count, found)));
}

std::string diff_of(std::string_view text, const EditArguments& arguments, const Edited& edited) {
  std::string diff;
  std::ptrdiff_t shift = 0;  // lines that changes above added
  std::size_t line = 1, counted = 0;
  for (const Change& change : changes_of(text, arguments, edited)) {
    const std::string after_text = replaced(text, arguments, change);
    Replacement lines{text.substr(change.begin, change.end - change.begin), after_text};
    const std::size_t head = common_head(lines);
    lines = {lines.before.substr(head), lines.after.substr(head)};
    const std::size_t tail = common_tail(lines);
    lines = {lines.before.substr(0, lines.before.size() - tail),
             lines.after.substr(0, lines.after.size() - tail)};
    const std::size_t begin = change.begin + head;
    const std::size_t end = change.end - tail;
    const std::string_view above =
        text.substr(back(text, begin, kContextLines), begin - back(text, begin, kContextLines));
    const std::string_view below = text.substr(end, forward(text, end, kContextLines) - end);
    line += static_cast<std::size_t>(
        std::ranges::count(text.substr(counted, begin - above.size() - counted), '\n'));
    counted = begin - above.size();
    const std::size_t around = count_lines(above) + count_lines(below);
    const std::size_t old_lines = around + count_lines(lines.before),
                      new_lines = around + count_lines(lines.after);
    diff += fmt::format("@@ -{},{} +{},{} @@\n", line, old_lines, static_cast<std::ptrdiff_t>(line) + shift,
                        new_lines);
    append_lines(diff, ' ', above);
    append_lines(diff, '-', lines.before);
    append_lines(diff, '+', lines.after);
    append_lines(diff, ' ', below);
    shift += static_cast<std::ptrdiff_t>(new_lines) - static_cast<std::ptrdiff_t>(old_lines);
  }
  return diff;
}

Result<protocol::ToolResult> edit_file(vfs::Tree& tree, const EditArguments& arguments) {
  RELAY_TRY(const vfs::ReadChunk chunk, tree.read(arguments.path, 0, limits::kFileReadBytes));
  if (!chunk.eof)
    return fail(too_large(fmt::format("{} has {} bytes; edit takes files up to {}", arguments.path,
                                      chunk.size, limits::kFileReadBytes)));
  RELAY_TRY(Edited edited, replace_text(chunk.bytes, arguments));
  const std::string diff = diff_of(chunk.bytes, arguments, edited);
  vfs::WriteRequest request;
  request.path = arguments.path;
  request.bytes = std::move(edited.text);
  request.mode = vfs::WriteMode::overwrite;
  request.durability = vfs::Durability::synced;
  RELAY_TRY(const vfs::WriteReceipt receipt, tree.write(request));
  const std::size_t count = edited.places.size();
  protocol::ToolResult result = protocol::ToolResult::text(
      fmt::format("replaced {} in {} ({} bytes now)\n{}",
                  count == 1 ? std::string("1 place") : fmt::format("{} places", count), arguments.path,
                  receipt.size, diff));
  result.structured =
      json::object{{"path", arguments.path}, {"replaced", count}, {"size", receipt.size}, {"diff", diff}};
  return result;
}

std::string edit_policy_text(const json::object& arguments) {
  return write_policy_text(as_write(arguments));
}

std::vector<authority::CallField> edit_fields(const json::object& arguments) {
  return write_fields(as_write(arguments));
}

authority::Call write_of_edit(const authority::Call& edit) {
  authority::Call call = edit;
  call.tool = "write";
  return call;
}

}  // namespace relay::tools
