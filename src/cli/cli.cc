// The command line. CLI11 is a heavy header: ARCHITECTURE.md names the files that include it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "cli/command_tree.h"
#include "cli/completions.h"
#include "cli/mcp_cli.h"
#include "cli/mistakes.h"
#include "cli/options.h"
#include "config/config_file.h"
#include "config/environment.h"
#include "config/state_directory.h"
#include "world/version.h"

namespace relay::cli {
namespace {

std::string version_text() {
  return fmt::format("relay {}", world::kVersion);
}

// Flags that stand for a configuration key.
CLI::Option* add_text(CLI::App& app, CommandOptions& options, const std::string& flag, std::string_view key,
                      const std::string& meaning) {
  return app.add_option_function<std::string>(
      flag,
      [&options, key](const std::string& value) {
        config::set_path(options.sources.flags, key, json::value(value));
      },
      meaning);
}

void add_choice(CLI::App& app, CommandOptions& options, const std::string& flag, std::string_view key,
                const std::string& meaning, std::vector<std::string> choices) {
  add_text(app, options, flag, key, meaning)->check(CLI::IsMember(std::move(choices)));
}

void add_number(CLI::App& app, CommandOptions& options, const std::string& flag, std::string_view key,
                const std::string& meaning) {
  app.add_option_function<std::int64_t>(
         flag,
         [&options, key](const std::int64_t& value) {
           config::set_path(options.sources.flags, key, json::value(value));
         },
         meaning)
      ->check([meaning](const std::string& text) { return number_problem(text, meaning); });
}

void add_switch(CLI::App& app, CommandOptions& options, const std::string& flag, std::string_view key,
                bool value, const std::string& meaning) {
  app.add_flag_callback(
      flag, [&options, key, value] { config::set_path(options.sources.flags, key, value); }, meaning);
}

}  // namespace

void add_state(CLI::App& app, CommandOptions& options) {
  app.add_option_function<std::string>(
         "--state", [&options](const std::string& path) { options.sources.state = path; },
         "Where keys, secrets and the audit log are (default: the user's state directory, or RELAY_STATE)")
      ->type_name("DIR");
}

namespace {

void add_config(CLI::App& app, CommandOptions& options) {
  app.add_option_function<std::string>(
         "-c,--config",
         [&options](const std::string& path) {
           options.sources.file = path;
           options.sources.file_required = true;
         },
         "Configuration file (default: relay.config.json here or in a directory above)")
      ->type_name("FILE");
  add_state(app, options);
}

// What every command that runs tools understands.
void add_world(CLI::App& app, CommandOptions& options) {
  add_config(app, options);
  app.add_option_function<std::vector<std::string>>(
         "--mount",
         [&options](const std::vector<std::string>& mounts) {
           json::array list;
           for (const std::string& text : mounts) {
             auto mount = parse_mount_flag(text);
             if (!mount) throw CLI::ValidationError("--mount", mount.error().message);
             list.push_back(std::move(*mount));
           }
           config::set_path(options.sources.flags, "mounts", std::move(list));
         },
         "A directory to show as /host/<name>; read-only unless :rw. May be repeated")
      ->allow_extra_args(false)
      ->type_name("DIR[:name][:rw]");
  app.add_option_function<std::vector<std::string>>(
         "--toolset",
         [&options](const std::vector<std::string>& names) {
           json::array list;
           for (const std::string& name : names) list.emplace_back(name);
           config::set_path(options.sources.flags, "toolsets", std::move(list));
         },
         "A toolset to offer, instead of the configured ones. May be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  add_choice(app, options, "--policy", "policy/mode",
             "open: all but what is denied; guarded: changes need a permission; readonly: no changes",
             {"open", "guarded", "readonly"});
  add_number(app, options, "--timeout", "policy/limits/timeoutMs",
             "Wall clock limit of a run, in milliseconds");
  add_number(app, options, "--mem,--max-memory", "policy/limits/memMb", "Memory limit of a run, in MB");
  add_number(app, options, "--max-stdout", "policy/limits/stdoutBytes", "Output limit of a run, in bytes");
  add_choice(app, options, "--log-level", "log/level",
             "Which messages are logged: this level and the more serious ones",
             {"debug", "info", "warn", "error"});
}

void add_sourcemaps(CLI::App& app, CommandOptions& options) {
  add_switch(app, options, "--sourcemaps", "npm/sourcemaps", true,
             "Stack traces through npm packages name their own files and lines");
}

void add_serve(CLI::App& root, CommandOptions& options) {
  CLI::App& app = *root.add_subcommand("serve", "Serve MCP over HTTP");
  app.callback([&options] { options.command = Command::serve; });
  add_world(app, options);
  add_number(app, options, "-p,--port", "server/port", "Port (default 7800; 0 lets the kernel choose)");
  add_text(app, options, "--bind", "server/bind", "Address (default 127.0.0.1)");
  add_choice(app, options, "--auth", "auth/mode",
             "Who may call: everybody (none), or clients that send the bearer token (token)",
             {"none", "token"});
  add_text(app, options, "--tls-cert", "server/tlsCert", "PEM certificate chain: serve HTTPS");
  add_text(app, options, "--tls-key", "server/tlsKey", "PEM private key");
  add_sourcemaps(app, options);
  add_switch(app, options, "--no-open", "server/open", false, "Do not open the browser");
  add_switch(app, options, "--no-ui", "server/ui", false, "Headless: no page, JSON status at /");
}

void add_simple(CLI::App& root, CommandOptions& options) {
  CLI::App& init =
      *root.add_subcommand("init", "Write a commented relay.config.json (never over an existing one)");
  init.add_option("--dir", options.directory, "Where to write it")->type_name("DIR");
  init.callback([&options] { options.command = Command::init; });

  CLI::App& stdio = *root.add_subcommand("stdio", "Serve MCP on stdin and stdout");
  add_world(stdio, options);
  add_sourcemaps(stdio, options);
  stdio.callback([&options] { options.command = Command::stdio; });

  CLI::App& check =
      *root.add_subcommand("check-config", "Say everything that is wrong with the configuration");
  add_config(check, options);
  check.add_flag("--schema", options.print_schema, "Print the JSON Schema instead");
  check.callback([&options] { options.command = Command::check_config; });

  CLI::App& doctor =
      *root.add_subcommand("doctor", "Check the kernel, programs, runtimes, network and directories");
  add_config(doctor, options);
  doctor.add_flag("--json", options.json, "As JSON");
  doctor.add_flag("--offline", options.offline, "Do not ask the registries of npm and pip");
  doctor.callback([&options] { options.command = Command::doctor; });
}

void add_upkeep(CLI::App& root, CommandOptions& options) {
  CLI::App& status = *root.add_subcommand(
      "status", "Say whether Relay runs for this project: address, sessions, runs, servers");
  add_config(status, options);
  status.add_flag("--json", options.json, "As JSON");
  status.footer("Exit codes: 0 it runs, 1 it does not run, 2 the configuration is wrong.");
  status.callback([&options] { options.command = Command::status; });

  CLI::App& clean = *root.add_subcommand(
      "clean", "Remove caches and what ended processes left behind; shows it and asks first");
  add_config(clean, options);
  clean.add_flag("-y,--yes", options.yes, "Remove without asking");
  clean.footer("Keys, secrets, the audit log and workspaces stay.");
  clean.callback([&options] { options.command = Command::clean; });
}

void add_packages(CLI::App& app, CommandOptions& options) {
  const auto add = [&app](const char* name, std::vector<std::string>& list, const char* what,
                          const char* type) {
    app.add_option(name, list, what)->type_name(type)->allow_extra_args(false);
  };
  add("--npm", options.npm_packages, "An npm package, besides the configured ones. May be repeated",
      "NAME[@RANGE]");
  add("--pip", options.pip_requirements, "A Python requirement, besides the configured ones. May be repeated",
      "REQUIREMENT");
  add("--wheel", options.wheel_urls, "The address of a wheel, on a host that policy allows. May be repeated",
      "URL");
}

void add_run(CLI::App& root, CommandOptions& options) {
  CLI::App& run = *root.add_subcommand("run", "Run one script in a fresh sandbox, like an interpreter");
  add_world(run, options);
  add_sourcemaps(run, options);
  run.add_option("script", options.script, "file.js, file.mjs, file.ts or file.py; - reads it from stdin")
      ->type_name("FILE");
  run.add_option("-e,--eval", options.code, "Run this instead of a file")->type_name("CODE");
  run.add_option("-l,--language", options.language,
                 "js or py (default: by the file's name; js for stdin and --eval)")
      ->check(CLI::IsMember({"js", "py"}));
  add_packages(run, options);
  run.add_flag("-y,--yes", options.yes, "Answer yes to every confirmation");
  run.footer(
      "What follows FILE is the script's own. Exit codes: the script's, 1 when it throws, 2 for a mistake on "
      "the command line, 124 time limit, 126 policy, 137 memory.");
  run.callback([&options] { options.command = Command::run; });
}

// What follows the script is the script's own, whatever it looks like: `relay run a.js --help` asks a.js.
// Gives how many words are ours.
int take_script_args(const CLI::App& root, int argc, char** argv, CommandOptions& options) {
  if (argc < 2 || std::string_view(argv[1]) != "run") return argc;
  const CLI::App& run = *root.get_subcommand("run");
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.size() > 1 && word.starts_with('-') && word != "--") {
      const CLI::Option* option = run.get_option_no_throw(std::string(word));
      if (option && option->get_items_expected_max() > 0) ++i;
      continue;
    }
    const int script = word == "--" ? i + 1 : i;
    if (script + 1 < argc) options.script_args.assign(argv + script + 1, argv + argc);
    return std::min(argc, script + 1);
  }
  return argc;
}

