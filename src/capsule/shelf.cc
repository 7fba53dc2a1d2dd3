#include "capsule/shelf.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/disk.h"
#include "base/limits.h"

namespace relay::capsule {
namespace {

namespace fs = std::filesystem;

constexpr auto kLeftoverAge = std::chrono::hours(1);

WallTime modified(const fs::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return WallTime{};
  return WallTime(std::chrono::seconds(status.st_mtim.tv_sec) +
                  std::chrono::microseconds(status.st_mtim.tv_nsec / 1000));
}

// A file with several links counts in part for each, so that the sum is what the disk holds.
std::uint64_t share_of(const fs::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return static_cast<std::uint64_t>(status.st_size) /
         std::max<std::uint64_t>(1, status.st_nlink - (status.st_nlink > 1 ? 1 : 0));
}

std::uint64_t bytes_in(const fs::path& directory) {
  std::uint64_t total = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    total += share_of(it->path());
  return total;
}

}  // namespace

ShelfCut choose_cut(std::vector<ShelfEntry> entries, WallTime now, std::chrono::seconds keep_for,
                    std::uint64_t max_bytes) {
  std::ranges::sort(entries, std::ranges::greater{}, &ShelfEntry::used);
  ShelfCut cut;
  bool full = false;
  for (ShelfEntry& entry : entries) {
    full = full || cut.bytes_kept + entry.bytes > max_bytes;
    if (full || now - entry.used > keep_for) {
      cut.removed.push_back(std::move(entry));
    } else {
      ++cut.kept;
      cut.bytes_kept += entry.bytes;
    }
  }
  return cut;
}

Result<std::vector<ShelfEntry>> list_shelf(const fs::path& root, std::string_view stamp_file) {
  std::vector<ShelfEntry> entries;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(root, error)) {
    const std::string name = item.path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.') || !item.is_directory(ignored)) continue;
    entries.push_back({name, modified(item.path() / stamp_file), bytes_in(item.path())});
  }
  if (error) return fail(from_errno(error.value(), fmt::format("read directory {}", root.string())));
  return entries;
}

void set_used(const fs::path& stamp_file, WallTime when) {
  const auto since = when.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const timespec stamp{seconds.count(), std::chrono::nanoseconds(since - seconds).count()};
  const timespec both[2] = {stamp, stamp};
  ::utimensat(AT_FDCWD, stamp_file.c_str(), both, 0);  // a cache that forgets an order of use is still right
}

void discard_directory(const fs::path& directory) {
  std::error_code ignored;
  const fs::path trash = directory.parent_path() / temporary_name(".trash-");
  fs::rename(directory, trash, ignored);
  fs::remove_all(ignored ? directory : trash, ignored);
}

void sweep_leftovers(const fs::path& root, WallTime now) {
  std::error_code error;
  for (const auto& item : fs::directory_iterator(root, error)) {
    const std::string name = item.path().filename().string();
    if (!name.starts_with(".tmp-") && !name.starts_with(".trash-")) continue;
    std::error_code ignored;
    if (now - modified(item.path()) > kLeftoverAge) fs::remove_all(item.path(), ignored);
  }
}

Result<void> prune_shelf(const fs::path& root, std::string_view stamp_file, WallTime now) {
  RELAY_CHECK(make_directory(root));
  sweep_leftovers(root, now);
  RELAY_TRY(std::vector<ShelfEntry> entries, list_shelf(root, stamp_file));
  const ShelfCut cut = choose_cut(std::move(entries), now, limits::kCapsuleKept, limits::kCapsuleStoreBytes);
  for (const ShelfEntry& entry : cut.removed) discard_directory(root / entry.name);
  return {};
}

void drop_unlinked(const fs::path& directory) {
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory, error)) {
    struct stat status{};
    if (::lstat(item.path().c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1) {
      std::error_code ignored;
      fs::remove(item.path(), ignored);
    }
  }
}

}  // namespace relay::capsule
