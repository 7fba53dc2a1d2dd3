// ConfigWatch: tells when the configuration file has changed, or somebody asked by SIGHUP to read it again.
//
// Editors and `relay mcp add` replace the file by renaming a new one over it, so the directory is watched,
// not the file. A burst of events is told once, a moment after its last one. Loop thread only; destroying it
// ends the watch, also from within what it calls.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

#include "io/task.h"

namespace relay::app {

enum class WatchCause : std::uint8_t { file, signal };

class ConfigWatch {
 public:
  using OnChange = std::function<void(WatchCause)>;

  /// Without a file only the signal counts.
  ConfigWatch(io::Loop executor, const std::filesystem::path& file, OnChange on_change,
              std::chrono::milliseconds settle = std::chrono::milliseconds(150));
  ~ConfigWatch();
  ConfigWatch(const ConfigWatch&) = delete;
  ConfigWatch& operator=(const ConfigWatch&) = delete;

  /// Why the file is not watched: the kernel has no watches left, or the directory is gone. SIGHUP works all
  /// the same.
  [[nodiscard]] const Result<void>& watching() const { return watching_; }

 private:
  class Watcher;
  std::shared_ptr<Watcher> watcher_;
  Result<void> watching_;
};

}  // namespace relay::app