constexpr std::size_t kTailLinesMax = 100'000;

void add_audit(CLI::App& root, CommandOptions& options) {
  CLI::App& audit = *root.add_subcommand("audit", "Look at the audit log");
  audit.require_subcommand(1);
  CLI::App& verify = *audit.add_subcommand("verify", "Check the hash chain; exit 2 when it is broken");
  add_config(verify, options);
  verify.add_option("file,--path", options.audit_path, "The log (default: the configured one)")
      ->type_name("FILE");
  verify.add_flag("--segment", options.segment,
                  "The file is a piece of a longer log: do not ask for its beginning");
  verify.add_flag("--json", options.json, "As JSON");
  verify.callback([&options] { options.command = Command::audit_verify; });
  CLI::App& tail = *audit.add_subcommand("tail", "Show the last calls");
  add_config(tail, options);
  tail.add_option("--path", options.audit_path, "The log (default: the configured one)")->type_name("FILE");
  const CLI::Option* lines =
      tail.add_option("-n,--lines", options.lines, "How many (default: 20; all with --since)")
          ->check(CLI::Range(std::size_t{1}, kTailLinesMax));
  tail.add_option("--tool", options.tool_filter, "Only calls of this tool");
  tail.add_option("--client", options.client_filter, "Only calls of this client");
  tail.add_option("--outcome", options.outcome_filter, "Only calls that ended so: ok, error, denied, ...");
  tail.add_option("--since", options.since, "Only from then on: 10m, 1h30m, 2d, or 2026-11-15T20:04Z");
  tail.add_flag("--all", options.all_lines, "Also show where calls start, on a terminal");
  tail.add_flag("-f,--follow", options.follow, "Keep showing new lines");
  tail.add_flag("--json", options.json, "Print the records as JSON, also on a terminal");
  tail.callback([&options, lines] {
    options.command = Command::audit_tail;
    if (!options.since.empty() && lines->count() == 0) options.lines = kTailLinesMax;
  });
  CLI::App& explain = *root.add_subcommand("explain", "Print how a call was decided, check by check");
  add_config(explain, options);
  explain
      .add_option("request-id", options.request_id,
                  "The request id, from the audit log; its beginning is enough")
      ->required();
  explain.add_option("--path", options.audit_path, "The log (default: the configured one)")
      ->type_name("FILE");
  explain.callback([&options] { options.command = Command::explain; });
}

