#include "packages/py_deps.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/disk.h"
#include "capsule/shelf.h"
#include "packages/log_excerpt.h"
#include "packages/pip_settings.h"

namespace relay::packages {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWheelBytes = 64 * limits::kMiB;

// Runs pip in a Python that cannot start another program. Wheels need none; a source distribution, which a
// wheel may require by address, is built by a program of its author.
constexpr std::string_view kPipWithoutPrograms = R"py(
import runpy, sys
def refuse(event, _):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.system", "pty.spawn"):
        raise PermissionError("relay: pip may not start programs here")
sys.addaudithook(refuse)
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
)py";
constexpr std::string_view kRefusedProgram = "relay: pip may not start programs here";

// What an interpreter says about itself.
constexpr std::string_view kWhereIsPip =
    "import json, os, sys, pip; print(json.dumps({'program': sys.executable, 'prefix': sys.prefix, 'base': "
    "sys.base_prefix, 'pip': os.path.dirname(os.path.dirname(os.path.abspath(pip.__file__)))}))";

json::array named_packages(const PyRequest& request) {
  json::array names(request.requirements.begin(), request.requirements.end());
  for (const WheelUrl& wheel : request.wheels) names.emplace_back(wheel.file);
  return names;
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Files by name, so that the same wheels give the same layer whatever order the disk lists them in.
Result<std::vector<fs::path>> wheels_in(const fs::path& directory) {
  std::vector<fs::path> wheels;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory, error)) wheels.push_back(item.path());
  if (error) return fail(from_errno(error.value(), "list the downloaded wheels"));
  std::ranges::sort(wheels);
  return wheels;
}

Result<std::string> layer_of(const fs::path& directory, const PythonPlatform& platform) {
  RELAY_TRY(const std::vector<fs::path> wheels, wheels_in(directory));
  archive::ZipFiles files;
  for (const fs::path& path : wheels) {
    RELAY_TRY(const WheelName name, parse_wheel_name(path.filename().string()));
    RELAY_CHECK(check_fits(name, platform));
    RELAY_TRY(const std::string bytes, load_file(path, kWheelBytes));
    const auto added = add_wheel(files, bytes);
    if (!added)
      return fail(dependency_error(
          fmt::format("the wheel of '{}' cannot be used: {}", name.project, added.error().message)));
  }
  return pack_layer(files);
}

std::string text_after(std::string_view log, std::string_view mark) {
  const std::size_t at = log.find(mark);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = log.substr(at + mark.size());
  return std::string(trim_ascii(rest.substr(0, rest.find_first_of("\n("))));
}

// The directory goes away with the build, however that ends.
struct WorkDirectory {
  explicit WorkDirectory(fs::path at) : path(std::move(at)) {}
  ~WorkDirectory() { capsule::discard_directory(path); }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  fs::path path;
};

}  // namespace

std::string diagnose_pip(std::string_view log, const PythonPlatform& platform, ProxySaw proxy) {
  const auto says = [&](std::string_view text) { return log.find(text) != std::string_view::npos; };
  if (says(kRefusedProgram))
    return "a package requires a source distribution by its address; nothing is built here, and only wheels "
           "of the index are taken";
  if (says("FileNotFoundError"))
    return "a package requires a file of this machine by address; only wheels of the index are taken";
  if (says("HASHES FROM THE REQUIREMENTS FILE") || says("hash mismatch") || says("Hashes are required"))
    return "a package does not have the hash that was asked for";
  // pip takes an index that does not answer for an empty one.
  if (proxy == ProxySaw::dead_hosts) return "pip cannot reach its index";
  for (const std::string_view mark :
       {"No matching distribution found for ", "Could not find a version that satisfies the requirement "})
    if (const std::string what = text_after(log, mark); !what.empty())
      return fmt::format(
          "pip finds no wheel for '{}' that a sandbox can use (py3-none-any, or {} for Python {}); source "
          "distributions and wheels for other platforms are not taken",
          what, platform.platforms().front(), platform.version);
  if (says("ResolutionImpossible") || says("conflicting dependencies"))
    return "the packages ask for versions of each other that cannot be had together";
  if (says("is not a supported wheel on this platform"))
    return fmt::format("{} is made for another platform", text_after(log, "ERROR: "));
  for (const std::string_view offline :
       {"NewConnectionError", "Connection refused", "Temporary failure in name resolution", "ConnectTimeout",
        "Max retries exceeded"})
    if (says(offline)) return "pip cannot reach its index";
  return "pip could not download the requirements";
}

PyResolver::PyResolver(PyOptions options, ToolRunner& tools, io::ThreadPool& pool, const Clock& clock)
    : options_(std::move(options)),
      tools_(tools),
      pool_(pool),
      clock_(clock),
      layers_(options_.cache / "layers", clock) {}

std::string PyResolver::key_of(const PyRequest& request) const {
  return layer_key(request, fmt::format("{} {}", options_.lock.platform.tag(),
                                        options_.lock.platform.platforms().front()));
}

