#include "config/config.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "base/limits.h"
#include "config/config_check.h"
#include "config/config_upstreams.h"
#include "config/embedded.h"
#include "config/environment.h"
#include "imports/document.h"
#include "policy/engine.h"
#include "policy/run_policy.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;

const json::value& schema() {
  static const json::value kSchema =
      boost::json::parse(boost::json::string_view(config_schema_text().data(), config_schema_text().size()));
  return kSchema;
}

Result<json::object> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(not_found(fmt::format("cannot read it; `relay init` writes a new one")));
  std::stringstream text;
  text << file.rdbuf();
  return imports::parse_jsonc(text.str());
}

// The other half is for everything else on the machine.
std::int64_t half_of_memory_mb() {
  return ::sysconf(_SC_PHYS_PAGES) / 2 * ::sysconf(_SC_PAGESIZE) / static_cast<std::int64_t>(limits::kMiB);
}

// Objects are merged member by member; anything else replaces.
void lay_over(json::object& base, const json::object& over) {
  for (const auto& member : over) {
    json::value& slot = base[member.key()];
    if (slot.is_object() && member.value().is_object())
      lay_over(slot.get_object(), member.value().get_object());
    else
      slot = member.value();
  }
}

std::vector<std::string> strings(const json::value& list) {
  std::vector<std::string> out;
  for (const json::value& item : list.as_array()) out.emplace_back(item.as_string());
  return out;
}

std::string text_or_empty(const json::object& object, std::string_view key) {
  return std::string(json::find_string(object, key).value_or(""));
}

// Reads JSON that the schema has accepted and completed: look-ups cannot miss.
class Reader {
 public:
  Reader(const json::object& root, Config& config) : root_(root), config_(config) {}

  void read() {
    read_tools();
    read_files();
    read_server();
    read_execution();
    for (const json::value& entry : root_.at("mcps").as_array())
      config_.mcps.push_back(read_server_spec(entry.as_object(), config_.root));
    config_.gateway_prefix = root_.at("gateway").at("prefix").as_string();
    config_.gateway_list_timeout =
        std::chrono::milliseconds(root_.at("gateway").at("listTimeoutMs").to_number<std::int64_t>());
    config_.policy = root_.at("policy").as_object();
    config_.session_ttl = std::chrono::milliseconds(root_.at("sessionTtlMs").to_number<std::int64_t>());
  }

 private:
  fs::path resolved(const json::value& path) const {
    const fs::path given(std::string(path.as_string()));
    return (given.is_absolute() ? given : config_.root / given).lexically_normal();
  }

  void read_tools() {
    config_.toolsets = strings(root_.at("toolsets"));
    for (const auto& tool : root_.at("tools").as_object()) {
      const json::object& settings = tool.value().as_object();
      if (const auto bytes = json::find_int(settings, "resultBytes"))
        config_.result_bytes[tool.key()] = static_cast<std::size_t>(*bytes);
      if (json::find_bool(settings, "enabled") == false) config_.disabled_tools.emplace_back(tool.key());
    }
  }

  void read_files() {
    for (const json::value& entry : root_.at("mounts").as_array()) {
      config_.mounts.push_back({.name = std::string(entry.at("name").as_string()),
                                .path = resolved(entry.at("path")),
                                .writable = entry.at("mode").as_string() == "rw",
                                .allow = strings(entry.at("allow")),
                                .deny = strings(entry.at("deny")),
                                .follow_symlinks = entry.at("symlinks").as_string() == "inside"});
    }
    config_.workspace = root_.at("workspace").as_string();
    config_.workspace_quota_bytes = root_.at("workspaceQuotaBytes").to_number<std::uint64_t>();
    config_.signing_key_path = resolved(root_.at("signingKeyPath"));
    config_.cache_dir = resolved(root_.at("cacheDir"));
    config_.npm = root_.at("npm").as_object();
    config_.pip = root_.at("pip").as_object();
  }

  void read_server() {
    const json::object& server = root_.at("server").as_object();
    config_.server = {
        .port = server.at("port").to_number<std::uint16_t>(),
        .bind = std::string(server.at("bind").as_string()),
        .ui = server.at("ui").as_bool(),
        .open_browser = server.at("open").as_bool(),
        .allowed_hosts = strings(server.at("allowedHosts")),
        .tls_cert = text_or_empty(server, "tlsCert"),
        .tls_key = text_or_empty(server, "tlsKey"),
        .max_connections = server.at("maxConnections").to_number<std::size_t>(),
        .max_connections_per_address = server.at("maxConnectionsPerAddress").to_number<std::size_t>()};
    config_.auth_mode = root_.at("auth").at("mode").as_string();
    config_.token_path = resolved(root_.at("auth").at("tokenPath"));
    config_.allowed_origins = strings(root_.at("cors").at("allowedOrigins"));
    config_.log_level = root_.at("log").at("level").as_string();
    config_.log_format = root_.at("log").at("format").as_string();
  }

