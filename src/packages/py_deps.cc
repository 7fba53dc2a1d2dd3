#include "packages/py_deps.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/disk.h"
#include "capsule/shelf.h"
#include "packages/log_excerpt.h"

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

// "python3 -m pip" becomes the same without programs; any other command is the user's own and stays.
std::vector<std::string> without_programs(const std::vector<std::string>& pip) {
  if (pip.size() == 3 && pip[1] == "-m" && pip[2] == "pip")
    return {pip[0], "-c", std::string(kPipWithoutPrograms)};
  return pip;
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

std::string diagnose_pip(std::string_view log, const PythonPlatform& platform) {
  const auto says = [&](std::string_view text) { return log.find(text) != std::string_view::npos; };
  if (says(kRefusedProgram))
    return "a package requires a source distribution by its address; nothing is built here, and only wheels "
           "of the index are taken";
  if (says("HASHES FROM THE REQUIREMENTS FILE") || says("hash mismatch") || says("Hashes are required"))
    return "a package does not have the hash that was asked for";
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

PyResolver::PyResolver(PyOptions options, io::ThreadPool& pool, const Clock& clock)
    : options_(std::move(options)), pool_(pool), clock_(clock), layers_(options_.cache / "layers", clock) {
  options_.environment = tool_environment(options_.environment);
}

std::string PyResolver::key_of(const PyRequest& request) const {
  return layer_key(request, fmt::format("{} {}", options_.lock.platform.tag(),
                                        options_.lock.platform.platforms().front()));
}

std::optional<capsule::DepsLayer> PyResolver::find(const PyRequest& request) {
  return layers_.find(key_of(request));
}

io::Task<capsule::DepsLayer> PyResolver::resolve(EffectsPtr effects, PyRequest request, WheelFetcher fetch,
                                                 Progress progress) {
  std::string key = key_of(request);
  if (auto found = layers_.find(key)) co_return std::move(*found);
  auto work = [this, effects = std::move(effects), request = std::move(request), key,
               fetch = std::move(fetch), progress = std::move(progress)] {
    return load_or_build(effects, request, key, fetch, progress);
  };
  co_return co_await flights_.run(key, std::move(work));
}

io::Task<capsule::DepsLayer> PyResolver::load_or_build(EffectsPtr effects, PyRequest request, std::string key,
                                                       WheelFetcher fetch, Progress progress) {
  auto stored = co_await pool_.run([this, key] { return layers_.load(key); });
  if (stored) co_return stored;
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
  const std::vector<std::string> pip = without_programs(options_.pip);
  std::vector<std::string> args(pip.begin() + 1, pip.end());
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
  ToolCall call{options_.pip.front(), pip_args(work), options_.environment,
                work.string(),        "pip download", limits::kInstallTimeout};
  call.packages = json::array(request.requirements.begin(), request.requirements.end());
  for (const WheelUrl& wheel : request.wheels) call.packages.emplace_back(wheel.file);
  RELAY_CO_TRY(const ToolOutcome outcome, co_await run_tool(effects, std::move(call), std::move(progress)));
  if (outcome.status.clean()) co_return Result<void>{};
  std::vector<std::string> paths{work.string(), options_.cache.string()};
  if (const auto home = options_.environment.find("HOME"); home != options_.environment.end())
    paths.push_back(home->second);
  const std::string excerpt = last_lines(redact_log(outcome.err, paths), 8);
  co_return fail(
      dependency_error(fmt::format("{}\n{}", diagnose_pip(outcome.err, options_.lock.platform), excerpt)));
}

}  // namespace relay::packages
