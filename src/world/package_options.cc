#include "world/package_options.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "config/environment.h"

namespace relay::world {
namespace {

namespace fs = std::filesystem;

packages::PyodideLock read_lock(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return packages::parse_pyodide_lock(text).value_or(packages::PyodideLock{});
}

// A lockfile is given as its own text, or as a path beside the configuration.
Result<void> load_lockfile(const config::Config& config, json::object& npm) {
  const std::string given(json::find_string(npm, "lockfile").value_or(""));
  if (given.empty() || given.find('{') != std::string::npos) return {};
  const fs::path path = config.root / given;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(
        invalid(fmt::format("npm.lockfile: cannot read {}: {}", path.string(), std::strerror(errno))));
  npm["lockfile"] = std::string((std::istreambuf_iterator<char>(file)), {});
  return {};
}

// A mirror is a directory beside the configuration, or an address.
std::string mirror_of(const config::Config& config) {
  std::string mirror(json::find_string(config.pip, "pyodideMirror").value_or(""));
  if (mirror.empty() || mirror.find("://") != std::string::npos) return mirror;
  return (config.root / mirror).lexically_normal().string();
}

// They say where packages come from, not which.
std::vector<std::string> take_hosts(json::object& block) {
  std::vector<std::string> hosts;
  if (const json::array* given = json::find_array(block, "hosts"))
    for (const json::value& host : *given) hosts.emplace_back(json::view(host.as_string()));
  block.erase("hosts");
  return hosts;
}

// An installed Relay has its own; one in its build tree uses what the harness was built with.
fs::path node_modules_of(const fs::path& beside) {
  const fs::path installed = beside / "lib" / "relay" / "node_modules";
  std::error_code ignored;
  return fs::exists(installed, ignored) ? installed : beside.parent_path() / "harness" / "node_modules";
}

}  // namespace

fs::path program_directory() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

Result<packages::PackageOptions> package_options(const config::Config& config) {
  const fs::path beside = program_directory().parent_path();
  packages::PackageOptions options;
  options.configured_npm = config.npm;
  options.configured_pip = config.pip;
  options.npm.cache = options.py.cache = config.project / "deps";
  options.tools.environment = config::process_environment();
  options.tools.parts.cage_program = program_directory() / "relay-cage";
  if (config.executor.walls == config::WallsChoice::reduced)
    options.tools.without_cage = packages::WithoutCage::run;
  options.npm.hosts = take_hosts(options.configured_npm);
  options.py.hosts = take_hosts(options.configured_pip);
  options.npm.esbuild = packages::find_esbuild(node_modules_of(beside), options.tools.environment);
  if (json::find_bool(config.npm, "sourcemaps").value_or(false))
    options.npm.sourcemaps = packages::Sourcemaps::on;
  options.npm.names_finder = beside / "runtime" / "commonjs-names.mjs";
  options.npm.compiler = beside / "runtime" / "compile-bundle.mjs";
  options.npm.engine = beside / "runtime" / "quickjs.wasm";
  options.py.mirror = mirror_of(config);
  options.py.lock = read_lock(beside / "runtime" / "pyodide-lock.json");
  options.configured_npm.erase("sourcemaps");
  RELAY_CHECK(load_lockfile(config, options.configured_npm));
  options.configured_pip.erase("pyodideMirror");
  return options;
}

}  // namespace relay::world
