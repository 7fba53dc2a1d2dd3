#include "config/config_upstreams.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/cage_masks.h"
#include "config/state_directory.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;
using upstream::ServerSpec;
using upstream::ServerTransport;

std::string text_of(const json::object& entry, std::string_view key) {
  return std::string(json::find_string(entry, key).value_or(""));
}

std::vector<std::string> strings_of(const json::value& list) {
  std::vector<std::string> out;
  for (const json::value& item : list.as_array()) out.emplace_back(item.as_string());
  return out;
}

std::map<std::string, std::string> string_map(const json::value& object) {
  std::map<std::string, std::string> out;
  for (const auto& member : object.as_object()) out.emplace(member.key(), member.value().as_string());
  return out;
}

std::chrono::milliseconds duration_of(const json::object& entry, std::string_view key) {
  return std::chrono::milliseconds(json::find_int(entry, key).value_or(0));
}

std::size_t count_of(const json::object& entry, std::string_view key) {
  return static_cast<std::size_t>(json::find_int(entry, key).value_or(0));
}

std::string resolved(const std::string& path, const fs::path& root) {
  const fs::path given(path);
  const fs::path normal = (given.is_absolute() ? given : root / given).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).string();  // without a slash at the end
}

// A bare name is looked up in PATH; anything with a slash is a file.
std::string resolved_command(const std::string& command, const fs::path& root) {
  return command.find('/') == std::string::npos ? command : resolved(command, root);
}

ServerTransport transport_of(const json::object& entry) {
  const std::string given = text_of(entry, "transport");
  if (given == "sse") return ServerTransport::sse;
  const bool has_url = json::find(entry, "endpoint") || json::find(entry, "url");
  return given == "http" || (given.empty() && has_url) ? ServerTransport::http : ServerTransport::stdio;
}

peer::EraChoice era_of(std::string_view name) {
  if (name == "legacy") return peer::EraChoice::legacy;
  return name == "modern" ? peer::EraChoice::modern : peer::EraChoice::probe;
}

std::vector<std::string> paths_of(const json::object& sandbox, std::string_view key, const fs::path& root) {
  std::vector<std::string> out;
  if (const json::array* list = json::find_array(sandbox, key))
    for (const json::value& path : *list) out.push_back(resolved(std::string(path.as_string()), root));
  return out;
}

sandbox::CageLimits limits_of(const json::object& entry) {
  return {.memory_bytes = count_of(entry, "memMb") * limits::kMiB,
          .processes = count_of(entry, "pids"),
          .cpu_percent = static_cast<std::size_t>(std::lround(entry.at("cpus").to_number<double>() * 100)),
          .cpu_time = std::chrono::seconds(count_of(entry, "cpuSeconds")),
          .open_files = count_of(entry, "openFiles"),
          .file_bytes = count_of(entry, "fileMb") * limits::kMiB,
          .scratch_bytes = count_of(entry, "tmpMb") * limits::kMiB,
          .scratch_files = count_of(entry, "tmpFiles")};
}

std::optional<launch::CageSpec> cage_of(const json::value& sandbox, const fs::path& root) {
  if (const bool* on = sandbox.if_bool()) return *on ? std::optional(launch::CageSpec{}) : std::nullopt;
  const json::object& walls = sandbox.as_object();
  return launch::CageSpec{
      .read = paths_of(walls, "read", root),
      .write = paths_of(walls, "write", root),
      .hosts = strings_of(walls.at("hosts")),
      .limits = limits_of(walls.at("limits").as_object()),
      .user = text_of(walls, "user") == "own" ? sandbox::CageUser::own : sandbox::CageUser::unprivileged};
}

void read_process(const json::object& entry, const fs::path& root, ServerSpec& spec) {
  spec.command = resolved_command(text_of(entry, "command"), root);
  spec.args = strings_of(entry.at("args"));
  spec.env = string_map(entry.at("env"));
  if (spec.transport == ServerTransport::stdio) spec.cwd = resolved(text_of(entry, "cwd"), root);
  spec.cage = cage_of(entry.at("sandbox"), root);
}

