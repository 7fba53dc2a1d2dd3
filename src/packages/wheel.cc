#include "packages/wheel.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json.h"
#include "packages/tool_run.h"

namespace relay::packages {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool any_of(const std::vector<std::string>& have, const std::vector<std::string>& wanted) {
  return std::ranges::any_of(
      have, [&](const std::string& item) { return std::ranges::find(wanted, item) != wanted.end(); });
}

bool is_sdist(std::string_view file) {
  return file.ends_with(".tar.gz") || file.ends_with(".zip") || file.ends_with(".tar.bz2") ||
         file.ends_with(".tgz");
}

// The name becomes a line of a requirements file, where "${NAME}" would be a variable of our environment.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._+!-").find(c) != std::string_view::npos;
}

bool is_metadata(std::string_view name) {
  return name.ends_with(".dist-info/METADATA") && name.find('/') == name.rfind('/');
}

// "x-1.0.data/purelib/a.py" -> "a.py"; scripts, headers and the like have no place in a guest.
std::string installed_name(std::string_view name) {
  const std::size_t data = name.find(".data/");
  if (data == std::string_view::npos || name.find('/') < data) return std::string(name);
  const std::string_view rest = name.substr(data + 6);
  for (const std::string_view kind : {"purelib/", "platlib/"})
    if (rest.starts_with(kind)) return std::string(rest.substr(kind.size()));
  return "";
}

}  // namespace

std::string normalized_project(std::string_view name) {
  std::string out;
  for (const char c : to_lower_ascii(name)) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (separator && (out.empty() || out.back() == '-')) continue;
    out += separator ? '-' : c;
  }
  return out;
}

Result<WheelName> parse_wheel_name(std::string_view file) {
  if (is_sdist(file))
    return fail(dependency_error(fmt::format(
        "{} is a source distribution; only wheels (.whl) are taken, because nothing is built here",
        json::quote(file))));
  if (!file.ends_with(".whl") || file.size() > 256 || !std::ranges::all_of(file, is_plain))
    return fail(dependency_error(fmt::format("{} is not the name of a wheel", json::quote(file))));
  std::vector<std::string> parts = split(file.substr(0, file.size() - 4), '-');
  if (parts.size() != 5 && parts.size() != 6)
    return fail(dependency_error(fmt::format("{} is not the name of a wheel", json::quote(file))));
  const std::size_t tags = parts.size() - 3;
  return WheelName{normalized_project(parts[0]), parts[1], split(parts[tags], '.'),
                   split(parts[tags + 1], '.'), split(parts[tags + 2], '.')};
}

std::string PythonPlatform::tag() const {
  std::string digits = version;
  std::erase(digits, '.');
  return "cp" + digits;
}

std::vector<std::string> PythonPlatform::platforms() const {
  return {fmt::format("pyemscripten_{}_wasm32", abi_version), fmt::format("pyodide_{}_wasm32", abi_version),
          fmt::format("emscripten_{}_wasm32", emscripten)};
}

Result<void> check_fits(const WheelName& wheel, const PythonPlatform& platform) {
  std::vector<std::string> platforms = platform.platforms();
  platforms.emplace_back("any");
  if (!any_of(wheel.platforms, platforms))
    return fail(dependency_error(
        fmt::format("'{}' {} has compiled code for {} only; a sandbox needs py3-none-any or {}",
                    wheel.project, wheel.version, wheel.platforms.front(), platforms.front())));
  // abi3 wheels fit every later CPython; their Python tag then names the oldest one.
  const bool stable_abi = any_of(wheel.abis, {"abi3"});
  const bool python =
      any_of(wheel.pythons, {"py3", platform.tag(), "py" + platform.tag().substr(2)}) || stable_abi;
  if (!python || !any_of(wheel.abis, {"none", "abi3", platform.tag()}))
    return fail(dependency_error(fmt::format("'{}' {} is made for {}, not for Python {}", wheel.project,
                                             wheel.version, wheel.pythons.front(), platform.version)));
  return {};
}

Result<void> check_requirements(std::string_view metadata) {
  constexpr std::string_view kField = "requires-dist:";
  for (std::size_t begin = 0; begin < metadata.size();) {
    const std::size_t end = std::min(metadata.find('\n', begin), metadata.size());
    const std::string_view line = trim_ascii(metadata.substr(begin, end - begin));
    begin = end + 1;
    if (line.empty()) break;  // the description follows
    if (!to_lower_ascii(line.substr(0, kField.size())).starts_with(kField)) continue;
    const std::string_view requirement = line.substr(kField.size());
    if (requirement.substr(0, requirement.find(';')).find('@') != std::string_view::npos)
      return fail(
          dependency_error(fmt::format("it requires {} by address; only packages of the index are taken",
                                       json::quote(trim_ascii(requirement)))));
  }
  return {};
}

Result<void> add_wheel(archive::ZipFiles& files, std::string_view wheel_bytes) {
  RELAY_TRY(const archive::ZipReader reader, archive::ZipReader::open(wheel_bytes));
  for (const archive::ZipEntry& entry : reader.entries()) {
    const std::string name = installed_name(entry.name);
    if (name.empty()) continue;
    RELAY_TRY(std::string bytes, reader.read(entry));
    if (is_metadata(entry.name)) RELAY_CHECK(check_requirements(bytes));
    files.insert_or_assign("site-packages/" + name, std::move(bytes));
  }
  return {};
}

}  // namespace relay::packages
