// Which places of a cage are covered by something empty, because Relay's own files would be seen there. A
// declared directory may show them under its own names: through a link, through a bind mount of them
// somewhere beneath it, through a second hard link. Blocks.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace relay::config {

/// One line of /proc/self/mountinfo.
struct MountPoint {
  std::string device;          // "8:1"
  std::filesystem::path root;  // which directory of the device is mounted
  std::filesystem::path at;    // where
};
std::vector<MountPoint> parse_mount_points(std::string_view mountinfo);

/// The paths beneath `declared` at which `own` is seen, by the mounts alone. Both are real paths. Gives
/// `declared` itself when it lies in `own`. Pure.
std::vector<std::filesystem::path> find_views(const std::vector<MountPoint>& mounts,
                                              const std::filesystem::path& declared,
                                              const std::filesystem::path& own);

/// What the configuration lets the cage see, for reading and for writing.
std::vector<std::filesystem::path> declared_paths(const launch::CageSpec& cage);

/// Fills `hidden`, `hidden_version` and `refusal` of the cage.
void hide_own_files(const Config& config, launch::CageSpec& cage);

}  // namespace relay::config