  void read_execution() {
    const json::object& executor = root_.at("executor").as_object();
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    config_.executor = {
        .prefer = std::string(executor.at("prefer").as_string()),
        .max_concurrent_runs = static_cast<std::size_t>(
            json::find_int(executor, "maxConcurrentRuns").value_or(static_cast<std::int64_t>(cores))),
        .require_browser = executor.at("requireBrowser").as_bool(),
        .ready_children = executor.at("readyChildren").to_number<std::size_t>(),
        .walls = std::string(executor.at("walls").as_string()),
        .cgroup = std::string(executor.at("cgroup").as_string()),
        .total_mem_mb =
            static_cast<std::size_t>(json::find_int(executor, "totalMemMb").value_or(half_of_memory_mb()))};
    const json::object& audit = root_.at("audit").as_object();
    config_.audit = {.path = resolved(audit.at("path")),
                     .format = std::string(audit.at("format").as_string()),
                     .chain = audit.at("chain").as_bool(),
                     .on_failure = std::string(audit.at("onFailure").as_string())};
  }

  const json::object& root_;
  Config& config_;
};

// What no schema can say: how keys depend on each other and on the disk.
void check_meaning(const Config& config, std::vector<ConfigProblem>& problems) {
  const auto complain = [&](std::string where, std::string what) {
    problems.push_back({std::move(where), std::move(what)});
  };
  check_server_specs(config, problems);
  for (std::size_t i = 0; i < config.mounts.size(); ++i) {
    std::error_code ignored;
    if (!fs::is_directory(config.mounts[i].path, ignored))
      complain(fmt::format("$.mounts[{}].path", i),
               fmt::format("{} is not a directory", config.mounts[i].path.string()));
    for (std::size_t other = 0; other < i; ++other)
      if (config.mounts[other].name == config.mounts[i].name)
        complain(fmt::format("$.mounts[{}].name", i),
                 fmt::format("\"{}\" is used twice", config.mounts[i].name));
  }
  std::vector<policy::Problem> rules_problems;
  policy::PolicyEngine::make(policy::read_rules(config.policy, "$.policy", rules_problems), "$.policy",
                             rules_problems);
  for (policy::Problem& problem : rules_problems)
    complain(std::move(problem.path), std::move(problem.message));
  if (const auto run_policy = policy::read_run_policy(config.policy); !run_policy)
    complain("$.policy", run_policy.error().message);
  if (config.server.tls_cert.empty() != config.server.tls_key.empty())
    complain("$.server", "TLS needs both tlsCert and tlsKey (--tls-cert and --tls-key)");
  if (config.audit.chain && config.audit.format != "jsonl")
    complain("$.audit.chain", fmt::format("a hash chain needs format \"jsonl\"; set chain to false for {}",
                                          config.audit.format));
}

bool names_bind(const json::object& given) {
  const json::object* server = json::find_object(given, "server");
  return server && json::find(*server, "bind");
}

fs::path config_path(const ConfigSources& sources) {
  if (!sources.file.empty()) return fs::absolute(sources.file);
  const fs::path here = fs::absolute("relay.config.json");
  std::error_code ignored;
  return fs::exists(here, ignored) ? here : fs::path();
}

}  // namespace

bool Config::has_toolset(std::string_view name) const {
  return std::ranges::find(toolsets, name) != toolsets.end();
}

std::string_view config_schema_text() {
  return embedded::config_schema();
}

LoadedConfig load_config(const ConfigSources& sources) {
  LoadedConfig loaded;
  json::object merged;
  const fs::path path = config_path(sources);
  if (!path.empty()) {
    auto file = sources.text ? imports::parse_jsonc(*sources.text) : read_file(path);
    if (file)
      lay_over(merged, *file);
    else
      loaded.problems.push_back({path.string(), file.error().message});
  }
  apply_environment(sources.environment, merged, loaded.problems);
  lay_over(merged, sources.flags);

  for (ConfigProblem& problem : check_against_schema(schema(), merged))
    loaded.problems.push_back({std::move(problem.where), std::move(problem.what)});
  if (!loaded.problems.empty()) return loaded;

  Config& config = loaded.config;
  config.file = path;
  config.root = path.empty() ? fs::current_path() : path.parent_path();
  config.state = config.root / ".relay";
  const json::value complete = with_defaults(schema(), merged);
  config.complete = complete.get_object();
  Reader(config.complete, config).read();
  config.container_default = sources.in_container && !names_bind(merged);
  if (config.container_default && config.auth_mode != "none") config.server.bind = "0.0.0.0";
  check_meaning(config, loaded.problems);
  return loaded;
}

}  // namespace relay::config
