// CapsuleStore: capsules on disk, each in a directory named by its hash. Blocking; safe from any thread and
// process.
//
//   <root>/<hash>/capsule.json  main.js  fs.deps.zip      a capsule, whole or not there
//   <root>/.layers/<sha256>                               one copy of each layer of dependencies, hard-linked
//   above <root>/.tmp-*  .trash-*                               work in progress; swept when it is old
//
// A capsule is written under a temporary name, synced and renamed into place, so that a crash leaves nothing
// half made. Two writers of one hash do the work once. What was damaged since (a size or a hash differs) is
// noticed when it is loaded or saved again, and replaced. The store is a cache: anything in it may be deleted
// at any time, and prune() does so with what is old, then with what was used longest ago.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/fd.h"
#include "capsule/capsule.h"

namespace relay::capsule {

struct StoreLimits {
  std::chrono::seconds kept = limits::kCapsuleKept;
  std::uint64_t bytes = limits::kCapsuleStoreBytes;
};

/// One file of a stored capsule, open for reading.
struct StoredFile {
  Fd fd;
  std::uint64_t bytes = 0;
  std::string etag;  // quoted; a layer's is its hash, capsule.json's is the capsule's
  std::string_view content_type;
};

/// Reads a capsule from its directory and checks its form. Hashes and signature are the caller's to verify.
Result<Capsule> load_capsule(const std::filesystem::path& directory);

struct PruneReport {
  std::size_t removed = 0;
  std::size_t left = 0;
  std::uint64_t bytes_left = 0;
};

class CapsuleStore {
 public:
  /// Makes the directory if needed and sweeps what a crash left behind.
  static Result<std::unique_ptr<CapsuleStore>> open(std::filesystem::path root, const Clock& clock,
                                                    StoreLimits limits = {});

  /// Writes the capsule unless it is there and sound; marks it as used now.
  Result<void> save(const Capsule& capsule);

  /// not_found when it is not there, or was damaged and has been removed. The signature is the caller's to
  /// verify.
  Result<Capsule> load(std::string_view hash);

  /// For GET /capsules/:hash/:file. Both names come from outside and are checked.
  Result<StoredFile> open_file(std::string_view hash, std::string_view file);

  Result<PruneReport> prune();

  /// How many capsules this object has written: what "builds once" means in tests and metrics.
  [[nodiscard]] std::uint64_t written() const;

 private:
  CapsuleStore(std::filesystem::path root, const Clock& clock, StoreLimits limits);
  class Turn;

  Result<void> save_in_turn(const Capsule& capsule);
  Result<void> write(const Capsule& capsule);
  Result<void> put_layer(const std::filesystem::path& directory, const Layer& layer,
                         const std::string& bytes);
  bool is_sound(const Capsule& capsule);
  void discard(const std::filesystem::path& directory);
  void mark_used(std::string_view hash);

  std::filesystem::path root_;
  const Clock& clock_;
  StoreLimits limits_;

  mutable std::mutex mutex_;
  std::condition_variable turn_ended_;
  std::set<std::string> saving_;                     // hashes that some thread is writing
  std::unordered_map<std::string, MonoTime> sound_;  // checked or written by us, and when last marked as used
  std::uint64_t written_ = 0;
  std::uint64_t bytes_since_prune_ = 0;
};

}  // namespace relay::capsule