void add_approvals(CLI::App& root, CommandOptions& options) {
  CLI::App& approvals = *root.add_subcommand(
      "approvals", "Answer what a running Relay waits for: calls and changed configurations");
  approvals.require_subcommand(1);
  const auto add = [&](const char* name, const char* meaning, Command command) -> CLI::App& {
    CLI::App& app = *approvals.add_subcommand(name, meaning);
    add_config(app, options);
    app.add_flag("--json", options.json, "As JSON");
    app.callback([&options, command] { options.command = command; });
    return app;
  };
  add("list", "List what waits", Command::approvals_list);
  CLI::App& show = add("show", "Show exactly what it would do", Command::approvals_show);
  CLI::App& approve = add("approve", "Allow it, once", Command::approvals_approve);
  CLI::App& deny = add("deny", "Refuse it", Command::approvals_deny);
  for (CLI::App* app : {&show, &approve, &deny})
    app->add_option("id", options.request_id,
                    "Its id, or the beginning of it (default: the only one that waits)")
        ->type_name("ID");
  for (CLI::App* app : {&approve, &deny})
    app->add_option("--reason", options.reason, "A sentence for the audit log")->type_name("TEXT");
}

void add_classify(CLI::App& root, CommandOptions& options) {
  CLI::App& app = *root.add_subcommand(
      "classify", "Say what a shell command would run and how policy judges it; runs nothing");
  add_config(app, options);
  app.add_option("--tool", options.classify_tool, "The tool that would run it")
      ->check(CLI::IsMember({"shell_exec", "shell_script", "shell_spawn", "session_send"}))
      ->capture_default_str();
  app.add_flag("--json", options.json, "As JSON");
  CLI::Option* text = app.add_option("text", options.classify_text, "The command")->type_name("TEXT");
  CLI::Option* lines =
      app.add_flag("--lines", options.classify_lines,
                   "Read commands from stdin, each a JSON string on a line; answer each with a "
                   "line of JSON");
  lines->excludes(text);
  app.callback([&options, text, lines] {
    options.command = Command::classify;
    if (text->count() == 0 && lines->count() == 0) throw CLI::RequiredError("TEXT");
  });
}

