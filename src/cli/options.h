// CommandOptions: what was typed, as a value. cli.cc fills it once, before anything else happens; commands
// only read it. What cannot be understood never gets this far: it is a message and exit code 2.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/mcp_options.h"
#include "config/config.h"

namespace relay::cli {

enum class Command : std::uint8_t {
  init,
  serve,
  stdio,
  run,
  check_config,
  doctor,
  audit_verify,
  audit_tail,
  explain,
  keys_show,
  keys_rotate,
  capsule_build,
  capsule_inspect,
  capsule_verify,
  capsule_run,
  approvals_list,
  approvals_show,
  approvals_approve,
  approvals_deny,
  classify,
  mcp,
  completions,
  status,
  clean,
};

struct CommandOptions {
  Command command = Command::serve;
  config::ConfigSources sources;  // -c, RELAY_* and every flag that stands for a configuration key

  std::filesystem::path directory = ".";  // init
  bool json = false;                      // doctor, status, audit verify, audit tail, approvals, classify
  bool print_schema = false;              // check-config
  bool offline = false;                   // doctor
  bool segment = false;                   // audit verify
  std::filesystem::path audit_path;       // audit verify, audit tail, explain: instead of the configured one
  std::size_t lines = 20;                 // audit tail
  bool follow = false;                    // audit tail
  std::string tool_filter;                // audit tail
  std::string client_filter;              // audit tail
  std::string outcome_filter;             // audit tail
  std::string since;                      // audit tail
  bool all_lines = false;                 // audit tail: start lines too
  std::string request_id;                 // explain; approvals: the id
  std::string reason;                     // approvals approve, deny

  std::string classify_tool = "shell_exec";  // classify
  std::string classify_text;                 // classify
  bool classify_lines = false;               // classify: texts from stdin, each a JSON string on a line

  McpOptions mcp;     // mcp ...
  std::string shell;  // completions

  std::filesystem::path script;          // run
  std::optional<std::string> code;       // run: instead of a script
  std::string language;                  // run: js or py, instead of what the script's name says
  bool yes = false;                      // run, capsule run, clean: confirm what has to be confirmed
  std::vector<std::string> script_args;  // run, capsule run

  std::filesystem::path capsule;  // capsule inspect, verify, run: a directory or the hash of a stored one
  std::filesystem::path output;   // capsule build
  std::string capsule_cwd = "/";  // capsule build
  std::vector<std::string> capsule_env;   // "NAME=value"
  std::vector<std::string> npm_packages;  // "lodash@^4"; run and capsule build, like the two below
  std::vector<std::string> pip_requirements;
  std::vector<std::string> wheel_urls;
};

/// Either what to do, or the exit code and text of a parse that ended (--help, --version, a mistake).
struct ParsedCommandLine {
  CommandOptions options;
  bool finished = false;
  int exit_code = 0;
};

ParsedCommandLine parse_command_line(int argc, char** argv);

/// What is wrong with a whole number on the command line, or nothing.
std::string number_problem(const std::string& text, const std::string& meaning);

/// "DIR[:name][:rw]" as an entry of "mounts".
Result<json::object> parse_mount_flag(const std::string& text);

/// True in a Docker container, where loopback is not what people reach.
bool is_container();

}  // namespace relay::cli
