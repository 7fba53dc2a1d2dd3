// ConfigWatch: tells when the configuration file has changed, or somebody asked by SIGHUP to read it again.
//
// Editors and `relay mcp add` replace the file by renaming a new one over it, so the directory is watched, not the file. A burst of
// events is told once, a moment after its last one. Loop thread only; it ends when it is destroyed or cancelled.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string_view>

#include "io/spawn.h"
#include "io/task.h"

namespace relay::app {

enum class WatchCause : std::uint8_t { file, signal };

struct WatchOptions {
  std::filesystem::path file;  // empty: only the signal counts
  std::chrono::milliseconds settle = std::chrono::milliseconds(150);
};

class ConfigWatch {
 public:
  using OnChange = std::function<void(WatchCause)>;

  /// Begins to watch. Fails when the kernel has no watches left, or the directory is gone; SIGHUP works all the same.
  static Result<void> start(io::Executor executor, WatchOptions options, OnChange on_change, io::CancelSource cancel);
};

}  // namespace relay::app
