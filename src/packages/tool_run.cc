#include "packages/tool_run.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <boost/asio/steady_timer.hpp>

#include "base/bytes.h"
#include "launch/server_process.h"
#include "packages/log_excerpt.h"
#include "packages/tool_settings.h"

namespace relay::packages {
namespace {

namespace asio = io::asio;

constexpr std::size_t kOutputBytes = 4 * limits::kMiB;
constexpr std::size_t kRefusals = 5;  // enough to see which host is missing
// An empty directory of the cage. Without a cage there is none, and tools do without.
constexpr const char* kHome = "/relay-home";
constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin";

constexpr std::array<std::string_view, 4> kLanguage = {"LANG", "LANGUAGE", "LC_ALL", "TZ"};
constexpr std::array<const char*, 5> kCertificates = {"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR",
                                                      "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"};
constexpr std::array<std::string_view, 7> kManagers = {"PYENV_", "NODENV_", "ASDF_", "MISE_",
                                                       "NVM_",   "VOLTA_",  "FNM_"};
constexpr std::array<const char*, 8> kProxies = {"http_proxy", "https_proxy", "no_proxy", "all_proxy",
                                                 "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"};
constexpr std::array<std::string_view, 11> kSystem = {"/usr",
                                                      "/bin",
                                                      "/sbin",
                                                      "/lib",
                                                      "/lib32",
                                                      "/lib64",
                                                      "/libx32",
                                                      "/etc/ssl/certs",
                                                      "/etc/pki/tls/certs",
                                                      "/etc/pki/ca-trust/extracted",
                                                      "/etc/ca-certificates"};

bool starts_with_any(std::string_view name, const auto& prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

void keep(const Environment& all, Environment& kept, const auto& names) {
  for (const auto& name : names)
    if (const auto found = all.find(std::string(name)); found != all.end()) kept.insert(*found);
}

// Reads to the end whatever happens, so that the tool never blocks on a full pipe; keeps the first bytes.
io::Task<std::string> collect(asio::posix::stream_descriptor& pipe) {
  std::string kept;
  std::array<char, 16 * limits::kKiB> chunk;
  for (;;) {
    boost::system::error_code error;
    const std::size_t got =
        co_await pipe.async_read_some(asio::buffer(chunk), asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
    if (error) co_return kept;
    if (kept.size() < kOutputBytes) kept.append(chunk.data(), got);
  }
}

void keep_tail(std::string& kept, std::string_view bytes) {
  kept.append(bytes);
  if (kept.size() > 2 * kOutputBytes) kept.erase(0, kept.size() - kOutputBytes);
}

// Never returns: it is cancelled when there is nothing more to report.
io::Task<void> report_progress(std::string phase, Progress progress) {
  const auto begin = std::chrono::steady_clock::now();
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (auto wait = std::chrono::seconds(1);; wait = std::chrono::seconds(2)) {
    timer.expires_after(wait);
    co_await timer.async_wait(asio::use_awaitable);
    progress(phase,
             std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin));
  }
}

json::array texts(const std::vector<std::string>& items) {
  return json::array(items.begin(), items.end());
}

// A tool that installs reaches the network and leaves files; one that bundles works on what is there.
authority::SideEffect effect_of(const ToolCall& call) {
  authority::SideEffect effect{
      .tool = "process",
      .tier = call.packages.empty() ? authority::Tier::reversible : authority::Tier::stateful,
      .target = {{"phase", call.phase}}};
  if (!call.packages.empty()) effect.target["packages"] = call.packages;
  if (!call.cage.hosts.empty()) effect.target["hosts"] = texts(call.cage.hosts);
  return effect;
}

Error cannot_run(const std::string& program, std::string_view why) {
  return dependency_error(fmt::format("cannot run '{}': {}. Install it, or put it on PATH.", program, why));
}

constexpr std::string_view kCageSays = "relay-cage: ";

std::string last_cage_sentence(std::string_view err) {
  const std::size_t at = err.rfind(kCageSays);
  if (at == std::string_view::npos) return "it said no reason";
  const std::string_view rest = err.substr(at + kCageSays.size());
  return std::string(trim_ascii(rest.substr(0, rest.find('\n'))));
}

std::string without_paths(std::string_view text, const ToolCall& call) {
  std::vector<std::string> paths = call.cage.write;
  paths.insert(paths.end(), call.cage.read.begin(), call.cage.read.end());
  return redact_log(text, paths);
}

// Every cage has these already, or must not have them.
bool is_showable(const std::string& path) {
  constexpr std::array<std::string_view, 3> kOwn = {"/proc", "/dev", "/sys"};
  return path != "/" && !is_system_path(path) &&
         std::ranges::none_of(kOwn, [&](std::string_view own) { return is_beneath(path, own); });
}

// A setting may name a file that is not there: that is the tool's to say, and stops no cage.
std::vector<std::string> existing(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const std::string& path : paths)
    if (is_showable(path) && std::filesystem::exists(path, ignored)) found.push_back(path);
  return found;
}

}  // namespace

/// What one tool says while it runs; shared with the process, which may outlive the call.
struct ToolRunner::Talk {
  std::string err;
  std::vector<std::string> refused;
  ProxySaw proxy = ProxySaw::hosts;
  std::shared_ptr<launch::ServerLog> log;
};

asio::awaitable<void> report_while(io::Task<void> task, std::string phase, Progress progress) {
  co_await io::race(std::move(task), report_progress(std::move(phase), std::move(progress)));
}

Error dependency_error(std::string message) {
  return {ErrorKind::dependency, Blame::environment, std::move(message)};
}

Environment tool_environment(const Environment& all) {
  Environment kept{{"PATH", kPath}, {"HOME", kHome}};
  keep(all, kept, kLanguage);
  keep(all, kept, kCertificates);
  for (const auto& [name, value] : all)
    if (name.starts_with("LC_")) kept.emplace(name, value);
  return kept;
}

Environment lookup_environment(const Environment& all) {
  Environment kept = launch::make_child_environment(all, {});
  for (const auto& [name, value] : all)
    if (name == "VIRTUAL_ENV" || starts_with_any(name, kManagers)) kept.emplace(name, value);
  return kept;
}

std::vector<std::string> certificate_paths(const Environment& all) {
  std::vector<std::string> paths;
  for (const char* name : kCertificates)
    if (const auto found = all.find(name); found != all.end() && found->second.starts_with('/')) {
      std::string path = std::filesystem::path(found->second).lexically_normal().string();
      while (path.size() > 1 && path.ends_with('/')) path.pop_back();
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
    }
  return paths;
}

bool is_beneath(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

bool is_system_path(std::string_view path) {
  return std::ranges::any_of(kSystem, [&](std::string_view system) { return is_beneath(path, system); });
}

ToolRunner::ToolRunner(ToolOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

Result<std::string> ToolRunner::find_program(const std::string& name) const {
  io::ChildSpec spec{.program = name};
  spec.environment = lookup_environment(options_.environment);
  auto found = io::find_program(spec);
  if (!found) return fail(cannot_run(name, found.error().message));
  return found;
}

launch::LaunchCommand ToolRunner::command_of(const ToolCall& call) const {
  launch::LaunchCommand command{.program = call.program, .args = call.args, .directory = call.directory};
  command.environment = tool_environment(options_.environment);
  for (const auto& [name, value] : call.environment) command.environment[name] = value;
  return command;
}

launch::CageSpec ToolRunner::cage_of(const ToolCall& call) const {
  launch::CageSpec cage = call.cage;
  cage.limits = options_.limits;
  std::vector<std::string> shown = call.cage.read;
  for (std::string& path : certificate_paths(options_.environment)) shown.push_back(std::move(path));
  cage.read = existing(shown);
  return cage;
}

Result<launch::Launch> ToolRunner::build_launch(const ToolCall& call, bool is_caged, const Talk& talk) {
  launch::LaunchCommand command = command_of(call);
  if (!is_caged) {
    keep(options_.environment, command.environment, kProxies);
    return launch::make_supervised_launch(options_.parts, command);
  }
  // localhost is a host of this machine, too: the cage has no server of its own.
  for (const char* name : {"NO_PROXY", "no_proxy"}) command.environment[name] = "";
  const std::string name = fmt::format("{}-{}", call.phase, ++started_);
  return launch::make_caged_launch(options_.parts, name, command, cage_of(call), talk.log);
}

Result<launch::Launch> ToolRunner::make_launch(const ToolCall& call, bool is_caged,
                                               const std::shared_ptr<Talk>& talk) {
  RELAY_TRY(launch::Launch launch, build_launch(call, is_caged, *talk));
  launch.child.in = io::Stdio::null;
  launch.on_stderr = [talk](std::string_view bytes) { keep_tail(talk->err, bytes); };
  if (launch.proxy)
    launch.proxy->set_on_refusal([talk](const Error& error) {
      if (error.kind != ErrorKind::denied)
        talk->proxy = ProxySaw::dead_hosts;
      else if (talk->refused.size() < kRefusals)
        add_once(talk->refused, error.message);
    });
  return launch;
}

io::Task<ToolOutcome> ToolRunner::talk_to(launch::Launch launch, std::shared_ptr<Talk> talk) {
  const auto executor = co_await asio::this_coro::executor;
  RELAY_CO_TRY(const auto process,
               launch::ServerProcess::start(executor, std::move(launch), talk->log, processes_));
  RELAY_CO_TRY(std::string out, co_await collect(process->child().out()));
  RELAY_CO_TRY(const io::ExitStatus status, co_await process->child().wait());
  RELAY_CO_TRY(const std::string report, co_await process->exit_report());
  if (!report.empty() && report != describe(status)) co_return fail(dependency_error(report));
  if (status.signal && last_cage_sentence(talk->err).starts_with("was killed: "))
    co_return fail(dependency_error(last_cage_sentence(talk->err)));
  ToolOutcome outcome{status, std::move(out), talk->err, talk->refused, talk->proxy};
  co_return outcome;
}

// A program that does nothing is asked, so that nothing which a tool says or returns can talk relay out of
// its cage.
io::Task<bool> ToolRunner::has_cage(const ToolCall& call) {
  if (options_.without_cage == WithoutCage::fail) co_return true;
  if (cages_stand_) co_return *cages_stand_;
  ToolCall probe{.program = "true", .args = {}, .environment = {}, .directory = {}, .phase = "probe"};
  probe.cage.write = call.cage.write;
  const auto talk = std::make_shared<Talk>();
  talk->log =
      std::make_shared<launch::ServerLog>(clock_, std::make_shared<const secrets::Redactor>(), nullptr);
  auto launch = make_launch(probe, true, talk);
  std::string reason;
  if (launch) {
    const auto outcome = co_await talk_to(std::move(*launch), talk);
    if (!outcome) reason = outcome.error().message;
    if (outcome && !outcome->status.clean()) reason = last_cage_sentence(outcome->err);
  } else {
    reason = launch.error().message;
  }
  cages_stand_ = reason.empty();
  if (!reason.empty() && options_.log)
    options_.log->warn(
        "npm, pip and esbuild run without a cage: this machine refuses it, and executor.walls is \"reduced\"",
        {{"reason", reason}});
  co_return *cages_stand_;
}

io::Task<ToolOutcome> ToolRunner::start_and_talk(ToolCall call) {
  options_.parts.executor = co_await asio::this_coro::executor;
  if (!processes_) processes_ = std::make_shared<launch::ProcessCount>(options_.parts.executor);
  const auto talk = std::make_shared<Talk>();
  talk->log =
      std::make_shared<launch::ServerLog>(clock_, std::make_shared<const secrets::Redactor>(), nullptr);
  RELAY_CO_TRY(const bool is_caged, co_await has_cage(call));
  auto launch = make_launch(call, is_caged, talk);
  if (!launch)
    co_return fail(dependency_error(
        fmt::format("{} cannot run: {}", call.phase, without_paths(launch.error().message, call))));
  auto outcome = co_await talk_to(std::move(*launch), talk);
  if (!outcome && outcome.error().kind == ErrorKind::dependency)
    co_return fail(dependency_error(fmt::format("{} {}", call.phase, outcome.error().message)));
  if (!outcome) co_return fail(cannot_run(call.program, outcome.error().message));
  if (is_caged && outcome->status.code == sandbox::kCageFailed)
    co_return fail(
        dependency_error(fmt::format("{} cannot run in its cage: {}. executor.walls \"reduced\" in the "
                                     "configuration lets it run without one "
                                     "where the kernel refuses it",
                                     call.phase, without_paths(last_cage_sentence(outcome->err), call))));
  const auto says = [&](std::string_view words) { return outcome->err.find(words) != std::string::npos; };
  if (!outcome->status.clean() && (says("ENOSPC") || says("No space left")))
    co_return fail(dependency_error(
        fmt::format("{} ran out of space: the disk is full, or it wrote more than {} MB to /tmp and its home",
                    call.phase, options_.limits.scratch_bytes / limits::kMiB)));
  co_return outcome;
}

io::Task<ToolOutcome> ToolRunner::run(EffectsPtr effects, ToolCall call, Progress progress) {
  const std::string phase = call.phase;
  authority::SideEffect effect = effect_of(call);
  const auto timeout = call.timeout;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout).count();
  auto work = with_progress(start_and_talk(std::move(call)), phase, std::move(progress));
  auto outcome = co_await io::with_timeout(std::move(work), timeout,
                                           fmt::format("{} took longer than {} s", phase, seconds));
  if (cages_stand_ == false) effect.target["cage"] = "none";
  if (!outcome || !outcome->status.clean()) {
    effect.ending = outcome ? authority::Ending::error : authority::ending_of(outcome.error().kind);
    effect.reason = outcome ? phase + " failed" : outcome.error().message;
  }
  effects->add(std::move(effect));
  if (!outcome && outcome.error().kind == ErrorKind::timeout)
    co_return fail(dependency_error(outcome.error().message));
  co_return outcome;
}

io::Task<std::string> ToolRunner::ask(EffectsPtr effects, std::string program,
                                      std::vector<std::string> args) {
  const auto executor = co_await asio::this_coro::executor;
  io::ChildSpec spec{.program = program,
                     .args = std::move(args),
                     .environment = lookup_environment(options_.environment),
                     .directory = "/",
                     .in = io::Stdio::null,
                     .err = io::Stdio::null};
  auto child = io::Child::spawn(executor, spec);
  if (!child) co_return fail(cannot_run(program, child.error().message));
  auto listen = [](io::Child& process) -> io::Task<std::string> {
    RELAY_CO_TRY(std::string out, co_await collect(process.out()));
    RELAY_CO_TRY(const io::ExitStatus status, co_await process.wait());
    if (!status.clean()) co_return fail(unavailable("it " + describe(status)));
    co_return std::string(trim_ascii(out));
  };
  auto answer = co_await io::with_timeout(listen(*child), limits::kToolLookup, "it does not say where it is");
  effects->add({.tool = "process",
                .tier = authority::Tier::read_only,
                .target = {{"phase", "looking for " + program}},
                .ending = answer ? authority::Ending::ok : authority::ending_of(answer.error().kind)});
  if (!answer) co_return fail(cannot_run(program, answer.error().message));
  co_return answer;
}

}  // namespace relay::packages
