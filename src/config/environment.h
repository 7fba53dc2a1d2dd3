// The environment variables that stand for configuration keys. docs/configuration.md lists them; a test
// compares. Read once, at start; a value that does not fit its key is a problem with the variable's name.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace relay::config {

enum class VariableType : std::uint8_t { text, number, boolean, list };

struct EnvironmentVariable {
  std::string_view name;  // RELAY_PORT
  std::string_view key;   // "server/port"
  VariableType type;
  std::string_view meaning;
};

std::span<const EnvironmentVariable> environment_variables();

/// Lays the variables that are set over `config`; a value that cannot be read is a problem.
void apply_environment(const std::map<std::string, std::string>& environment, json::object& config,
                       std::vector<ConfigProblem>& problems);

/// All variables of this process.
std::map<std::string, std::string> process_environment();
/// Those that Relay looks at.
std::map<std::string, std::string> relevant_environment();

/// Where a program of that name is, or nothing.
std::string find_in_path(const std::string& program);

/// Sets config["server"]["port"] for "server/port", making the objects on the way.
void set_path(json::object& config, std::string_view slash_path, json::value value);

}  // namespace relay::config
