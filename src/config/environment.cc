#include "config/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

extern char** environ;

namespace relay::config {
namespace {

constexpr std::array kVariables = {
    EnvironmentVariable{"RELAY_PORT", "server/port", VariableType::number, "Port to listen on"},
    EnvironmentVariable{"RELAY_BIND", "server/bind", VariableType::text, "Address to listen on"},
    EnvironmentVariable{"RELAY_UI", "server/ui", VariableType::boolean,
                        "Serve the page at / (false: headless)"},
    EnvironmentVariable{"RELAY_OPEN", "server/open", VariableType::boolean, "Open the browser at start"},
    EnvironmentVariable{"RELAY_ALLOWED_HOSTS", "server/allowedHosts", VariableType::list,
                        "Further host names Relay may be reached under"},
    EnvironmentVariable{"RELAY_TLS_CERT", "server/tlsCert", VariableType::text, "PEM certificate chain"},
    EnvironmentVariable{"RELAY_TLS_KEY", "server/tlsKey", VariableType::text, "PEM private key"},
    EnvironmentVariable{"RELAY_AUTH", "auth/mode", VariableType::text, "none or token"},
    EnvironmentVariable{"RELAY_ALLOWED_ORIGINS", "cors/allowedOrigins", VariableType::list,
                        "Origins of web pages that may call"},
    EnvironmentVariable{"RELAY_TOOLSETS", "toolsets", VariableType::list, "Toolsets to offer"},
    EnvironmentVariable{"RELAY_POLICY_MODE", "policy/mode", VariableType::text, "open, guarded or readonly"},
    EnvironmentVariable{"RELAY_TIMEOUT_MS", "policy/limits/timeoutMs", VariableType::number,
                        "Wall clock limit of a run"},
    EnvironmentVariable{"RELAY_MEM_MB", "policy/limits/memMb", VariableType::number, "Memory limit of a run"},
    EnvironmentVariable{"RELAY_STDOUT_BYTES", "policy/limits/stdoutBytes", VariableType::number,
                        "Output limit of a run"},
    EnvironmentVariable{"RELAY_MAX_RUNS", "executor/maxConcurrentRuns", VariableType::number, "Runs at once"},
    EnvironmentVariable{"RELAY_WALLS", "executor/walls", VariableType::text, "full or reduced"},
    EnvironmentVariable{"RELAY_CGROUP", "executor/cgroup", VariableType::text, "auto, off or a directory"},
    EnvironmentVariable{"RELAY_AUDIT_PATH", "audit/path", VariableType::text, "The audit log"},
    EnvironmentVariable{"RELAY_AUDIT_ON_FAILURE", "audit/onFailure", VariableType::text, "refuse or degrade"},
    EnvironmentVariable{"RELAY_LOG_LEVEL", "log/level", VariableType::text, "debug, info, warn or error"},
    EnvironmentVariable{"RELAY_LOG_FORMAT", "log/format", VariableType::text, "auto, json or text"},
};

std::optional<bool> find_boolean(std::string_view text) {
  for (const std::string_view yes : {"1", "true", "yes", "on"})
    if (text == yes) return true;
  for (const std::string_view no : {"0", "false", "no", "off"})
    if (text == no) return false;
  return std::nullopt;
}

json::array split_list(std::string_view text) {
  json::array items;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) items.emplace_back(boost::json::string_view(text.data(), comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

std::optional<json::value> find_value(VariableType type, std::string_view text) {
  switch (type) {
    case VariableType::text: return json::value(boost::json::string_view(text.data(), text.size()));
    case VariableType::number: {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
      return json::value(number);
    }
    case VariableType::boolean: {
      const auto flag = find_boolean(text);
      return flag ? std::optional(json::value(*flag)) : std::nullopt;
    }
    case VariableType::list: return json::value(split_list(text));
  }
  return std::nullopt;
}

}  // namespace

std::span<const EnvironmentVariable> environment_variables() {
  return kVariables;
}

std::string find_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::filesystem::path candidate = std::filesystem::path(rest.substr(0, colon)) / program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

void set_path(json::object& config, std::string_view slash_path, json::value value) {
  const std::size_t slash = slash_path.find('/');
  const std::string_view head = slash_path.substr(0, slash);
  json::value& slot = config[boost::json::string_view(head.data(), head.size())];
  if (slash == std::string_view::npos) {
    slot = std::move(value);
    return;
  }
  if (!slot.is_object()) slot = json::object();
  set_path(slot.get_object(), slash_path.substr(slash + 1), std::move(value));
}

void apply_environment(const std::map<std::string, std::string>& environment, json::object& config,
                       std::vector<ConfigProblem>& problems) {
  for (const EnvironmentVariable& variable : kVariables) {
    const auto found = environment.find(std::string(variable.name));
    if (found == environment.end()) continue;
    auto value = find_value(variable.type, found->second);
    if (value)
      set_path(config, variable.key, std::move(*value));
    else
      problems.push_back(
          {std::string(variable.name),
           fmt::format("expected a {}, got \"{}\"",
                       variable.type == VariableType::number ? "whole number" : "true or false",
                       found->second)});
  }
}

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

std::map<std::string, std::string> relevant_environment() {
  auto found = process_environment();
  std::erase_if(found, [](const auto& variable) {
    return !variable.first.starts_with("RELAY_") && variable.first != "HOME" &&
           variable.first != "XDG_STATE_HOME";
  });
  return found;
}

}  // namespace relay::config
