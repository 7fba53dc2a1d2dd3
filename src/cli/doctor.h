// `relay doctor`: which walls the kernel gives us, which programs and runtimes are there, and what to do
// about the rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace relay::cli {

enum class Health : std::uint8_t { good, optional_missing, bad };

struct Finding {
  std::string group;  // "kernel", "programs", "runtimes", "network", "state"
  std::string name;   // "user namespaces"
  Health health = Health::good;
  std::string detail;  // a version, or what to do
};

/// Whether the registries of npm and pip are asked, which takes seconds.
enum class Reach : std::uint8_t { untried, tried };

std::vector<Finding> examine(const config::LoadedConfig& loaded, Reach reach);

/// Pure: whether a process with this /proc/self/mountinfo sees only a part of the file system. Not seen is a
/// chroot to a mount point.
bool is_chroot(std::string_view mountinfo);

std::string format_findings(const std::vector<Finding>& findings);
json::value to_json(const std::vector<Finding>& findings);
/// True when nothing that Relay needs is missing.
bool is_healthy(const std::vector<Finding>& findings);

}  // namespace relay::cli
