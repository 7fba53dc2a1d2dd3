// `relay run file.js|file.py`: one script in a fresh sandbox, with stdin, stdout, stderr and exit code like
// an interpreter.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "app/serve.h"
#include "cli/capsule_command.h"
#include "cli/package_block.h"
#include "cli/script.h"
#include "cli/terminal_context.h"
#include "io/run_loop.h"
#include "io/spawn.h"
#include "tools/code_arguments.h"
#include "world/package_options.h"
#include "world/world.h"

namespace relay::cli {
namespace {

namespace asio = io::asio;
namespace fs = std::filesystem;

// Writes what the script prints at once, to the streams it was printed to.
class TerminalObserver final : public executors::RunObserver {
 public:
  void on_stdout(std::string_view bytes) override { write_all(STDOUT_FILENO, bytes); }
  void on_stderr(std::string_view bytes) override { write_all(STDERR_FILENO, bytes); }
  // Most runs begin at once; only what takes longer is worth a line, such as packages that are installed.
  void on_progress(std::string_view text) override {
    const bool takes_long = std::chrono::steady_clock::now() - began_ > std::chrono::milliseconds(900);
    if (takes_long && ::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "relay: {}\n", text);
  }

 private:
  static void write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd, bytes.data(), bytes.size());
      if (written <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

Result<std::string> read_text(std::istream& stream, std::string_view name) {
  std::stringstream text;
  text << stream.rdbuf();
  if (text.str().size() > limits::kMessageBytes)
    return fail(too_large(fmt::format("{} is larger than {} bytes", name, limits::kMessageBytes)));
  return text.str();
}

Result<std::string> read_script(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return fail(invalid(fmt::format("{} is a directory; name a script", path.string())));
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(not_found(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno))));
  return read_text(file, path.string());
}

// The flag, then the file's name, then the configuration; text without a name is JavaScript.
Result<executors::Language> language_of(const config::Config& config, const CommandOptions& options) {
  using executors::Language;
  const std::string extension = options.script.extension().string();
  const bool has_no_name = options.script == "-" || options.code;
  if (options.language == "py") return Language::py;
  if (options.language == "js") return Language::js;
  if (!options.code && extension == ".py") return Language::py;
  for (const std::string_view js : {".js", ".mjs", ".ts", ".mts"})  // the harness takes the types out
    if (!options.code && extension == js) return Language::js;
  if (config.language) return *config.language == config::ScriptLanguage::py ? Language::py : Language::js;
  if (has_no_name) return Language::js;
  return fail(
      invalid(fmt::format("{}: expected a name that ends in .js, .mjs, .ts, .mts or .py; --language js or "
                          "--language py says what it is",
                          options.script.string())));
}

// A file is read whole, so that policy sees it. Whatever may never end is handed over while the script asks
// for it.
/// What is run: the arguments of the call that is judged, and what does not fit into arguments.
struct Script {
  runs::RunArguments arguments;
  runs::CodeRun run;
};

Result<void> attach_stdin(Script& script) {
  struct stat status{};
  if (::fstat(STDIN_FILENO, &status) != 0) return {};
  if (S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) <= limits::kMessageBytes) {
    RELAY_TRY(script.arguments.stdin_text, read_text(std::cin, "stdin"));
    return {};
  }
  script.run.read_input = []() -> Result<std::string> {
    std::string piece(limits::kOutputFrameBytes, '\0');
    ssize_t got = 0;
    while ((got = ::read(STDIN_FILENO, piece.data(), piece.size())) < 0 && errno == EINTR) {
    }
    if (got < 0) return fail(from_errno(errno, "read stdin"));
    piece.resize(static_cast<std::size_t>(got));
    return piece;
  };
  return {};
}

// A capsule runs with its own arguments under its own policy, which this configuration's narrows further.
Result<Script> make_capsule_run(const config::Config& config, const CommandOptions& options) {
  RELAY_TRY(capsule::VerifiedCapsule verified,
            capsule::load_verified_capsule(capsule_to_read(config, options.capsule)));
  Script script;
  script.run.language = verified.capsule.manifest.language;
  script.arguments.args = verified.capsule.manifest.entry.argv;
  script.arguments.code = *verified.capsule.layers.front();
  RELAY_CHECK(attach_stdin(script));
  script.run.sealed = runs::SealedRun{std::move(verified.capsule), verified.key.spki_base64()};
  return script;
}

Result<json::object> packages_of(const CommandOptions& options, executors::Language language) {
  const bool is_js = language == executors::Language::js;
  if (is_js ? !options.pip_requirements.empty() || !options.wheel_urls.empty()
            : !options.npm_packages.empty())
    return fail(invalid(is_js ? "--pip and --wheel are for Python; JavaScript has --npm"
                              : "--npm is for JavaScript; Python has --pip"));
  if (options.npm_packages.empty() && options.pip_requirements.empty() && options.wheel_urls.empty())
    return json::object();
  return package_block(options, language);
}

