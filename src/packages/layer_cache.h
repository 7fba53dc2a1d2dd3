// LayerCache: resolved dependencies by the exact request that they answer. Memory first, then disk.
//
//   <root>/<key>/fs.deps.zip  layer.json {"bytes", "sha256"}
//
// A hit in memory costs a look-up, so that a run with known dependencies costs about what a plain run does.
// An entry on disk is used only when its hash is right; otherwise it is removed and made again. find() is for
// the loop thread; load() and save() block.
#pragma once

#include <filesystem>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "archive/zip.h"
#include "base/clock.h"
#include "capsule/builder.h"

namespace relay::packages {

class LayerCache {
 public:
  LayerCache(std::filesystem::path root, const Clock& clock) : root_(std::move(root)), clock_(clock) {}

  std::optional<capsule::DepsLayer> find(const std::string& key);
  /// Whether there is one on disk, sound or not. Costs a look at the directory.
  [[nodiscard]] bool is_stored(const std::string& key) const;
  Result<capsule::DepsLayer> load(const std::string& key);
  Result<capsule::DepsLayer> save(const std::string& key, std::string zip);
  /// Drops what is old or too much, as the capsule store does.
  Result<void> prune();

 private:
  void remember(const std::string& key, const capsule::DepsLayer& layer);

  std::filesystem::path root_;
  const Clock& clock_;
  std::mutex mutex_;
  std::list<std::pair<std::string, capsule::DepsLayer>> recent_;  // newest first
  std::uint64_t recent_bytes_ = 0;
};

/// Stored when that fits the format's limit, deflated when only that does: what is stored is read without
/// unpacking.
Result<std::string> pack_layer(const archive::ZipFiles& files);

}  // namespace relay::packages
