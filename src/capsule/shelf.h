// A shelf: a directory of directories that are a cache, and which of them to throw away. Shared by the
// capsule store and the store of resolved dependencies.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace relay::capsule {

struct ShelfEntry {
  std::string name;
  WallTime used;
  std::uint64_t bytes = 0;
};

struct ShelfCut {
  std::vector<ShelfEntry> removed;
  std::size_t kept = 0;
  std::uint64_t bytes_kept = 0;
};

/// Pure: what is older than `keep_for`, then the least recently used until the rest fits.
ShelfCut choose_cut(std::vector<ShelfEntry> entries, WallTime now, std::chrono::seconds keep_for,
                    std::uint64_t max_bytes);

/// Every directory that does not begin with '.'; the time of `stamp_file` in it says when it was used.
Result<std::vector<ShelfEntry>> list_shelf(const std::filesystem::path& root, std::string_view stamp_file);

void set_used(const std::filesystem::path& stamp_file, WallTime when);

/// Out of sight at once (renamed), then deleted: nobody finds half of it.
void discard_directory(const std::filesystem::path& directory);

/// Deletes .tmp-* and .trash-* that are an hour old: their makers are gone.
void sweep_leftovers(const std::filesystem::path& root, WallTime now);

/// All of it for one shelf, with the limits of capsules: leftovers, what is old, what is too much.
Result<void> prune_shelf(const std::filesystem::path& root, std::string_view stamp_file, WallTime now);

/// Deletes files that no capsule links to any more.
void drop_unlinked(const std::filesystem::path& directory);

}  // namespace relay::capsule