Result<Script> make_script(const config::Config& config, const CommandOptions& options) {
  if (options.command == Command::capsule_run) return make_capsule_run(config, options);
  if (!options.code && options.script.empty())
    return fail(
        invalid("what to run? Name a script, or give its text with -e; `relay run --help` has the details"));
  Script script;
  RELAY_TRY(script.run.language, language_of(config, options));
  runs::RunArguments& arguments = script.arguments;
  arguments.args = options.script_args;
  RELAY_TRY(arguments.packages, packages_of(options, script.run.language));
  if (options.code) {
    arguments.code = *options.code;
    if (!options.script.empty()) arguments.args.insert(arguments.args.begin(), options.script.string());
  } else if (options.script == "-") {
    RELAY_TRY(arguments.code, read_text(std::cin, "stdin"));
    return script;
  } else {
    RELAY_TRY(arguments.code, read_script(options.script));
    script.run.file_name = options.script.filename().string();
  }
  RELAY_CHECK(attach_stdin(script));
  return script;
}

authority::Call make_call(world::World& world, const Script& script) {
  const runs::RunArguments& arguments = script.arguments;
  json::object args{{"code", arguments.code},
                    {"args", json::array(arguments.args.begin(), arguments.args.end())},
                    {"stdin", arguments.stdin_text}};
  const bool is_js = script.run.language == executors::Language::js;
  if (!arguments.packages.empty()) args[is_js ? "npm" : "pip"] = arguments.packages;
  authority::Call call;
  call.request_id = world.ids().make("req_");
  call.caller.principal = "local";
  call.caller.client_name = "relay run";
  call.caller.transport = authority::Transport::internal;
  call.toolset = "code";
  call.tool = is_js ? "run_js" : "run_py";
  call.tier = authority::Tier::reversible;
  call.policy_text = tools::code_policy_text(args);
  call.fields = tools::code_fields(args);
  call.args = std::move(args);
  return call;
}

// What the script threw, its runtime has printed; why relay ended it, nobody has said yet.
bool is_for_us_to_say(const executors::RunOutcome& outcome) {
  if (!outcome.error || outcome.exit_code != 1) return outcome.error.has_value();
  return outcome.error->stack.empty() &&
         (outcome.error->type == "OutputLimitExceeded" || outcome.error->type == "Internal");
}

// The same order as for every call: admitted, recorded, run, closed.
io::Task<int> run_recorded(world::World& world, Script script, Confirmation confirmation) {
  TerminalObserver observer;
  int exit_code = executors::kExitPolicy;  // of a call that never got to run
  auto work = [&](const authority::Recorded& recorded) -> io::Task<protocol::ToolResult> {
    RELAY_CO_TRY(runs::FinishedRun finished,
                 co_await runs::run_code(world.runs(), recorded, script.run, observer));
    exit_code = finished.outcome.exit_code;
    for (const std::string& note : finished.notes) fmt::print(stderr, "relay: {}\n", note);
    if (is_for_us_to_say(finished.outcome))
      fmt::print(stderr, "relay: {}: {}\n", finished.outcome.error->type, finished.outcome.error->message);
    co_return runs::run_result(finished);
  };
  authority::Call call = make_call(world, script);
  TerminalContext terminal(confirmation);
  pipeline::ElicitingConfirmer person(terminal);
  pipeline::Conditions conditions{person, limits::kResultBytes, {}};
  pipeline::Work<protocol::ToolResult> wrapped = work;
  RELAY_CO_TRY(protocol::ToolResult result, co_await world.pipeline().run<protocol::ToolResult>(
                                                std::move(call), std::move(conditions), std::move(wrapped)));
  say_how_to_confirm(result);
  if (result.is_error && exit_code == executors::kExitPolicy && !result.content.empty())
    if (const auto* text = std::get_if<protocol::TextContent>(&result.content.front());
        text && text->text.starts_with('['))
      fmt::print(stderr, "relay: {}\n", text->text);
  co_return exit_code;
}

}  // namespace

int run_script(const config::Config& config, const CommandOptions& options, Log& log) {
  auto script = make_script(config, options);
  if (!script) {
    fmt::print(stderr, "relay: {}\n", describe(script.error()));
    const bool is_unsound =
        options.command == Command::capsule_run && script.error().kind != ErrorKind::not_found;
    return is_unsound ? 1 : 2;
  }
  world::SystemServices process(log);
  asio::io_context& loop = process.context();
  config::Config only_code = config;
  only_code.toolsets = {"code"};
  auto world = world::World::build(only_code, world::Purpose::run, process.view());
  if (!world) {
    fmt::print(stderr, "relay: {}\n", world.error().message);
    return 1;
  }
  int exit_code = 1;
  auto body = [&]() -> io::Task<void> {
    auto ended = co_await run_recorded(**world, std::move(*script),
                                       options.yes ? Confirmation::yes : Confirmation::ask);
    if (!ended) fmt::print(stderr, "relay: {}\n", describe(ended.error()));
    exit_code = ended ? *ended : ended.error().kind == ErrorKind::denied ? executors::kExitPolicy : 1;
    const auto stopped = co_await (*world)->stop();
    loop.stop();
    co_return stopped;
  };
  io::spawn(loop.get_executor(), body(), "run");
  io::run_loop(loop);
  (*world)->leave(exit_code);
}

}  // namespace relay::cli
