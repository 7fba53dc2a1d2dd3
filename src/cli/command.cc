#include "cli/command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "app/logging.h"
#include "app/serve.h"
#include "audit/commands.h"
#include "cli/approvals_command.h"
#include "cli/capsule_command.h"
#include "cli/classify_command.h"
#include "cli/clean.h"
#include "cli/doctor.h"
#include "cli/mcp_command.h"
#include "cli/options.h"
#include "cli/script.h"
#include "cli/secret_notes.h"
#include "cli/status.h"
#include "config/config.h"
#include "config/init.h"
#include "config/state_directory.h"
#include "io/spawn.h"
#include "world/package_options.h"
#include "world/world.h"

namespace relay::cli {
namespace {

int say_problems(const std::vector<config::ConfigProblem>& problems) {
  for (const config::ConfigProblem& problem : problems)
    fmt::print(stderr, "{}: {}\n", problem.where, problem.what);
  fmt::print(stderr, "{} problem{} in the configuration; nothing was started\n", problems.size(),
             problems.size() == 1 ? "" : "s");
  return 2;
}

// 0 where nobody looks.
std::size_t terminal_columns() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0) return 0;
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 120;
}

int run_init(const CommandOptions& options) {
  const auto path = config::write_initial_config(options.directory);
  if (!path) {
    fmt::print(stderr, "relay: {}\n", path.error().message);
    return 1;
  }
  fmt::print("wrote {}\nnext: relay serve\n", path->string());
  return 0;
}

int run_check(const CommandOptions& options, const config::LoadedConfig& loaded) {
  if (options.print_schema) {
    fmt::print("{}", config::config_schema_text());
    return 0;
  }
  if (!loaded.problems.empty()) return say_problems(loaded.problems);
  if (const auto exposed = app::check_exposure(loaded.config); !exposed)
    return say_problems({{"$.server.bind", exposed.error().message}});
  fmt::print("{}: fine\n", loaded.config.file.empty() ? "embedded defaults" : loaded.config.file.string());
  for (const config::ConfigProblem& note : find_unprotected_secrets(loaded.config))
    fmt::print("note: {}: {}\n", note.where, note.what);
  return 0;
}

int run_doctor(const CommandOptions& options, const config::LoadedConfig& loaded) {
  const std::vector<Finding> findings = examine(loaded, options.offline ? Reach::untried : Reach::tried);
  fmt::print("{}", options.json ? json::write_pretty(to_json(findings)) + "\n" : format_findings(findings));
  return is_healthy(findings) ? 0 : 1;
}

std::string audit_path(const CommandOptions& options, const config::Config& config) {
  return options.audit_path.empty() ? config.audit.path.string() : options.audit_path.string();
}

int run_keys(const CommandOptions& options, const config::Config& config) {
  auto keys = capsule::KeyRing::open(config.signing_key_path);
  if (keys && options.command == Command::keys_rotate)
    if (auto rotated = keys->rotate(); !rotated) keys = fail(rotated.error());
  if (!keys) {
    fmt::print(stderr, "relay: {}\n", keys.error().message);
    return 1;
  }
  fmt::print("{}  current  {}\n", keys->current().public_key().fingerprint(),
             config.signing_key_path.string());
  for (const capsule::PublicKey& key : keys->retired())
    fmt::print("{}  retired, still verifies\n", key.fingerprint());
  return 0;
}

// A file that was found above the working directory may be a surprise, so people are told. Logs have it in
// the line "listening".
void say_file_above(const config::Config& config) {
  std::error_code ignored;
  if (::isatty(STDERR_FILENO) == 0 || config.file.empty() ||
      config.root == std::filesystem::current_path(ignored))
    return;
  fmt::print(stderr, "relay: the configuration is {}\n", config.file.string());
}

// Following goes on until the process is ended.
bool wait_a_little() {
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return true;
}

int run_configured(const CommandOptions& options, const config::Config& config) {
  const SystemClock clock;
  const std::unique_ptr<Log> log =
      app::make_stderr_log(clock, app::resolve_log_format(config.log_format), config.log_level);
  io::set_failure_reporter(
      [&](std::string_view task, const Error& error) { log->error(error.message, {{"task", task}}); });
  int exit_code = 0;
  if (options.command == Command::serve) exit_code = app::run_serve(config, options.sources, *log);
  if (options.command == Command::stdio) exit_code = app::run_stdio(config, options.sources, *log);
  if (options.command == Command::run || options.command == Command::capsule_run)
    exit_code = run_script(config, options, *log);
  if (options.command == Command::capsule_build) exit_code = run_capsule_build(config, options, *log);
  io::set_failure_reporter({});
  return exit_code;
}

// These prepare the state directory themselves, and say so in their log; status only looks.
bool builds_world(Command command) {
  return command == Command::status || command == Command::serve || command == Command::stdio ||
         command == Command::run || command == Command::capsule_run;
}

int dispatch(const CommandOptions& options) {
  if (options.command == Command::init) return run_init(options);
  if (options.command == Command::mcp) return run_mcp(options);
  const config::LoadedConfig loaded = config::load_config(options.sources);
  if (options.command == Command::check_config) return run_check(options, loaded);
  if (options.command == Command::doctor) return run_doctor(options, loaded);
  if (!loaded.problems.empty()) return say_problems(loaded.problems);
  say_file_above(loaded.config);
  if (options.command == Command::classify) return run_classify(options, loaded.config);
  if (!builds_world(options.command) && !prepare_state(loaded.config)) return 1;
  const std::string path = audit_path(options, loaded.config);
  switch (options.command) {
    case Command::audit_verify:
      return audit::run_audit_verify({.path = path,
                                      .scope = options.segment ? audit::Scope::segment : audit::Scope::whole,
                                      .json = options.json},
                                     std::cout);
    case Command::audit_tail:
      return audit::run_audit_tail(
          {.path = path,
           .lines = options.lines,
           .tool = options.tool_filter,
           .client = options.client_filter,
           .outcome = options.outcome_filter,
           .since = options.since,
           .starts = options.all_lines ? audit::Starts::shown : audit::Starts::hidden,
           .follow = options.follow,
           .columns = options.json ? 0 : terminal_columns()},
          SystemClock().wall(), std::cout, std::cerr, wait_a_little);
    case Command::explain: return audit::run_explain(path, options.request_id, std::cout);
    case Command::status: return run_status(options, loaded.config);
    case Command::clean: return run_clean(options, loaded.config);
    case Command::keys_show:
    case Command::keys_rotate: return run_keys(options, loaded.config);
    case Command::capsule_inspect:
    case Command::capsule_verify: return run_capsule_command(loaded.config, options);
    case Command::approvals_list:
    case Command::approvals_show:
    case Command::approvals_approve:
    case Command::approvals_deny: return run_approvals(options, loaded.config);
    case Command::serve:
    case Command::stdio:
    case Command::run:
    case Command::capsule_build:
    case Command::capsule_run: return run_configured(options, loaded.config);
    case Command::init:
    case Command::check_config:
    case Command::doctor:
    case Command::classify:
    case Command::mcp:
    case Command::completions: return 0;
  }
  return 0;
}

}  // namespace

int run_command(int argc, char** argv) {
  std::signal(SIGPIPE,
              SIG_IGN);  // a client that goes away is an error of one write, not the end of the program
  const ParsedCommandLine parsed = parse_command_line(argc, argv);
  return parsed.finished ? parsed.exit_code : dispatch(parsed.options);
}

}  // namespace relay::cli