void read_limits(const json::object& entry, ServerSpec& spec) {
  spec.start_timeout = duration_of(entry, "startTimeoutMs");
  spec.call_timeout = duration_of(entry, "callTimeoutMs");
  spec.idle_stop = duration_of(entry, "idleStopMs");
  spec.max_concurrent = count_of(entry, "maxConcurrent");
  spec.calls_per_minute = count_of(entry, "callsPerMinute");
  spec.allow = strings_of(entry.at("allow"));
  spec.deny = strings_of(entry.at("deny"));
  spec.result_bytes = count_of(entry, "resultBytes");
  for (const auto& tier : entry.at("tiers").as_object())
    spec.tiers.emplace(tier.key(), tier.value().to_number<int>());
}

// An address that begins with a reference is known when the server is started.
bool is_http_url(std::string_view url) {
  return url.starts_with("http://") || url.starts_with("https://") || url.starts_with("${");
}

// Addresses are shown, logged and told in errors.
bool has_credentials(std::string_view url) {
  const std::size_t host = url.find("://");
  const std::size_t at = url.find('@');
  return host != std::string_view::npos && at != std::string_view::npos &&
         at < std::min(url.find_first_of("/?#", host + 3), url.size());
}

using Complain = std::function<void(std::string where, std::string what)>;

void check_one(const ServerSpec& spec, const std::string& where, const Complain& complain) {
  const bool is_process = spec.transport == ServerTransport::stdio;
  const std::string_view transport = spec.transport == ServerTransport::sse ? "sse" : "http";
  if (spec.name.find("__") != std::string::npos)
    complain(where + ".name", "\"__\" separates server and tool; use a single _");
  if (is_process && spec.command.empty()) complain(where, "a stdio server needs \"command\"");
  if (is_process && !spec.endpoint.empty())
    complain(where + ".endpoint", "a stdio server has none; set transport to \"http\" or remove it");
  if (is_process && !spec.headers.empty())
    complain(where + ".headers", "a stdio server has none; what it must know goes into \"env\"");
  if (is_process) return;
  if (spec.endpoint.empty()) complain(where, fmt::format("a {} server needs \"endpoint\"", transport));
  if (has_credentials(spec.endpoint))
    complain(where + ".endpoint",
             "a name or password does not belong into an address; write a header with ${secret:NAME}");
  if (!spec.endpoint.empty() && !is_http_url(spec.endpoint))
    complain(where + ".endpoint", "must begin with http:// or https://");
  if (!spec.command.empty())
    complain(where + ".command",
             fmt::format("a {} server has none; set transport to \"stdio\" or remove it", transport));
  if (!spec.env.empty())
    complain(where + ".env",
             fmt::format("a {} server has none; what it must know goes into \"headers\"", transport));
  if (spec.cage)
    complain(where + ".sandbox",
             fmt::format("only stdio servers can be sandboxed; a {} server runs elsewhere", transport));
}

// Without prefixes nothing says whose tool a name is.
void check_prefix(const Config& config, const Complain& complain) {
  if (config.gateway_prefix != PrefixChoice::none) return;
  std::vector<std::string> names;
  for (const ServerSpec& spec : config.mcps)
    if (spec.enabled && spec.in_tool_list()) names.push_back(spec.name);
  if (names.size() < 2) return;
  complain(
      "$.gateway.prefix",
      fmt::format(
          "\"none\" is for a single server in the tool list, and {} are there ({}); set it to \"always\", "
          "or leave one with expose \"tools\" and give the others expose \"code\"",
          names.size(), fmt::join(names, ", ")));
}

// "a/b" of /x and /x/a/b; nothing when the path does not lie beneath the directory.
std::optional<fs::path> find_below(const fs::path& directory, const fs::path& path) {
  const fs::path relative = path.lexically_relative(directory);
  if (relative.empty() || *relative.begin() == ".." || relative == ".") return std::nullopt;
  return relative;
}

// A cage that shows Relay's state itself cannot hide it. `.relay/` is the exception: only its neighbours are
// protected from each other.
void check_cage(const Config& config, const ServerSpec& spec, const std::string& where,
                const Complain& complain) {
  if (!spec.cage) return;
  for (const fs::path& declared : declared_paths(*spec.cage)) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(declared, error);
    for (const fs::path& own : private_paths(config)) {
      const fs::path own_real = fs::weakly_canonical(own, error);
      if (own == config.project || (real != own_real && !find_below(own_real, real))) continue;
      complain(
          where + ".sandbox",
          fmt::format("{} is where Relay keeps its own files; name another directory", declared.string()));
      break;
    }
  }
}

}  // namespace