std::optional<capsule::DepsLayer> PyResolver::find(const PyRequest& request) {
  return layers_.find(key_of(request));
}

io::Task<capsule::DepsLayer> PyResolver::resolve(EffectsPtr effects, PyRequest request, InstallRules rules,
                                                 WheelFetcher fetch, Progress progress) {
  std::string key = key_of(request);
  if (auto found = layers_.find(key)) co_return std::move(*found);
  // Before the work is shared: what another call may install is not for a call that may not.
  if (!layers_.is_stored(key)) RELAY_CO_CHECK(co_await check_rules(effects, request, rules));
  auto work = [this, effects = std::move(effects), request = std::move(request), rules = std::move(rules),
               key, fetch = std::move(fetch), progress = std::move(progress)] {
    return load_or_build(effects, request, rules, key, fetch, progress);
  };
  co_return co_await flights_.run(key, std::move(work));
}

io::Task<void> PyResolver::check_rules(EffectsPtr effects, const PyRequest& request,
                                       const InstallRules& rules) {
  RELAY_CO_TRY(const ToolSettings settings, co_await load_settings(effects));
  RELAY_CO_TRY(const launch::CageSpec cage, co_await make_cage(effects, settings));
  const auto checked = check_install_hosts(rules, cage.hosts, "pip");
  if (!checked)
    effects->add({.tool = "process",
                  .tier = authority::Tier::stateful,
                  .target = {{"phase", "pip download"}, {"packages", named_packages(request)}},
                  .ending = authority::Ending::denied,
                  .rung = "network",
                  .reason = checked.error().message});
  co_return checked;
}

io::Task<PyResolver::Python> PyResolver::find_python(EffectsPtr effects) {
  if (python_) co_return *python_;
  RELAY_CO_TRY(const std::string program, tools_.find_program(options_.python));
  auto said = co_await tools_.ask(effects, program, {"-c", std::string(kWhereIsPip)});
  if (!said)
    co_return fail(dependency_error(fmt::format(
        "'{}' has no pip that works: install pip for it, or put another python3 on PATH.", options_.python)));
  RELAY_CO_TRY(const json::object where, json::parse_object(*said));
  const auto text = [&](std::string_view key) {
    return absolute_path(json::find_string(where, key).value_or(""), "/", {});
  };
  python_ = Python{text("program"), text("prefix"), text("base"), text("pip")};
  co_return *python_;
}

io::Task<ToolSettings> PyResolver::load_settings(EffectsPtr effects) {
  RELAY_CO_TRY(const Python python, co_await find_python(std::move(effects)));
  std::vector<std::string> texts;
  for (const std::string& file : pip_config_files(tools_.environment(), python.prefix))
    texts.push_back(load_file(file, limits::kToolSettingsBytes).value_or(""));
  co_return make_pip_settings(tools_.environment(), texts);
}

// The mirror of the distribution is a directory to see, or a host to reach.
io::Task<launch::CageSpec> PyResolver::make_cage(EffectsPtr effects, const ToolSettings& settings) {
  RELAY_CO_TRY(const Python python, co_await find_python(std::move(effects)));
  ToolSettings with_mirror = settings;
  if (options_.mirror.find("://") != std::string::npos) {
    RELAY_CO_TRY(std::string host, host_of_url(options_.mirror, "pip.pyodideMirror"));
    add_once(with_mirror.hosts, std::move(host));
  } else if (!options_.mirror.empty()) {
    add_once(with_mirror.paths, absolute_path(options_.mirror, "/", {}));
  }
  RELAY_CO_TRY(launch::CageSpec cage, make_tool_cage(with_mirror, options_.hosts, tools_.environment()));
  for (const std::string& path : {python.prefix, python.base_prefix, python.pip}) add_once(cage.read, path);
  co_return cage;
}

io::Task<capsule::DepsLayer> PyResolver::load_or_build(EffectsPtr effects, PyRequest request,
                                                       InstallRules rules, std::string key,
                                                       WheelFetcher fetch, Progress progress) {
  auto stored = co_await pool_.run([this, key] { return layers_.load(key); });
  if (stored) co_return stored;
  RELAY_CO_CHECK(co_await check_rules(effects, request, rules));
  const WorkDirectory work(options_.cache / "pip" / temporary_name(".tmp-"));
  co_return co_await build(effects, request, key, work.path, std::move(fetch), std::move(progress));
}

io::Task<capsule::DepsLayer> PyResolver::build(EffectsPtr effects, const PyRequest& request,
                                               const std::string& key, const fs::path& work,
                                               WheelFetcher fetch, Progress progress) {
  const fs::path wheels = work / "wheels";
  RELAY_CO_CHECK(make_directory(wheels));
  RELAY_CO_CHECK(co_await with_progress(fetch_wheels(request, work, fetch), "fetching wheels", progress));
  RELAY_CO_CHECK(co_await run_pip(effects, request, work, progress));
  auto packing = [this, wheels, key]() -> Result<capsule::DepsLayer> {
    RELAY_TRY(std::string zip, layer_of(wheels, options_.lock.platform));
    return layers_.save(key, std::move(zip));
  };
  co_return co_await with_progress(pool_.run(packing), "packing dependencies", progress);
}

