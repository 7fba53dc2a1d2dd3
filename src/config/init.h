// `relay init`: writes a commented relay.config.json, never over an existing one.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace relay::config {

/// The path of the file it wrote.
Result<std::filesystem::path> write_initial_config(const std::filesystem::path& directory);

}  // namespace relay::config
