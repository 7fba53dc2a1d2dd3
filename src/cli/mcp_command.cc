#include "cli/mcp_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/config_file.h"
#include "config/state_directory.h"
#include "policy/redaction.h"

namespace relay::cli {
namespace {

// A word as a shell would take it, so that what is shown can be copied.
std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=@%+,";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'')
      out += "'\\''";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "'";
}

// Names and passwords before the host, and the query, stay out.
std::string plain_address(const std::string& endpoint) {
  const std::size_t host = endpoint.find("://") == std::string::npos ? 0 : endpoint.find("://") + 3;
  const std::size_t path = std::min(endpoint.find_first_of("/?#", host), endpoint.size());
  const std::size_t at = endpoint.rfind('@', path);
  const bool has_user = at != std::string::npos && at >= host;
  const std::size_t query = std::min(endpoint.find('?'), endpoint.size());
  return endpoint.substr(0, host) +
         endpoint.substr(has_user ? at + 1 : host, query - (has_user ? at + 1 : host)) +
         (query < endpoint.size() ? "?..." : "");
}

int print_problems(const std::vector<config::ConfigProblem>& problems) {
  for (const config::ConfigProblem& problem : problems)
    fmt::print(stderr, "{}: {}\n", problem.where, problem.what);
  return 2;
}

// Edits work on a configuration that has problems; whatever starts something does not. Nothing but edits make
// a file where there is none.
int run_on_file(const CommandOptions& options) {
  switch (options.mcp.action) {
    case McpAction::add: return run_mcp_add(options);
    case McpAction::remove: return run_mcp_remove(options);
    case McpAction::enable: return run_mcp_switch(options, true);
    default: return run_mcp_switch(options, false);
  }
}

// A file that import is to make may be missing.
config::ConfigSources sources_for(const CommandOptions& options) {
  config::ConfigSources sources = options.sources;
  std::error_code ignored;
  if (options.mcp.action == McpAction::import &&
      !std::filesystem::exists(config::config_file_of(sources), ignored)) {
    sources.file = config::config_file_of(sources);
    sources.text = "{}";
  }
  return sources;
}

}  // namespace

int say_error(const Error& error) {
  fmt::print(stderr, "relay: {}\n", error.message);
  return error.kind == ErrorKind::invalid || error.kind == ErrorKind::not_found ||
                 error.kind == ErrorKind::conflict
             ? 2
             : 1;
}

bool prepare_state(const config::Config& config) {
  const auto moved = config::migrate_state(config);
  if (!moved) say_error(moved.error());
  if (moved && !moved->empty())
    fmt::print(stderr, "relay: moved {} from {} to {}\n", fmt::join(*moved, ", "), config.project.string(),
               config.state.string());
  return moved.has_value();
}

std::filesystem::path mcp_state(const config::Config& config) {
  return config.state / "mcp";
}

std::string describe_server(const upstream::ServerSpec& spec) {
  if (spec.transport != upstream::ServerTransport::stdio) return plain_address(spec.endpoint);
  std::string line = shell_word(spec.command);
  for (const std::string& argument : policy::redact_arguments(spec.command, spec.args))
    line += " " + shell_word(argument);
  return line;
}

int run_mcp(const CommandOptions& options) {
  const McpAction action = options.mcp.action;
  if (action == McpAction::add || action == McpAction::remove || action == McpAction::enable ||
      action == McpAction::disable)
    return run_on_file(options);
  const config::LoadedConfig loaded = config::load_config(sources_for(options));
  if (!loaded.problems.empty()) return print_problems(loaded.problems);
  if (!prepare_state(loaded.config)) return 1;
  switch (action) {
    case McpAction::list: return run_mcp_list(options, loaded.config);
    case McpAction::test: return run_mcp_test(options, loaded.config);
    case McpAction::tools: return run_mcp_tools(options, loaded.config);
    case McpAction::call: return run_mcp_call(options, loaded.config);
    case McpAction::logs: return run_mcp_logs(options, loaded.config);
    case McpAction::import: return run_mcp_import(options, loaded.config);
    case McpAction::secret_set:
    case McpAction::secret_list:
    case McpAction::secret_remove: return run_mcp_secret(options, loaded.config);
    case McpAction::add:
    case McpAction::remove:
    case McpAction::enable:
    case McpAction::disable: return 0;
  }
  return 0;
}

}  // namespace relay::cli
