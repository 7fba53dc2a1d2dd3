// `relay doctor`: which walls the kernel gives us, which programs and runtimes are there, and what to do
// about the rest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/config.h"

namespace relay::cli {

enum class Health : std::uint8_t { good, optional_missing, bad };

struct Finding {
  std::string group;  // "kernel", "programs", "runtimes", "state"
  std::string name;   // "user namespaces"
  Health health = Health::good;
  std::string detail;  // a version, or what to do
};

std::vector<Finding> examine(const config::LoadedConfig& loaded,
                             const std::filesystem::path& program_directory);

std::string format_findings(const std::vector<Finding>& findings);
json::value to_json(const std::vector<Finding>& findings);
/// True when nothing that Relay needs is missing.
bool is_healthy(const std::vector<Finding>& findings);

}  // namespace relay::cli
