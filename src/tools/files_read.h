// The read tool: a file or a part of it, a directory's listing, or what is known about a path.
//
// Pure but for `read_path`, which blocks and runs on a pool thread. Text never ends or begins inside a
// character; what was left out is said, with the offset or line to go on from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "protocol/tool.h"
#include "vfs/tree.h"

namespace relay::tools {

enum class Encoding : std::uint8_t {
  utf8,
  base64,
  binary,  // images, audio and other files as content that a client can show, and nowhere else
};

struct ReadArguments {
  std::string path;
  Encoding encoding = Encoding::utf8;
  std::optional<std::uint64_t> bytes_max;  // missing: what fits a result
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> first_line;  // from 1
  std::optional<std::uint64_t> lines;
  std::size_t depth = 1;  // of a directory's listing: 1 is the directory itself
  bool stat_only = false;
};

struct FilePart {
  std::string bytes;
  std::uint64_t size = 0;    // of the file
  std::uint64_t offset = 0;  // where bytes begin
  std::uint64_t end = 0;     // where they end; less than size: there is more
  std::optional<std::uint64_t> line, next_line;
  bool lossy = false;  // invalid UTF-8 was replaced
};

/// The schema was checked before; what is read here cannot miss.
ReadArguments read_read_arguments(const json::object& arguments);

Result<protocol::ToolResult> read_path(const vfs::Tree& tree, const ReadArguments& arguments);

/// The part of a file that is asked for, for tools and resources.
Result<FilePart> read_part(const vfs::Tree& tree, const ReadArguments& arguments);

/// Cuts what was read to what a result holds, and says where it ends. Fails when text is asked for and there
/// is none.
Result<FilePart> finish_part(const ReadArguments& arguments, FilePart part);

protocol::ToolResult file_result(const ReadArguments& arguments, FilePart part);
protocol::ToolResult listing_result(std::string_view path, const vfs::DirectoryListing& listing);
protocol::ToolResult stat_result(std::string_view path, const vfs::FileStat& found);

}  // namespace relay::tools