io::Task<void> PyResolver::fetch_wheels(const PyRequest& request, const fs::path& work,
                                        const WheelFetcher& fetch) {
  RELAY_CO_CHECK(make_directory(work / "given"));
  for (const WheelUrl& wheel : request.wheels) {
    RELAY_CO_TRY(const WheelName name, parse_wheel_name(wheel.file));
    RELAY_CO_CHECK(check_fits(name, options_.lock.platform));
    if (!fetch) co_return fail(dependency_error("pip.wheelUrls cannot be fetched here: there is no network"));
    RELAY_CO_TRY(const std::string bytes, co_await fetch(wheel.url));
    if (!wheel.sha256.empty() && sha256_hex(bytes) != wheel.sha256)
      co_return fail(
          dependency_error(fmt::format("{} does not have the hash that its address asks for", wheel.file)));
    RELAY_CO_CHECK(write_new_file(work / "given" / wheel.file, bytes));
  }
  co_return Result<void>{};
}

Result<void> PyResolver::prune() {
  RELAY_CHECK(layers_.prune());
  capsule::sweep_leftovers(options_.cache / "pip", clock_.wall());
  return {};
}

std::vector<std::string> PyResolver::pip_args(const fs::path& work) const {
  std::vector<std::string> args{"-c", std::string(kPipWithoutPrograms)};
  for (const char* arg : {"download", "--only-binary=:all:", "--no-input", "--no-color", "--progress-bar=off",
                          "--disable-pip-version-check", "--implementation=cp", "--abi=none", "--abi=abi3"})
    args.emplace_back(arg);
  const PythonPlatform& platform = options_.lock.platform;
  args.push_back("--abi=" + platform.tag());
  args.push_back("--python-version=" + platform.version);
  for (const std::string& tag : platform.platforms()) args.push_back("--platform=" + tag);
  args.push_back(fmt::format("--dest={}", (work / "wheels").string()));
  args.push_back(fmt::format("--requirement={}", (work / "requirements.txt").string()));
  if (!options_.mirror.empty())
    args.push_back(fmt::format("--constraint={}", (work / "constraints.txt").string()));
  return args;
}

io::Task<void> PyResolver::run_pip(EffectsPtr effects, const PyRequest& request, const fs::path& work,
                                   Progress progress) {
  std::string requirements = join_lines(request.requirements);
  for (const WheelUrl& wheel : request.wheels) requirements += fmt::format("./given/{}\n", wheel.file);
  RELAY_CO_CHECK(write_new_file(work / "requirements.txt", requirements));
  RELAY_CO_CHECK(write_new_file(work / "constraints.txt", constraints_for(options_.lock, options_.mirror)));
  RELAY_CO_TRY(ToolCall call, co_await pip_call(effects, request, work));
  RELAY_CO_TRY(const ToolOutcome outcome, co_await tools_.run(effects, std::move(call), std::move(progress)));
  if (outcome.status.clean()) co_return Result<void>{};
  std::vector<std::string> paths{work.string(), options_.cache.string()};
  if (std::string home = variable(tools_.environment(), "HOME"); !home.empty())
    paths.push_back(std::move(home));
  const std::string excerpt = last_lines(redact_log(outcome.err, paths), 8);
  const std::string advice =
      options_.mirror.empty() ? mirror_advice(options_.lock, request.requirements) : std::string();
  const std::string sentence =
      !advice.empty() ? advice
      : outcome.refused.empty()
          ? diagnose_pip(outcome.err, options_.lock.platform, outcome.proxy)
          : fmt::format("{}. pip.hosts in the configuration adds hosts that the index sends downloads from",
                        outcome.refused.front());
  co_return fail(dependency_error(fmt::format("{}\n{}", sentence, excerpt)));
}

io::Task<ToolCall> PyResolver::pip_call(EffectsPtr effects, const PyRequest& request, const fs::path& work) {
  RELAY_CO_TRY(const Python python, co_await find_python(effects));
  RELAY_CO_TRY(const ToolSettings settings, co_await load_settings(effects));
  RELAY_CO_CHECK(write_new_file(work / "pip.conf", settings.text));
  ToolCall call{.program = python.program, .args = pip_args(work), .directory = work.string()};
  call.environment = {{"PIP_CONFIG_FILE", (work / "pip.conf").string()}, {"PYTHONDONTWRITEBYTECODE", "1"}};
  // pip in the user's own directory is found there no more, because the cage has another home.
  if (!is_beneath(python.pip, python.prefix) && !is_beneath(python.pip, python.base_prefix))
    call.environment["PYTHONPATH"] = python.pip;
  call.phase = "pip download";
  call.timeout = limits::kInstallTimeout;
  call.packages = named_packages(request);
  RELAY_CO_TRY(call.cage, co_await make_cage(effects, settings));
  call.cage.write = {work.string()};
  co_return call;
}

}  // namespace relay::packages
