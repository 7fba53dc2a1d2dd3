#include "packages/js_diagnosis.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/bytes.h"
#include "packages/js_bundle.h"

namespace relay::packages {
namespace {

// Packages whose only use is to find or build compiled code.
constexpr std::array<std::string_view, 8> kNativeTools = {
    "bindings",     "node-gyp-build",       "prebuild-install", "node-gyp",
    "node-pre-gyp", "@mapbox/node-pre-gyp", "node-addon-api",   "nan"};

std::string between(std::string_view text, std::size_t at, std::string_view open, std::string_view close) {
  const std::size_t begin = text.find(open, at);
  if (begin == std::string_view::npos) return "";
  const std::size_t end = text.find(close, begin + open.size());
  return end == std::string_view::npos
             ? ""
             : std::string(text.substr(begin + open.size(), end - begin - open.size()));
}

// The line after a complaint names the file: "    node_modules/get-port/index.js:1:16:".
std::string file_after(std::string_view log, std::size_t at) {
  const std::size_t next = log.find("[ERROR]", at + 1);
  const std::string_view part = log.substr(at, next == std::string_view::npos ? next : next - at);
  const std::size_t file = part.find("\n    ");
  if (file == std::string_view::npos) return "";
  return std::string(part.substr(file + 5, part.find(':', file) - file - 5));
}

std::string unresolved_sentence(const std::string& package, std::string name, std::string_view rest) {
  const bool builtin =
      name.starts_with("node:") ||
      rest.substr(0, rest.find("[ERROR]", 1)).find("built into node") != std::string_view::npos;
  if (name.starts_with("node:")) name.erase(0, 5);
  if (builtin)
    return fmt::format("'{}' needs the Node.js built-in module '{}', which a sandbox does not have", package,
                       name);
  if (package.empty()) return fmt::format("there is no module '{}' in the installed packages", name);
  return fmt::format("'{}' needs the module '{}', which is not installed", package, name);
}

std::string join(const std::set<std::string>& sentences) {
  std::string text;
  std::size_t count = 0;
  for (const std::string& sentence : sentences) {
    if (++count > 4) return text + fmt::format("; and {} more", sentences.size() - 4);
    text += (text.empty() ? "" : "; ") + sentence;
  }
  return text;
}

std::string npm_code(std::string_view log) {
  for (const std::string_view mark : {"npm error code ", "npm ERR! code "})
    if (const std::size_t at = log.find(mark); at != std::string_view::npos)
      return std::string(trim_ascii(log.substr(at + mark.size(), log.find('\n', at) - at - mark.size())));
  return "";
}

}  // namespace

std::string diagnose_npm(std::string_view log, ProxySaw proxy) {
  const std::string code = npm_code(log);
  if (code == "E404") return fmt::format("npm cannot find '{}' in the registry", between(log, 0, "'", "'"));
  if (code == "ETARGET")
    return fmt::format("npm has no version for {}", between(log, 0, "No matching version found for ", ".\n"));
  if (code == "ERESOLVE") return "the packages ask for versions of each other that cannot be had together";
  if (code == "EALLOWREMOTE")
    return "a package is at another address than the registry; npm.hosts in the configuration names hosts "
           "that the "
           "registry sends downloads from";
  if (code == "EINTEGRITY") return "a package's content does not match the lockfile's integrity hash";
  if (code == "EUSAGE") return "the lockfile does not fit the dependencies";
  if (code == "EBADPLATFORM") return "a package is made for another platform only";
  for (const std::string_view offline :
       {"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENOTCACHED", "ECONNRESET"})
    if (code == offline) return fmt::format("npm cannot reach its registry ({})", code);
  if (proxy == ProxySaw::dead_hosts) return "npm cannot reach its registry";
  return code.empty() ? "npm could not install the dependencies"
                      : fmt::format("npm could not install the dependencies ({})", code);
}

std::string diagnose_esbuild(std::string_view log) {
  std::set<std::string> sentences;
  for (std::size_t at = log.find("[ERROR]"); at != std::string_view::npos; at = log.find("[ERROR]", at + 1)) {
    const std::string_view rest = log.substr(at);
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::string package = package_of(file_after(log, at));
    if (line.find("Could not resolve") != std::string_view::npos) {
      sentences.insert(unresolved_sentence(package, between(line, 0, "\"", "\""), rest));
    } else if (line.find("for \".node\" files") != std::string_view::npos) {
      sentences.insert(fmt::format(
          "'{}' is a native addon (it loads compiled code), which a sandbox cannot run", package));
    } else {
      sentences.insert(fmt::format("'{}' cannot be bundled: {}", package, trim_ascii(line.substr(7))));
    }
  }
  return sentences.empty() ? "esbuild could not bundle the dependencies" : join(sentences);
}

std::set<std::string> missing_entries(std::string_view log, std::string_view work) {
  std::set<std::string> missing;
  for (std::size_t at = log.find("[ERROR] Could not resolve"); at != std::string_view::npos;
       at = log.find("[ERROR] Could not resolve", at + 1))
    if (file_after(log, at) == entry_path(work)) missing.insert(between(log, at, "\"", "\""));
  return missing;
}

std::set<std::string> complaining_packages(std::string_view log) {
  std::set<std::string> packages;
  for (std::size_t at = log.find("[ERROR]"); at != std::string_view::npos; at = log.find("[ERROR]", at + 1))
    if (std::string package = package_of(file_after(log, at)); !package.empty())
      packages.insert(std::move(package));
  return packages;
}

std::string native_reason(const json::object& package_json, const std::vector<std::string>& files) {
  const auto has = [&](std::string_view name) { return std::ranges::find(files, name) != files.end(); };
  if (has("binding.gyp") || json::find_bool(package_json, "gypfile").value_or(false))
    return "it is built with node-gyp";
  if (has("prebuilds")) return "it ships compiled code (prebuilds)";
  if (std::ranges::any_of(files, [](const std::string& name) { return name.ends_with(".node"); }))
    return "it ships compiled code (.node)";
  if (const json::object* needs = json::find_object(package_json, "dependencies"))
    for (const std::string_view tool : kNativeTools)
      if (needs->contains(boost::json::string_view(tool.data(), tool.size())))
        return fmt::format("it loads compiled code with '{}'", tool);
  if (const json::object* scripts = json::find_object(package_json, "scripts"))
    for (const char* step : {"install", "preinstall", "postinstall"})
      if (const auto script = json::find_string(*scripts, step);
          script && (script->find("node-gyp") != std::string_view::npos ||
                     script->find("prebuild") != std::string_view::npos))
        return fmt::format("its '{}' script builds compiled code", step);
  if (const json::object* optional = json::find_object(package_json, "optionalDependencies"))
    for (const auto& member : *optional)
      if (const std::string name(member.key());
          name.find("-linux-x64") != std::string::npos || name.find("-darwin-arm64") != std::string::npos)
        return "its work is done by compiled code, one package per platform";
  return "";
}

}  // namespace relay::packages
