#include "tools/files_read.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/media_type.h"
#include "pipeline/bound.h"
#include "tools/file_uri.h"

namespace relay::tools {
namespace {

using protocol::ToolResult;

constexpr std::size_t kPieceBytes = limits::kMiB;
constexpr std::size_t kBinaryProbeBytes = 8 * limits::kKiB;
constexpr std::size_t kShownBytes = limits::kResultBytes - 512;  // the rest is for the other members

// Numbers below the least are as good as none.
std::optional<std::uint64_t> count_of(const json::object& arguments, std::string_view name,
                                      std::int64_t least = 1) {
  const auto number = json::find_int(arguments, name);
  if (!number || *number < least) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Where line `wanted` starts. Reads from the beginning: lines have no index.
Result<std::uint64_t> find_line(const vfs::Tree& tree, const std::string& path, std::uint64_t wanted) {
  std::uint64_t line = 1, offset = 0;
  while (line < wanted) {
    RELAY_TRY(const vfs::ReadChunk chunk, tree.read(path, offset, kPieceBytes));
    std::size_t at = 0;
    while (line < wanted && (at = chunk.bytes.find('\n', at)) != std::string::npos) {
      ++at;
      ++line;
    }
    if (line == wanted) return offset + at;
    if (chunk.eof || chunk.bytes.empty()) {
      return relay::fail(
          invalid(fmt::format("{} has only {} lines", path, chunk.bytes.ends_with('\n') ? line - 1 : line)));
    }
    offset += chunk.bytes.size();
    if (offset > limits::kLineScanBytes) {
      return relay::fail(
          too_large(fmt::format("line {} of {} is too far in; read by offset instead", wanted, path)));
    }
  }
  return offset;
}

// Cuts bytes after that many lines.
void keep_lines(std::string& bytes, std::uint64_t lines) {
  std::size_t at = 0;
  for (; lines > 0; --lines) {
    const std::size_t newline = bytes.find('\n', at);
    if (newline == std::string::npos) return;
    at = newline + 1;
  }
  bytes.resize(at);
}

// How many bytes at the end begin a character whose rest is not there.
std::size_t unfinished_bytes(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto lead = static_cast<unsigned char>(text[text.size() - back]);
    if (is_continuation(text[text.size() - back])) continue;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

// An offset inside a character moves on to the next; an end inside one moves back, unless the file ends
// there.
void align_characters(FilePart& part) {
  const std::size_t reach = std::min<std::size_t>(3, part.bytes.size());
  std::size_t skip = 0;
  while (part.offset > 0 && skip < reach && is_continuation(part.bytes[skip])) ++skip;
  const bool at_end = part.offset + part.bytes.size() >= part.size;
  const std::string_view rest = std::string_view(part.bytes).substr(skip);
  const std::size_t kept = at_end || rest.size() < 4 ? rest.size() : rest.size() - unfinished_bytes(rest);
  part.bytes = part.bytes.substr(skip, kept);
  part.offset += skip;
}

Result<void> make_text(FilePart& part, const std::string& path) {
  if (std::string_view(part.bytes).substr(0, kBinaryProbeBytes).contains('\0')) {
    return relay::fail(invalid(
        fmt::format("{} is binary ({} bytes); read it with encoding base64 or binary", path, part.size)));
  }
  align_characters(part);
  part.end = part.offset + part.bytes.size();
  part.lossy = !is_valid_utf8(part.bytes);
  if (part.lossy) part.bytes = to_valid_utf8(part.bytes);
  return {};
}

std::string how_to_go_on(const FilePart& part) {
  if (part.next_line) return fmt::format("read on with line={}", *part.next_line);
  return fmt::format("read on with offset={}", part.end);
}

// Without a size of its own, a part fits the budget of a result in both its forms. Text that is not UTF-8
// gets three bytes for each byte that is replaced.
void fit_result(const ReadArguments& arguments, FilePart& part) {
  if (arguments.bytes_max || arguments.encoding == Encoding::binary) return;
  std::size_t kept = kShownBytes / 4 * 3;
  if (arguments.encoding == Encoding::utf8)
    kept = is_valid_utf8(utf8_prefix(part.bytes, kShownBytes))
               ? pipeline::json_prefix(part.bytes, kShownBytes).size()
               : kShownBytes / 3;
  if (kept >= part.bytes.size()) return;
  part.bytes.resize(kept);
  const std::size_t newline = part.line ? part.bytes.rfind('\n') : std::string::npos;
  if (newline != std::string::npos) part.bytes.resize(newline + 1);
}

// What the model sees: the content, and one line about what is missing.
std::string text_for_model(const ReadArguments& arguments, const FilePart& part) {
  std::string text = arguments.encoding == Encoding::utf8 ? part.bytes : to_base64(part.bytes);
  if (part.lossy) text += "\n[not valid UTF-8; base64 gives the exact bytes]";
  if (part.end < part.size)
    text += fmt::format("\n[bytes {}-{} of {}; {}]", part.offset, part.end, part.size, how_to_go_on(part));
  return text;
}

protocol::Content shown_binary(const std::string& path, std::string bytes) {
  std::string type = media_type_of(path, bytes);
  if (type.starts_with("image/")) return protocol::image_content(bytes, std::move(type));
  if (type.starts_with("audio/")) return protocol::audio_content(bytes, std::move(type));
  const auto raw = as_bytes(bytes);
  protocol::ResourceContents contents{
      uri_of_file(path), std::move(type), std::vector<std::byte>(raw.begin(), raw.end()), {}};
  return protocol::EmbeddedResource{std::move(contents), {}};
}

}  // namespace

ReadArguments read_read_arguments(const json::object& arguments) {
  ReadArguments out;
  out.path = json::find_string(arguments, "path").value_or("");
  const std::string_view encoding = json::find_string(arguments, "encoding").value_or("utf-8");
  out.encoding = encoding == "base64"   ? Encoding::base64
                 : encoding == "binary" ? Encoding::binary
                                        : Encoding::utf8;
  out.bytes_max = count_of(arguments, "maxBytes");
  out.offset = count_of(arguments, "offset", 0).value_or(0);
  out.first_line = count_of(arguments, "line");
  out.lines = count_of(arguments, "lines");
  out.depth = std::min<std::size_t>(count_of(arguments, "depth").value_or(1), limits::kTreeDepth);
  out.stat_only = json::find_bool(arguments, "stat").value_or(false);
  return out;
}

Result<FilePart> read_part(const vfs::Tree& tree, const ReadArguments& arguments) {
  FilePart part;
  part.offset = arguments.offset;
  if (arguments.first_line || arguments.lines) {
    part.line = arguments.first_line.value_or(1);
    RELAY_TRY(part.offset, find_line(tree, arguments.path, *part.line));
  }
  const std::uint64_t wanted =
      std::min<std::uint64_t>(arguments.bytes_max.value_or(limits::kToolReadBytes), limits::kFileReadBytes);
  RELAY_TRY(vfs::ReadChunk chunk, tree.read(arguments.path, part.offset, wanted));
  part.bytes = std::move(chunk.bytes);
  part.size = chunk.size;
  if (arguments.lines) keep_lines(part.bytes, *arguments.lines);
  return finish_part(arguments, std::move(part));
}

Result<FilePart> finish_part(const ReadArguments& arguments, FilePart part) {
  fit_result(arguments, part);
  const auto newlines = static_cast<std::uint64_t>(std::ranges::count(part.bytes, '\n'));
  part.end = part.offset + part.bytes.size();
  if (arguments.encoding == Encoding::utf8) RELAY_CHECK(make_text(part, arguments.path));
  const bool whole_lines = part.line && part.end < part.size && part.bytes.ends_with('\n');
  if (whole_lines) part.next_line = *part.line + newlines;
  return part;
}

ToolResult file_result(const ReadArguments& arguments, FilePart part) {
  ToolResult result;
  const bool text = arguments.encoding == Encoding::utf8;
  json::object structured;
  if (arguments.encoding != Encoding::binary)
    structured["content"] = text ? part.bytes : to_base64(part.bytes);
  if (arguments.encoding != Encoding::binary) structured["encoding"] = text ? "utf-8" : "base64";
  structured["size"] = part.size;
  if (part.offset > 0) structured["offset"] = part.offset;
  if (part.line) structured["line"] = *part.line;
  if (part.next_line) structured["nextLine"] = *part.next_line;
  if (part.end < part.size) structured["nextOffset"] = part.end;
  if (part.lossy) structured["lossy"] = true;
  if (part.end < part.size) structured["truncated"] = true;
  if (part.end < part.size) structured["rest"] = how_to_go_on(part);
  result.structured = std::move(structured);
  if (arguments.encoding == Encoding::binary) {
    result.content.push_back(protocol::text_content(
        fmt::format("{}: bytes {}-{} of {}", arguments.path, part.offset, part.end, part.size)));
    result.content.push_back(shown_binary(arguments.path, std::move(part.bytes)));
    return result;
  }
  result.content.push_back(protocol::text_content(text_for_model(arguments, part)));
  return result;
}

ToolResult listing_result(std::string_view path, const vfs::DirectoryListing& listing) {
  json::array entries;
  std::string text;
  for (const vfs::DirEntry& entry : listing.entries) {
    const bool file = entry.type == vfs::FileType::file;
    const std::string name = to_valid_utf8(entry.name);
    json::object item{{"name", name}, {"type", vfs::name_of(entry.type)}};
    if (file) item["size"] = entry.size;
    entries.push_back(std::move(item));
    const std::string_view mark = entry.type == vfs::FileType::directory ? "/"
                                  : entry.type == vfs::FileType::link    ? "@"
                                                                         : "";
    text += file ? fmt::format("{} {}\n", name, entry.size) : fmt::format("{}{}\n", name, mark);
  }
  if (listing.entries.empty()) text = fmt::format("{} is empty\n", path);
  if (listing.truncated) text += fmt::format("[only the first {} entries]\n", listing.entries.size());
  ToolResult result = ToolResult::text(std::move(text));
  json::object structured{{"type", "dir"}, {"entries", std::move(entries)}};
  if (listing.truncated) structured["truncated"] = true;
  if (listing.truncated)
    structured["rest"] = "list a directory below it, or find files with search and filePattern";
  result.structured = std::move(structured);
  return result;
}

ToolResult stat_result(std::string_view path, const vfs::FileStat& found) {
  const WallTime changed{std::chrono::milliseconds(found.mtime_ms)};
  const std::string modified = format_iso8601(changed);
  ToolResult result =
      ToolResult::text(fmt::format("{}: {}, {} bytes, modified {}, mode {:o}", path, vfs::name_of(found.type),
                                   found.size, modified, found.mode));
  result.structured = json::object{
      {"type", vfs::name_of(found.type)}, {"size", found.size}, {"modified", modified}, {"mode", found.mode}};
  return result;
}

// The entries of a directory and of those below it, with names relative to it. The levels are read one after
// the other, so that the limit leaves out what is deepest. Links are not followed; what may not be read is
// not shown.
Result<vfs::DirectoryListing> list_below(const vfs::Tree& tree, const std::string& path, std::size_t depth) {
  RELAY_TRY(vfs::DirectoryListing all, tree.list(path));
  std::size_t level_begin = 0;
  for (std::size_t level = 1; level < depth && !all.truncated; ++level) {
    const std::size_t level_end = all.entries.size();
    for (std::size_t i = level_begin; i < level_end && !all.truncated; ++i) {
      if (all.entries[i].type != vfs::FileType::directory) continue;
      const std::string above = all.entries[i].name;
      auto below = tree.list(fmt::format("{}/{}", path == "/" ? "" : path, above),
                             limits::kListEntries - all.entries.size());
      if (!below) continue;
      all.truncated = below->truncated;
      for (vfs::DirEntry& entry : below->entries) {
        entry.name = fmt::format("{}/{}", above, entry.name);
        all.entries.push_back(std::move(entry));
      }
    }
    level_begin = level_end;
  }
  std::ranges::sort(all.entries, {}, &vfs::DirEntry::name);
  return all;
}

Result<ToolResult> read_path(const vfs::Tree& tree, const ReadArguments& arguments) {
  RELAY_TRY(const vfs::FileStat found, tree.stat(arguments.path));
  if (arguments.stat_only) return stat_result(arguments.path, found);
  if (found.type == vfs::FileType::directory) {
    RELAY_TRY(const vfs::DirectoryListing listing, list_below(tree, arguments.path, arguments.depth));
    return listing_result(arguments.path, listing);
  }
  RELAY_TRY(FilePart part, read_part(tree, arguments));
  return file_result(arguments, std::move(part));
}

}  // namespace relay::tools