std::string_view name_of(upstream::ServerTransport transport) {
  switch (transport) {
    case ServerTransport::stdio: return "stdio";
    case ServerTransport::http: return "http";
    case ServerTransport::sse: return "sse";
  }
  return "stdio";
}

std::string_view name_of(upstream::Expose expose) {
  switch (expose) {
    case upstream::Expose::code: return "code";
    case upstream::Expose::tools: return "tools";
    case upstream::Expose::both: return "both";
    case upstream::Expose::none: return "none";
  }
  return "code";
}

upstream::Expose expose_of(std::string_view name) {
  if (name == "tools") return upstream::Expose::tools;
  if (name == "both") return upstream::Expose::both;
  return name == "none" ? upstream::Expose::none : upstream::Expose::code;
}

ServerSpec read_server_spec(const json::object& entry, const fs::path& root) {
  ServerSpec spec;
  spec.name = text_of(entry, "name");
  spec.description = text_of(entry, "description");
  spec.transport = transport_of(entry);
  spec.endpoint = text_of(entry, json::find(entry, "endpoint") ? "endpoint" : "url");
  spec.headers = string_map(entry.at("headers"));
  spec.expose = expose_of(text_of(entry, "expose"));
  spec.enabled = entry.at("enabled").as_bool();
  spec.autostart = entry.at("autostart").as_bool();
  spec.era = era_of(text_of(entry, "era"));
  spec.sharing =
      text_of(entry, "sharing") == "session" ? upstream::Sharing::session : upstream::Sharing::shared;
  read_process(entry, root, spec);
  read_limits(entry, spec);
  return spec;
}

json::object entry_of(const ServerSpec& spec) {
  const ServerSpec defaults;
  json::object entry{{"name", spec.name}};
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) entry[key] = value;
  };
  const auto list = [&](const char* key, const std::vector<std::string>& values) {
    if (!values.empty()) entry[key] = json::array(values.begin(), values.end());
  };
  const auto map = [&](const char* key, const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) {
      if (!entry[key].is_object()) entry[key] = json::object();
      entry[key].get_object()[name] = value;
    }
  };
  const auto time = [&](const char* key, auto value, auto usual) {
    if (value != usual) entry[key] = value.count();
  };
  text("description", spec.description);
  if (spec.transport == ServerTransport::sse) entry["transport"] = "sse";
  text("command", spec.command);
  list("args", spec.args);
  map("env", spec.env);
  text("cwd", spec.cwd);
  text("endpoint", spec.endpoint);
  map("headers", spec.headers);
  if (spec.expose != defaults.expose) entry["expose"] = std::string(name_of(spec.expose));
  if (!spec.enabled) entry["enabled"] = false;
  time("startTimeoutMs", spec.start_timeout, defaults.start_timeout);
  time("callTimeoutMs", spec.call_timeout, defaults.call_timeout);
  list("allow", spec.allow);
  list("deny", spec.deny);
  return entry;
}

void check_server_specs(const Config& config, std::vector<ConfigProblem>& problems) {
  const Complain complain = [&](std::string where, std::string what) {
    problems.push_back({std::move(where), std::move(what)});
  };
  for (std::size_t i = 0; i < config.mcps.size(); ++i) {
    const std::string where = fmt::format("$.mcps[{}]", i);
    check_one(config.mcps[i], where, complain);
    check_cage(config, config.mcps[i], where, complain);
    const auto same = std::ranges::find(config.mcps, config.mcps[i].name, &ServerSpec::name);
    if (same != config.mcps.begin() + static_cast<std::ptrdiff_t>(i))
      complain(where + ".name", fmt::format("\"{}\" is used twice", config.mcps[i].name));
  }
  check_prefix(config, complain);
}

std::vector<ServerSpec> specs_of(const Config& config) {
  std::vector<ServerSpec> specs = config.mcps;
  for (ServerSpec& spec : specs)
    if (spec.cage) hide_own_files(config, *spec.cage);
  return specs;
}

}  // namespace relay::config
