#include "tools/file_resources.h"

#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "tools/file_uri.h"
#include "tools/files_read.h"
#include "vfs/async_tree.h"

namespace relay::tools {
namespace {

using authority::Recorded;
using protocol::ReadResult;

// A directory is its listing as JSON, so that a client can walk on.
std::string listing_text(const vfs::Listing& listing, const std::string& path) {
  json::array entries;
  for (const vfs::DirEntry& entry : listing.entries) {
    entries.push_back(json::object{{"name", to_valid_utf8(entry.name)},
                                   {"type", vfs::name_of(entry.type)},
                                   {"uri", uri_of_file(vfs::join(path, entry.name))}});
  }
  return json::write(json::object{{"entries", std::move(entries)}, {"truncated", listing.truncated}});
}

protocol::ResourceContents file_contents(const std::string& path, std::string bytes) {
  protocol::ResourceContents contents{uri_of_file(path), media_type_of(path), std::string(), {}};
  if (is_valid_utf8(bytes)) {
    contents.body = std::move(bytes);
    return contents;
  }
  const auto raw = as_bytes(bytes);
  contents.body = std::vector<std::byte>(raw.begin(), raw.end());
  if (contents.mime_type == "text/plain") contents.mime_type = "application/octet-stream";
  return contents;
}

Result<ReadResult> read_resource(const vfs::Tree& tree, const std::string& path) {
  RELAY_TRY(const vfs::FileStat found, tree.stat(path));
  ReadResult result;
  if (found.type == vfs::FileType::directory) {
    RELAY_TRY(const vfs::Listing listing, tree.list(path));
    result.contents.push_back({uri_of_file(path), "application/json", listing_text(listing, path), {}});
    return result;
  }
  if (found.size > limits::kToolReadBytes) {
    return relay::fail(too_large(fmt::format("{} has {} bytes; the read tool reads it in parts", path, found.size)));
  }
  RELAY_TRY(vfs::ReadChunk chunk, tree.read(path, 0, limits::kToolReadBytes));
  result.contents.push_back(file_contents(path, std::move(chunk.bytes)));
  return result;
}

io::Task<ReadResult> read_file(std::shared_ptr<const FilesWorld> world, const Recorded& recorded, std::string path) {
  RELAY_CO_TRY(auto tree, world->trees.open_tree(recorded.call().caller.principal));
  const vfs::AsyncTree files(world->pool, std::move(tree));
  auto work = [path = std::move(path)](vfs::Tree& on) { return read_resource(on, path); };
  co_return co_await files.run(std::move(work));
}

io::Task<ReadResult> read_by_variable(std::shared_ptr<const FilesWorld> world, const Recorded& recorded, const mcp::Variables& variables) {
  const auto value = variables.find("path");
  auto path = find_file_of_variable(value != variables.end() ? value->second : "");
  if (!path) co_return fail(invalid("the URI has a broken percent-encoding"));
  co_return co_await read_file(std::move(world), recorded, std::move(*path));
}

void add_directory(pipeline::Toolset& toolset, const std::shared_ptr<const FilesWorld>& world, std::string path, std::string description) {
  pipeline::GuardedResource guarded;
  guarded.name = "file";
  guarded.resource.uri = uri_of_file(path);
  guarded.resource.name = path;
  guarded.resource.description = std::move(description);
  guarded.resource.mime_type = "application/json";
  guarded.handler = [world, path](mcp::Context&, const Recorded& recorded, const mcp::Variables&) { return read_file(world, recorded, path); };
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
  guarded.resource_template.description = "A file or directory by its path without the first slash, percent-encoded";
  guarded.handler = [world = std::move(world)](mcp::Context&, const Recorded& recorded, const mcp::Variables& variables) {
    return read_by_variable(world, recorded, variables);
  };
  toolset.add_resource(std::move(guarded));
}

bool FileSubscriptions::handles(std::string_view uri) {
  return find_file_of_uri(uri).has_value();
}

Result<std::unique_ptr<FileSubscriptions>> FileSubscriptions::open(std::shared_ptr<const FilesWorld> world, io::Executor executor,
                                                                   Updated updated) {
  std::unique_ptr<FileSubscriptions> subscriptions(new FileSubscriptions(std::move(world)));
  RELAY_TRY(subscriptions->watcher_, vfs::FileWatcher::open(std::move(executor), std::move(updated)));
  return subscriptions;
}

io::Task<void> FileSubscriptions::watch(const authority::Caller& caller, std::string uri) {
  const auto path = find_file_of_uri(uri);
  if (!path) co_return fail(invalid(fmt::format("{} is no file of ours", uri)));
  RELAY_CO_TRY(auto tree, world_->trees.open_tree(caller.principal));
  const vfs::AsyncTree files(world_->pool, std::move(tree));
  auto work = [path = *path](vfs::Tree& on) { return vfs::open_watch_target(on, path); };
  RELAY_CO_TRY(const vfs::WatchTarget target, co_await files.run(std::move(work)));
  RELAY_CO_CHECK(watcher_->watch(std::move(uri), target));
  co_return Result<void>{};
}

void FileSubscriptions::unwatch(std::string_view uri) {
  watcher_->unwatch(uri);
}

}  // namespace relay::tools
