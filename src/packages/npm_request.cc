#include "packages/npm_request.h"

#include <algorithm>

#include "base/digest.h"

namespace relay::packages {
namespace {

constexpr std::size_t kDependencies = 100;
constexpr std::size_t kLockfileBytes = 4 * limits::kMiB;
constexpr std::size_t kSubpaths = 200;
constexpr std::string_view kInstalled = "node_modules/";

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_name_part(std::string_view part) {
  return !part.empty() && part.front() != '.' && part.front() != '_' && std::ranges::all_of(part, [](char c) {
    return is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
  });
}

bool is_subpath(std::string_view path) {
  if (path.empty() || path.size() > 256 || path.find("//") != std::string_view::npos || path.back() == '/')
    return false;
  if (path.find("..") != std::string_view::npos) return false;
  return std::ranges::all_of(path, [](char c) {
    return is_alnum(c) || std::string_view("-._~@/+").find(c) != std::string_view::npos;
  });
}

json::object dependency_object(const NpmRequest& request) {
  json::object members;
  for (const auto& [name, range] : request.dependencies) members[name] = range;
  return members;
}

// One package of a lockfile: what binds it stays, where to fetch it from goes.
Result<json::object> clean_package(std::string_view path, const json::value& value) {
  const json::object* package = value.if_object();
  if (!package || !path.starts_with(kInstalled) || path.find("..") != std::string_view::npos)
    return fail(invalid(
        fmt::format("the lockfile has {}, which is not a package of the registry", json::quote(path))));
  const auto version = json::find_string(*package, "version");
  if (package->contains("link") || !version || !is_registry_range(*version))
    return fail(
        invalid(fmt::format("the lockfile links {} to something outside the registry", json::quote(path))));
  json::object kept = *package;
  kept.erase("resolved");
  return kept;
}

Result<void> check_members(const json::object& npm) {
  for (const auto& member : npm)
    if (member.key() != "dependencies" && member.key() != "lockfile")
      return fail(invalid(fmt::format("npm: unknown member {}; it has dependencies and lockfile",
                                      json::quote(std::string_view(member.key()).substr(0, 64)))));
  if (json::find(npm, "dependencies") && !json::find_object(npm, "dependencies"))
    return fail(
        invalid("npm.dependencies must be an object of names and ranges, such as {\"lodash\": \"^4\"}"));
  if (json::find(npm, "lockfile") && !json::find_string(npm, "lockfile"))
    return fail(invalid("npm.lockfile must be the text of a package-lock.json"));
  return {};
}

}  // namespace

bool is_package_name(std::string_view name) {
  if (name.empty() || name.size() > 214) return false;
  if (name.front() != '@') return is_name_part(name) && name != "node_modules" && name != "favicon.ico";
  const std::size_t slash = name.find('/');
  return slash != std::string_view::npos && is_name_part(name.substr(1, slash - 1)) &&
         is_name_part(name.substr(slash + 1));
}

bool is_registry_range(std::string_view range) {
  if (range.size() > 256) return false;
  if (range.starts_with("npm:")) {
    const std::string_view target = range.substr(4);
    const std::size_t at = target.find('@', 1);
    return is_package_name(target.substr(0, at)) &&
           (at == std::string_view::npos || is_registry_range(target.substr(at + 1)));
  }
  return std::ranges::all_of(range, [](char c) {
    return is_alnum(c) || std::string_view("^~<>=|*.-+ ").find(c) != std::string_view::npos;
  });
}

Result<NpmRequest> parse_npm_request(const json::object& npm) {
  RELAY_CHECK(check_members(npm));
  NpmRequest request;
  if (const json::object* dependencies = json::find_object(npm, "dependencies")) {
    for (const auto& member : *dependencies) {
      const std::string name(member.key());
      if (!is_package_name(name))
        return fail(
            invalid(fmt::format("npm.dependencies: {} is not the name of a package", json::quote(name))));
      const std::string range =
          member.value().is_string() ? std::string(json::view(member.value().get_string())) : "\n";
      if (!is_registry_range(range))
        return fail(
            invalid(fmt::format("npm.dependencies.{}: give a range of versions such as \"^1.2.3\"; files, "
                                "links, git and other addresses are not taken",
                                name)));
      request.dependencies.emplace(name, range);
    }
  }
  if (request.dependencies.size() > kDependencies)
    return fail(too_large(fmt::format("npm.dependencies: more than {} packages", kDependencies)));
  request.lockfile = json::find_string(npm, "lockfile").value_or("");
  if (request.lockfile.size() > kLockfileBytes) return fail(too_large("npm.lockfile is too large"));
  return request;
}

NpmRequest merge(const NpmRequest& configured, const NpmRequest& called) {
  NpmRequest merged = called;
  merged.dependencies.insert(configured.dependencies.begin(), configured.dependencies.end());
  merged.subpaths.insert(configured.subpaths.begin(), configured.subpaths.end());
  if (merged.lockfile.empty() && called.dependencies.empty()) merged.lockfile = configured.lockfile;
  return merged;
}

std::set<std::string> find_subpaths(std::string_view code, const NpmRequest& request) {
  std::set<std::string> found;
  for (const auto& [name, range] : request.dependencies) {
    const std::string begin = name + "/";
    for (std::size_t at = code.find(begin); at != std::string_view::npos; at = code.find(begin, at + 1)) {
      const char quote = at == 0 ? '\0' : code[at - 1];
      if (quote != '"' && quote != '\'' && quote != '`') continue;
      const std::string_view path = code.substr(at, code.find(quote, at) - at);
      if (is_subpath(path) && found.size() < kSubpaths) found.emplace(path);
    }
  }
  return found;
}

std::string package_json(const NpmRequest& request) {
  return json::write_canonical(json::value(
      json::object{{"name", "relay-deps"}, {"private", true}, {"dependencies", dependency_object(request)}}));
}

Result<std::string> clean_lockfile(const NpmRequest& request) {
  RELAY_TRY(const json::object lock, json::parse_object(request.lockfile, {.bytes = kLockfileBytes}));
  const auto version = json::find_int(lock, "lockfileVersion");
  const json::object* packages = json::find_object(lock, "packages");
  if (!packages || !version || *version < 2 || *version > 3)
    return fail(invalid("npm.lockfile must be a package-lock.json of version 2 or 3"));
  json::object cleaned{
      {"", json::object{{"name", "relay-deps"}, {"dependencies", dependency_object(request)}}}};
  for (const auto& member : *packages) {
    const std::string path(member.key());
    if (path.empty()) continue;
    RELAY_TRY(cleaned[path], clean_package(path, member.value()));
  }
  return json::write_canonical(json::value(json::object{
      {"name", "relay-deps"}, {"lockfileVersion", 3}, {"requires", true}, {"packages", std::move(cleaned)}}));
}

std::string install_key(const NpmRequest& request) {
  return sha256_hex(fmt::format("npm 1\n{}\n{}", package_json(request), request.lockfile));
}

Result<void> check_sources(const json::object& lockfile) {
  const json::object* packages = json::find_object(lockfile, "packages");
  if (!packages) return {};
  for (const auto& member : *packages) {
    const json::object* package = member.value().if_object();
    const std::string_view path = member.key();
    if (path.empty()) continue;  // the request itself
    const std::string_view from = package ? json::find_string(*package, "resolved").value_or("") : "";
    const bool bundled = package && json::find_bool(*package, "inBundle").value_or(false);
    const bool linked = !package || json::find_bool(*package, "link").value_or(false);
    // npm leaves the address of a registry package out when it is configured so; it never does for others.
    if (linked || !(bundled || from.empty() || from.starts_with("https://") || from.starts_with("http://")))
      return fail(
          invalid(fmt::format("{} does not come from the registry ({}); only packages of the "
                              "registry are installed",
                              json::quote(path), json::quote(linked ? "a link" : from))));
  }
  return {};
}

}  // namespace relay::packages
