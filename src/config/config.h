// Config: everything a user can set, as one plain value.
//
// Flags beat the environment, the environment beats the file, the file beats the defaults. The first three
// are laid over each other as JSON and checked once against the shipped schema (config.schema.json); reading
// the checked JSON into this struct cannot fail. Problems are collected, all of them, each with its JSON
// path.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "config/choices.h"
#include "config/config_check.h"
#include "policy/policy.h"
#include "upstream/server_spec.h"

namespace relay::config {

struct MountConfig {
  std::string name;
  std::filesystem::path path;
  bool writable = false;
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  bool follow_symlinks = true;

  bool operator==(const MountConfig&) const = default;
};

struct ServerConfig {
  std::uint16_t port = 7800;
  std::string bind;
  bool ui = true;
  bool open_browser = true;
  std::vector<std::string> allowed_hosts;
  std::string tls_cert;
  std::string tls_key;
  std::size_t max_connections = 0;
  std::size_t max_connections_per_address = 0;
  std::string node;  // empty: the one that the state directory keeps
  std::filesystem::path state_key_path;
};

struct AuditConfig {
  std::filesystem::path path;
  AuditFormat format = AuditFormat::jsonl;
  bool chain = true;
  AuditFailure on_failure = AuditFailure::degrade;
};

struct ExecutorConfig {
  std::size_t max_concurrent_runs = 0;
  bool require_browser = false;
  std::size_t ready_children = 2;
  WallsChoice walls = WallsChoice::full;
  CgroupChoice cgroup;
  std::size_t total_mem_mb = 0;
};

/// What `tools.<name>` says about one tool.
struct ToolConfig {
  bool enabled = true;
  std::optional<std::size_t> result_bytes = {};
};

struct Config {
  std::filesystem::path file;     // where it came from; empty: the embedded defaults
  std::filesystem::path root;     // what relative paths are relative to
  std::filesystem::path state;    // Relay's own: keys, token, secrets, audit log (state_directory.h)
  std::filesystem::path project;  // root/.relay, or below state: workspaces, declarations, capsules, layers
  json::object complete;          // all of it as JSON, defaults filled in: to see what a change touches

  std::optional<ScriptLanguage> language;  // of scripts that do not say it themselves
  std::vector<std::string> toolsets;
  std::map<std::string, ToolConfig> tools;  // by the name in the tool list
  std::vector<MountConfig> mounts;
  WorkspaceChoice workspace = WorkspaceChoice::shared;
  std::uint64_t workspace_quota_bytes = 0;
  policy::Policy policy;
  std::vector<upstream::ServerSpec> mcps;  // paths resolved; see specs_of
  PrefixChoice gateway_prefix = PrefixChoice::always;
  std::chrono::milliseconds gateway_list_timeout{};
  ExecutorConfig executor;
  AuditConfig audit;
  AuthMode auth_mode = AuthMode::none;
  std::filesystem::path token_path;
  std::vector<std::string> allowed_origins;
  ServerConfig server;
  /// In a container nobody reaches loopback, so the address is 0.0.0.0 unless one was given, but only with
  /// authentication: without it Relay stays on loopback and says so.
  bool container_default = false;
  LogLevel log_level = LogLevel::info;
  LogStyle log_format = LogStyle::automatic;
  json::object npm;
  json::object pip;
  std::chrono::milliseconds session_ttl{};
  std::filesystem::path signing_key_path;
  std::filesystem::path cache_dir;

  [[nodiscard]] bool has_toolset(std::string_view name) const;
};

/// One thing that is wrong with a configuration.
struct ConfigSources {
  std::filesystem::path file;       // empty: look for relay.config.json in the working directory
  bool file_required = false;       // -c was given: a missing file is a problem
  std::filesystem::path state;      // --state; empty: RELAY_STATE, or the user's state directory
  std::optional<std::string> text;  // read instead of the file's own text: what an edit would make of it
  std::map<std::string, std::string> environment;  // RELAY_* and the few others that count
  json::object flags;                              // laid over everything else, already typed
  bool in_container = false;                       // /.dockerenv or DOCKER_CONTAINER=true
};

struct LoadedConfig {
  Config config;
  std::vector<ConfigProblem> problems;  // empty: config is usable
};

LoadedConfig load_config(const ConfigSources& sources);

/// The file's text. Refuses what is no plain file or larger than limits::kConfigBytes, without waiting for
/// it: a FIFO blocks nobody.
Result<std::string> read_config_text(const std::filesystem::path& file);

/// The schema's text: `relay check-config --schema` prints it, editors use it.
std::string_view config_schema_text();
const json::value& config_schema();

}  // namespace relay::config
