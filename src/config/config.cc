#include "config/config.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "base/disk.h"
#include "base/limits.h"
#include "config/config_check.h"
#include "config/config_upstreams.h"
#include "config/embedded.h"
#include "config/environment.h"
#include "config/state_directory.h"
#include "config/tool_names.h"
#include "imports/document.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;

Result<json::object> read_file(const fs::path& path) {
  RELAY_TRY(const std::string text, read_config_text(path));
  return imports::parse_jsonc(text);
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

template <class Choice>
Choice choice(const json::value& word) {
  return choice_of<Choice>(json::view(word.as_string()));
}

CgroupChoice cgroup_choice(std::string_view text) {
  if (text == "auto") return {};
  if (text == "off") return {.place = CgroupChoice::Place::off};
  return {.place = CgroupChoice::Place::directory, .directory = std::string(text)};
}

// Reads JSON that the schema has accepted and completed: look-ups cannot miss. What the schema cannot check
// of the policy becomes a problem.
class Reader {
 public:
  Reader(const json::object& root, Config& config, std::vector<ConfigProblem>& problems)
      : root_(root), config_(config), problems_(problems) {}

  void read() {
    read_tools();
    read_files();
    read_server();
    read_execution();
    for (const json::value& entry : root_.at("mcps").as_array())
      config_.mcps.push_back(read_server_spec(entry.as_object(), config_.root));
    config_.gateway_prefix = choice<PrefixChoice>(root_.at("gateway").at("prefix"));
    config_.gateway_list_timeout =
        std::chrono::milliseconds(root_.at("gateway").at("listTimeoutMs").to_number<std::int64_t>());
    read_policy();
    config_.session_ttl = std::chrono::milliseconds(root_.at("sessionTtlMs").to_number<std::int64_t>());
  }

 private:
  fs::path resolved(const json::value& path) const {
    const fs::path given(std::string(path.as_string()));
    return (given.is_absolute() ? given : config_.root / given).lexically_normal();
  }
  // A path that the configuration gives, or a name in the state directory.
  fs::path resolved_or(const json::object& block, std::string_view key, const char* name) const {
    const json::value* given = json::find(block, key);
    return given ? resolved(*given) : config_.state / name;
  }

  // Where nothing is said about writing, the workspace and the mounts that are "rw" may be written.
  void read_policy() {
    std::vector<std::string> writable{"/tmp", "/out"};
    for (const MountConfig& mount : config_.mounts)
      if (mount.writable) writable.push_back("/host/" + mount.name);
    std::vector<policy::Problem> problems;
    config_.policy = policy::read_policy(root_.at("policy").as_object(), writable, "$.policy", problems);
    for (policy::Problem& problem : problems)
      problems_.push_back({std::move(problem.path), std::move(problem.message)});
  }

  void read_tools() {
    if (const json::value* language = json::find(root_, "language"))
      config_.language = choice<ScriptLanguage>(*language);
    config_.toolsets = strings(root_.at("toolsets"));
    for (const auto& tool : root_.at("tools").as_object()) {
      const json::object& settings = tool.value().as_object();
      ToolConfig& read = config_.tools[tool.key()];
      if (const auto bytes = json::find_int(settings, "resultBytes"))
        read.result_bytes = static_cast<std::size_t>(*bytes);
      read.enabled = json::find_bool(settings, "enabled").value_or(true);
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
    config_.workspace = choice<WorkspaceChoice>(root_.at("workspace"));
    config_.workspace_quota_bytes = root_.at("workspaceQuotaBytes").to_number<std::uint64_t>();
    config_.signing_key_path = resolved_or(root_, "signingKeyPath", "keys");
    const json::value* cache = json::find(root_, "cacheDir");
    config_.cache_dir = cache ? resolved(*cache) : config_.project / "capsules";
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
        .max_connections_per_address = server.at("maxConnectionsPerAddress").to_number<std::size_t>(),
        .node = text_or_empty(server, "node"),
        .state_key_path = resolved_or(server, "stateKeyPath", "state.key")};
    config_.auth_mode = choice<AuthMode>(root_.at("auth").at("mode"));
    config_.token_path = resolved_or(root_.at("auth").as_object(), "tokenPath", "token");
    config_.allowed_origins = strings(root_.at("cors").at("allowedOrigins"));
    config_.log_level = choice<LogLevel>(root_.at("log").at("level"));
    config_.log_format = choice<LogStyle>(root_.at("log").at("format"));
  }

  void read_execution() {
    const json::object& executor = root_.at("executor").as_object();
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    config_.executor = {
        .max_concurrent_runs = static_cast<std::size_t>(
            json::find_int(executor, "maxConcurrentRuns").value_or(static_cast<std::int64_t>(cores))),
        .require_browser = executor.at("requireBrowser").as_bool(),
        .ready_children = executor.at("readyChildren").to_number<std::size_t>(),
        .walls = choice<WallsChoice>(executor.at("walls")),
        .cgroup = cgroup_choice(json::view(executor.at("cgroup").as_string())),
        .total_mem_mb =
            static_cast<std::size_t>(json::find_int(executor, "totalMemMb").value_or(half_of_memory_mb()))};
    const json::object& audit = root_.at("audit").as_object();
    config_.audit = {.path = resolved_or(audit, "path", "audit.jsonl"),
                     .format = choice<AuditFormat>(audit.at("format")),
                     .chain = audit.at("chain").as_bool(),
                     .on_failure = choice<AuditFailure>(audit.at("onFailure"))};
  }

  const json::object& root_;
  Config& config_;
  std::vector<ConfigProblem>& problems_;
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
  check_tool_names(config, problems);
  if (config.server.tls_cert.empty() != config.server.tls_key.empty())
    complain("$.server", "TLS needs both tlsCert and tlsKey (--tls-cert and --tls-key)");
  if (config.audit.chain && config.audit.format != AuditFormat::jsonl)
    complain("$.audit.chain", fmt::format("a hash chain needs format \"jsonl\"; set chain to false for {}",
                                          word_of(config.audit.format)));
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

Result<std::string> read_config_text(const fs::path& file) {
  auto text = load_file(file, limits::kConfigBytes);
  if (text || text.error().kind != ErrorKind::not_found) return text;
  return fail(not_found("cannot read it; `relay init` writes a new one"));
}

std::string_view config_schema_text() {
  return embedded::config_schema();
}

const json::value& config_schema() {
  static const json::value kSchema =
      boost::json::parse(boost::json::string_view(config_schema_text().data(), config_schema_text().size()));
  return kSchema;
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

  for (ConfigProblem& problem : check_against_schema(config_schema(), merged))
    loaded.problems.push_back({std::move(problem.where), std::move(problem.what)});
  if (!loaded.problems.empty()) return loaded;

  Config& config = loaded.config;
  config.file = path;
  config.root = path.empty() ? fs::current_path() : path.parent_path();
  if (auto state = find_state_directory(sources, config.root)) {
    config.state = std::move(*state);
    config.project = find_project_directory(config.root, config.state);
  } else {
    loaded.problems.push_back({"--state", state.error().message});
    return loaded;
  }
  const json::value complete = with_defaults(config_schema(), merged);
  config.complete = complete.get_object();
  Reader(config.complete, config, loaded.problems).read();
  config.container_default = sources.in_container && !names_bind(merged);
  if (config.container_default && config.auth_mode != AuthMode::none) config.server.bind = "0.0.0.0";
  check_meaning(config, loaded.problems);
  return loaded;
}

}  // namespace relay::config
