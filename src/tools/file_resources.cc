#include "tools/file_resources.h"

#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/media_type.h"
#include "tools/file_uri.h"
#include "tools/files_read.h"
#include "vfs/async_tree.h"

namespace relay::tools {
namespace {

using authority::Recorded;
using protocol::ReadResult;

// A directory is its listing as JSON, so that a client can walk on.
std::string listing_text(const vfs::DirectoryListing& listing, const std::string& path) {
  json::array entries;
  for (const vfs::DirEntry& entry : listing.entries) {
    entries.push_back(json::object{{"name", to_valid_utf8(entry.name)},
                                   {"type", vfs::name_of(entry.type)},
                                   {"uri", uri_of_file(vfs::join(path, entry.name))}});
  }
  return json::write(json::object{{"entries", std::move(entries)}, {"truncated", listing.truncated}});
}

protocol::ResourceContents file_contents(const std::string& path, std::string bytes) {
  protocol::ResourceContents contents{uri_of_file(path), media_type_of(path, bytes), std::string(), {}};
  if (is_valid_utf8(bytes)) {
    contents.body = std::move(bytes);
    return contents;
  }
  const auto raw = as_bytes(bytes);
  contents.body = std::vector<std::byte>(raw.begin(), raw.end());
  return contents;
}

Result<ReadResult> read_resource(const vfs::Tree& tree, const std::string& path) {
  RELAY_TRY(const vfs::FileStat found, tree.stat(path));
  ReadResult result;
  if (found.type == vfs::FileType::directory) {
    RELAY_TRY(const vfs::DirectoryListing listing, tree.list(path));
    result.contents.push_back({uri_of_file(path), "application/json", listing_text(listing, path), {}});
    return result;
  }
  if (found.size > limits::kToolReadBytes) {
    return relay::fail(
        too_large(fmt::format("{} has {} bytes; the read tool reads it in parts", path, found.size)));
  }
  RELAY_TRY(vfs::ReadChunk chunk, tree.read(path, 0, limits::kToolReadBytes));
  result.contents.push_back(file_contents(path, std::move(chunk.bytes)));
  return result;
}

io::Task<ReadResult> read_file(std::shared_ptr<const FilesWorld> world, const Recorded& recorded,
                               std::string path) {
  RELAY_CO_TRY(auto tree, world->trees.open_tree(recorded));
  const vfs::AsyncTree files(world->pool, std::move(tree));
  auto work = [path = std::move(path)](vfs::Tree& on) { return read_resource(on, path); };
  co_return co_await files.run(std::move(work));
}

io::Task<ReadResult> read_by_variable(std::shared_ptr<const FilesWorld> world, const Recorded& recorded,
                                      const protocol::UriVariables& variables) {
  const auto value = variables.find("path");
  auto path = find_file_of_variable(value != variables.end() ? value->second : "");
  if (!path) co_return fail(invalid("the URI has a broken percent-encoding"));
  co_return co_await read_file(std::move(world), recorded, std::move(*path));
}

std::vector<authority::CallField> path_field(std::string_view uri) {
  const auto path = find_file_of_uri(uri);
  const auto parsed = vfs::parse_tree_path(path.value_or(""));
  if (!parsed) return {};
  return {{"path", parsed->text()}};
}

void add_directory(pipeline::Toolset& toolset, const std::shared_ptr<const FilesWorld>& world,
                   std::string path, std::string description) {
  pipeline::GuardedResource guarded;
  guarded.name = "file";
  guarded.resource.uri = uri_of_file(path);
  guarded.resource.name = path;
  guarded.resource.description = std::move(description);
  guarded.resource.mime_type = "application/json";
  guarded.fields = path_field;
  guarded.handler = [world, path](serving::Context&, const Recorded& recorded,
                                  const protocol::UriVariables&) { return read_file(world, recorded, path); };
  toolset.add_resource(std::move(guarded));
}

}  // namespace

void add_file_resources(pipeline::Toolset& toolset, std::shared_ptr<const FilesWorld> world) {
  for (const vfs::MountSpec& mount : world->trees.spec().mounts) {
    const std::string_view mode = mount.mode == vfs::MountMode::rw ? "writable" : "read-only";
    add_directory(toolset, world, "/host/" + mount.name, fmt::format("mounted directory, {}", mode));
  }
  add_directory(toolset, world, "/tmp", "scratch files");
  add_directory(toolset, world, "/out", "files that runs leave");
  pipeline::GuardedResource guarded;
  guarded.name = "file";
  guarded.resource_template.uri_template = kFileUriTemplate;
  guarded.resource_template.name = "file";
  guarded.fields = path_field;
  guarded.resource_template.description =
      "A file or directory by its path without the first slash, percent-encoded";
  guarded.handler = [world = std::move(world)](serving::Context&, const Recorded& recorded,
                                               const protocol::UriVariables& variables) {
    return read_by_variable(world, recorded, variables);
  };
  toolset.add_resource(std::move(guarded));
}

io::Task<std::vector<protocol::Resource>> list_outputs(const FilesWorld& world,
                                                       const authority::Caller& caller) {
  std::vector<protocol::Resource> outputs;
  RELAY_CO_TRY(auto tree, world.trees.open_tree(authority::Unrecorded::listing(caller)));
  const vfs::AsyncTree files(world.pool, std::move(tree));
  const auto listing = co_await files.list("/out", limits::kListedOutputs);
  if (!listing) co_return outputs;  // a policy may hide it
  for (const vfs::DirEntry& entry : listing->entries) {
    if (entry.type != vfs::FileType::file) continue;
    protocol::Resource resource;
    resource.uri = uri_of_file("/out/" + entry.name);
    resource.name = to_valid_utf8(entry.name);
    resource.mime_type = media_type_of(entry.name);
    resource.size = static_cast<std::int64_t>(entry.size);
    outputs.push_back(std::move(resource));
  }
  co_return outputs;
}

}  // namespace relay::tools
