#include "tools/file_subscriptions.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "tools/file_resources.h"
#include "tools/file_uri.h"
#include "vfs/async_tree.h"

namespace relay::tools {
namespace {

// A key is the view, a newline, and the URI; nothing in place of the URI is the list itself. Views are names
// of workspaces and hold no newline.
std::string key_of(std::string_view view, std::string_view uri) {
  return fmt::format("{}\n{}", view, uri);
}

protocol::ServerEvent event_of(const std::string& key) {
  const std::size_t newline = key.find('\n');
  std::string uri = key.substr(newline + 1);
  if (uri.empty()) return protocol::ListChanged{protocol::ListKind::resources};
  return protocol::ResourceUpdated{std::move(uri), key.substr(0, newline)};
}

}  // namespace

Result<std::unique_ptr<FileSubscriptions>> FileSubscriptions::open(std::shared_ptr<const FilesWorld> world,
                                                                   const io::Loop& executor,
                                                                   protocol::EventSink tell) {
  std::unique_ptr<FileSubscriptions> subscriptions(new FileSubscriptions(std::move(world)));
  auto changed = [tell = std::move(tell)](const std::string& key) { tell(event_of(key)); };
  RELAY_TRY(subscriptions->watcher_, vfs::FileWatcher::open(executor, std::move(changed)));
  return subscriptions;
}

std::string FileSubscriptions::view_of(const authority::Caller& caller) const {
  return world_->trees.workspace_name(authority::key_of_client(caller));
}

std::optional<std::string> FileSubscriptions::find_view(const authority::Caller& caller,
                                                        std::string_view uri) const {
  return uri.starts_with(kFileUriPrefix) ? std::optional(view_of(caller)) : std::nullopt;
}

io::Task<void> FileSubscriptions::watch_path(std::shared_ptr<vfs::Tree> tree, std::string path,
                                             std::string key) {
  const vfs::AsyncTree files(world_->pool, std::move(tree));
  auto work = [path = std::move(path)](vfs::Tree& on) { return vfs::open_watch_target(on, path); };
  RELAY_CO_TRY(const vfs::WatchTarget target, co_await files.run(std::move(work)));
  RELAY_CO_CHECK(watcher_->watch(std::move(key), target));
  co_return Result<void>{};
}

io::Task<bool> FileSubscriptions::watch(const authority::Recorded& recorded, std::string uri) {
  if (!uri.starts_with(kFileUriPrefix)) co_return false;
  auto path = find_file_of_uri(uri);
  if (!path) co_return fail(invalid("the URI has a broken percent-encoding"));
  std::string key = key_of(view_of(recorded.call().caller), uri);
  RELAY_CO_TRY(auto tree, world_->trees.open_tree(recorded));
  RELAY_CO_CHECK(co_await watch_path(std::move(tree), std::move(*path), std::move(key)));
  co_return true;
}

void FileSubscriptions::unwatch(const authority::Caller& caller, std::string_view uri) {
  watcher_->unwatch(key_of(view_of(caller), uri));
}

void FileSubscriptions::session_ended(const authority::Caller& caller) {
  if (world_->trees.spec().workspace == vfs::WorkspaceKind::shared || caller.session_id.empty()) return;
  watcher_->unwatch(key_of(view_of(caller), ""));
}

io::Task<void> FileSubscriptions::append_changing(const authority::Caller& caller,
                                                  std::vector<protocol::Resource>& out) {
  std::string key = key_of(view_of(caller), "");
  // Watched before it is listed: what comes in between is reported and not lost. A list that cannot be
  // watched is still one.
  if (!watcher_->is_watched(key)) {
    RELAY_CO_TRY(auto tree, world_->trees.open_tree(authority::Unrecorded::listing(caller)));
    [[maybe_unused]] const auto watched = co_await watch_path(std::move(tree), "/out", std::move(key));
  }
  RELAY_CO_TRY(std::vector<protocol::Resource> outputs, co_await list_outputs(*world_, caller));
  std::move(outputs.begin(), outputs.end(), std::back_inserter(out));
  co_return Result<void>{};
}

}  // namespace relay::tools
