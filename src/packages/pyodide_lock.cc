#include "packages/pyodide_lock.h"

#include "base/json.h"
#include "capsule/manifest.h"

namespace relay::packages {
namespace {

constexpr std::size_t kLockBytes = 16 * limits::kMiB;

Result<PythonPlatform> platform_of(const json::object& lock) {
  const json::object* info = json::find_object(lock, "info");
  const auto python = info ? json::find_string(*info, "python") : std::nullopt;
  const auto abi = info ? json::find_string(*info, "abi_version") : std::nullopt;
  const auto platform = info ? json::find_string(*info, "platform") : std::nullopt;
  if (!python || !abi || !platform || !platform->starts_with("emscripten_"))
    return fail(invalid("the Pyodide lock file lacks its 'info'"));
  const std::size_t minor_end = python->find('.', python->find('.') + 1);
  return PythonPlatform{std::string(python->substr(0, minor_end)), std::string(*abi),
                        std::string(platform->substr(11))};
}

LockedPackage package_of_lock(const json::object& facts) {
  LockedPackage package{.project = normalized_project(json::find_string(facts, "name").value_or("")),
                        .version = std::string(json::find_string(facts, "version").value_or("")),
                        .file = std::string(json::find_string(facts, "file_name").value_or("")),
                        .sha256 = std::string(json::find_string(facts, "sha256").value_or(""))};
  if (const json::array* depends = json::find_array(facts, "depends"))
    for (const json::value& name : *depends)
      if (name.is_string()) package.depends.push_back(normalized_project(json::view(name.get_string())));
  return package;
}

}  // namespace

Result<PyodideLock> parse_pyodide_lock(std::string_view text) {
  RELAY_TRY(const json::object root, json::parse_object(text, {.bytes = kLockBytes}));
  PyodideLock lock;
  RELAY_TRY(lock.platform, platform_of(root));
  const json::object* packages = json::find_object(root, "packages");
  if (!packages) return fail(invalid("the Pyodide lock file lacks its 'packages'"));
  for (const auto& member : *packages) {
    if (!member.value().is_object()) continue;
    LockedPackage package = package_of_lock(member.value().get_object());
    if (!parse_wheel_name(package.file) || !capsule::is_sha256(package.sha256)) continue;
    lock.packages.emplace(package.project, std::move(package));
  }
  return lock;
}

std::string constraints_for(const PyodideLock& lock, std::string_view mirror) {
  const bool address = mirror.starts_with("http://") || mirror.starts_with("https://");
  std::string text;
  for (const auto& [project, package] : lock.packages) {
    if (package.file.ends_with("-none-any.whl")) continue;
    text += fmt::format("{} @ {}{}/{}#sha256={}\n", project, address ? "" : "file://", mirror, package.file,
                        package.sha256);
  }
  return text;
}

std::string mirror_advice(const PyodideLock& lock, const std::vector<std::string>& requirements) {
  for (const std::string& requirement : requirements) {
    const std::string_view name =
        std::string_view(requirement).substr(0, requirement.find_first_of("[<>=!~;@ "));
    const auto found = lock.packages.find(normalized_project(name));
    if (found == lock.packages.end() || found->second.file.ends_with("-none-any.whl")) continue;
    return fmt::format(
        "'{}' is a package of the Pyodide distribution: set pip.pyodideMirror to a directory or address that "
        "has {}",
        name, found->second.file);
  }
  return {};
}

}  // namespace relay::packages
