#include "tools/files_write.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/media_type.h"
#include "tools/file_uri.h"

namespace relay::tools {
namespace {

vfs::WriteMode mode_of(const json::object& arguments) {
  const std::string_view mode = json::find_string(arguments, "mode").value_or("create");
  if (mode == "append") return vfs::WriteMode::append;
  return mode == "overwrite" ? vfs::WriteMode::overwrite : vfs::WriteMode::create;
}

}  // namespace

Result<vfs::WriteRequest> read_write_arguments(const json::object& arguments) {
  vfs::WriteRequest request;
  request.path = json::find_string(arguments, "path").value_or("");
  request.bytes = json::find_string(arguments, "content").value_or("");
  request.mode = mode_of(arguments);
  request.parents =
      json::find_bool(arguments, "parents").value_or(false) ? vfs::Parents::created : vfs::Parents::required;
  request.durability = vfs::Durability::synced;
  if (json::find_string(arguments, "encoding") != "base64") return request;
  auto bytes = find_base64(request.bytes);
  if (!bytes)
    return relay::fail(invalid("content is not valid base64: standard alphabet, padded, no line breaks"));
  request.bytes = std::move(*bytes);
  return request;
}

protocol::ToolResult write_result(std::string_view path, const vfs::WriteReceipt& receipt) {
  protocol::ToolResult result = protocol::ToolResult::text(
      fmt::format("{} {} bytes to {} ({} bytes now)", receipt.created ? "created: wrote" : "wrote",
                  receipt.bytes_written, path, receipt.size));
  protocol::ResourceLink link;
  link.resource.uri = uri_of_file(path);
  link.resource.name = path.substr(path.rfind('/') + 1);
  link.resource.mime_type = media_type_of(path);
  link.resource.size = static_cast<std::int64_t>(receipt.size);
  result.content.emplace_back(std::move(link));
  result.structured = json::object{{"path", path},
                                   {"bytesWritten", receipt.bytes_written},
                                   {"size", receipt.size},
                                   {"created", receipt.created}};
  return result;
}

authority::Tier write_tier(const json::object& arguments) {
  const auto path = vfs::parse_tree_path(json::find_string(arguments, "path").value_or(""));
  const bool workspace = path && !path->parts.empty() && (path->parts[0] == "tmp" || path->parts[0] == "out");
  return workspace ? authority::Tier::reversible : authority::Tier::stateful;
}

}  // namespace relay::tools