void add_keys(CLI::App& root, CommandOptions& options) {
  CLI::App& keys = *root.add_subcommand("keys", "The keys that sign capsules");
  keys.require_subcommand(1);
  CLI::App& show = *keys.add_subcommand("show", "Print the fingerprints");
  add_config(show, options);
  show.callback([&options] { options.command = Command::keys_show; });
  CLI::App& rotate = *keys.add_subcommand("rotate", "Make a new key; the old one still verifies");
  add_config(rotate, options);
  rotate.callback([&options] { options.command = Command::keys_rotate; });
}

void add_capsule_build(CLI::App& capsule, CommandOptions& options) {
  CLI::App& build = *capsule.add_subcommand(
      "build", "Seal a script, its dependencies, arguments and policy; prints the capsule's name");
  add_config(build, options);
  add_sourcemaps(build, options);
  build.add_option("script", options.script, "file.js, file.mjs, file.ts or file.py")
      ->required()
      ->type_name("FILE");
  build.add_option("-o,--output", options.output, "A directory to make (default: the capsule's name, here)")
      ->type_name("DIR");
  add_packages(build, options);
  build.add_option("--env", options.capsule_env, "A variable of the program. May be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  build.add_option("--cwd", options.capsule_cwd, "Its working directory")->type_name("PATH");
  build.add_option("--arg", options.script_args, "An argument of the program. May be repeated")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  build.callback([&options] { options.command = Command::capsule_build; });
}

void add_capsule_reader(CLI::App& capsule, CommandOptions& options, const std::string& name,
                        const std::string& meaning, Command command) {
  CLI::App& app = *capsule.add_subcommand(name, meaning);
  command == Command::capsule_run ? add_world(app, options) : add_config(app, options);
  if (command == Command::capsule_run)
    app.add_flag("-y,--yes", options.yes, "Answer yes to every confirmation");
  app.add_option("capsule", options.capsule,
                 "A directory with capsule.json in it, or the name of a stored capsule")
      ->required()
      ->type_name("DIR|HASH");
  app.callback([&options, command] { options.command = command; });
}

void add_capsule(CLI::App& root, CommandOptions& options) {
  CLI::App& capsule =
      *root.add_subcommand("capsule", "Sealed programs: build, look into, check and run them");
  capsule.require_subcommand(1);
  add_capsule_build(capsule, options);
  add_capsule_reader(capsule, options, "inspect",
                     "Print the manifest, the layers with their files, and the signature",
                     Command::capsule_inspect);
  add_capsule_reader(capsule, options, "verify",
                     "Check signature and hashes; exit 1 when the capsule is not sound",
                     Command::capsule_verify);
  add_capsule_reader(capsule, options, "run",
                     "Check it, then run it under its own policy and this configuration's",
                     Command::capsule_run);
}

void add_completions(CLI::App& root, CommandOptions& options) {
  CLI::App& app = *root.add_subcommand("completions", "Print a script that completes commands and flags");
  app.add_option("shell", options.shell, "The shell that reads the script")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.footer(
      "To use it now: `source <(relay completions bash)`, `source <(relay completions zsh)` or `relay "
      "completions fish | source`.");
  app.callback([&options] { options.command = Command::completions; });
}

Shell shell_of(std::string_view name) {
  return name == "bash" ? Shell::bash : name == "zsh" ? Shell::zsh : Shell::fish;
}

// `relay help mcp add` is `relay mcp add --help`.
std::vector<char*> expand_help(int argc, char** argv) {
  static char flag[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (argc < 2 || std::string_view(argv[1]) != "help") return words;
  words.erase(words.begin() + 1);
  words.push_back(flag);
  return words;
}

}  // namespace

bool is_container() {
  const char* told = std::getenv("DOCKER_CONTAINER");
  return (told && std::string_view(told) == "true") || std::filesystem::exists("/.dockerenv");
}

Result<json::object> parse_mount_flag(const std::string& text) {
  std::string rest = text;
  json::object mount;
  if (rest.ends_with(":rw") || rest.ends_with(":ro")) {
    mount["mode"] = rest.substr(rest.size() - 2);
    rest.resize(rest.size() - 3);
  }
  const std::size_t colon = rest.rfind(':');
  const std::string directory = rest.substr(0, colon);
  if (directory.empty())
    return fail(invalid(fmt::format("\"{}\" names no directory; write DIR[:name][:rw]", text)));
  const std::filesystem::path path = std::filesystem::absolute(directory).lexically_normal();
  const std::string last =
      path.filename().empty() ? path.parent_path().filename().string() : path.filename().string();
  mount["path"] = path.string();
  mount["name"] = colon == std::string::npos ? (last.empty() ? "root" : last) : rest.substr(colon + 1);
  return mount;
}

std::string number_problem(const std::string& text, const std::string& meaning) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return fmt::format("expected a whole number, got \"{}\" ({})", text, meaning);
}

ParsedCommandLine parse_command_line(int argc, char** argv) {
  ParsedCommandLine parsed;
  CLI::App root("Relay: one door between AI agents and everything they may touch.", "relay");
  root.set_version_flag("-V,--version", version_text());
  root.require_subcommand(1);
  root.failure_message(
      [](const CLI::App* app, const CLI::Error& error) { return describe_mistake(*app, error); });
  root.get_formatter()->column_width(34);
  root.footer(
      "Flags beat RELAY_* variables, which beat relay.config.json. `relay help COMMAND` has the details.");
  add_serve(root, parsed.options);
  add_simple(root, parsed.options);
  add_upkeep(root, parsed.options);
  add_run(root, parsed.options);
  add_audit(root, parsed.options);
  add_keys(root, parsed.options);
  add_approvals(root, parsed.options);
  add_classify(root, parsed.options);
  add_mcp(root, parsed.options);
  add_capsule(root, parsed.options);
  add_completions(root, parsed.options);
  root.add_subcommand("version", "Print the version, as --version does")->callback([] {
    throw CLI::CallForVersion(version_text(), 0);
  });
  root.add_subcommand("help", "Show the help of a command, as --help does");
  std::vector<char*> words = expand_help(argc, argv);
  const int count = static_cast<int>(words.size());
  if (has_unknown_command(root, std::span(words).subspan(1)))
    return {.options = {}, .finished = true, .exit_code = 2};
  try {
    const int ours = take_script_args(root, count, words.data(), parsed.options);
    root.parse(take_command_line(ours, words.data(), parsed.options.mcp), words.data());
  } catch (const CLI::ParseError& error) {
    parsed.finished = true;
    parsed.exit_code = root.exit(error) == 0 ? 0 : 2;
  }
  if (!parsed.finished && parsed.options.command == Command::completions) {
    fmt::print("{}", make_completions(shell_of(parsed.options.shell), read_command_tree(root)));
    parsed.finished = true;
  }
  config::ConfigSources& sources = parsed.options.sources;
  sources.environment = config::relevant_environment();
  std::error_code ignored;  // a working directory that was removed has no file
  if (sources.file.empty())
    sources.file =
        config::find_config_file(std::filesystem::current_path(ignored), config::home_directory(sources));
  sources.in_container = is_container();
  return parsed;
}

}  // namespace relay::cli
