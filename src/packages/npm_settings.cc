#include "packages/npm_settings.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/json.h"

namespace relay::packages {
namespace {

constexpr std::string_view kDefaultRegistry = "https://registry.npmjs.org/";
constexpr std::string_view kEnvironmentPrefix = "npm_config_";
constexpr std::array<std::string_view, 4> kKept = {"registry", "cafile", "ca", "strict-ssl"};
constexpr std::array<std::string_view, 6> kOfRegistries = {":_authToken", ":_auth",    ":username",
                                                           ":_password",  ":certfile", ":keyfile"};

/// A setting may have several values (ca[]).
using Settings = std::map<std::string, std::vector<std::string>>;

// ${NAME} is the variable; without one, ${NAME?} is nothing and ${NAME} stays. A backslash before it keeps
// it.
std::string expand(std::string_view text, const Environment& environment) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = text.find("${");
    const std::size_t end = at == std::string_view::npos ? at : text.find('}', at);
    if (end == std::string_view::npos) return out.append(text);
    std::string_view name = text.substr(at + 2, end - at - 2);
    const bool is_optional = name.ends_with('?');
    if (is_optional) name.remove_suffix(1);
    const bool is_kept = at > 0 && text[at - 1] == '\\';
    const auto found = environment.find(std::string(name));
    out.append(text.substr(0, at));
    if (!is_kept && found != environment.end())
      out.append(found->second);
    else if (is_kept || !is_optional)
      out.append(text.substr(at, end + 1 - at));
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string unquote(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    if (const auto parsed = json::parse(value); parsed && parsed->is_string())
      return std::string(json::view(parsed->get_string()));
  if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'')
    return std::string(value.substr(1, value.size() - 2));
  return std::string(trim_ascii(value.substr(0, value.find_first_of(";#"))));
}

// A value without quotes ends at a comment. What stands after a [section] is no setting of npm.
Settings parse_npmrc(std::string_view text, const Environment& environment) {
  Settings settings;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim_ascii(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == ';' || line.front() == '#') continue;
    if (line.front() == '[') break;
    const std::size_t equals = std::min(line.find('='), line.size());
    std::string key = expand(trim_ascii(line.substr(0, equals)), environment);
    const bool is_list = key.ends_with("[]");
    if (is_list) key.resize(key.size() - 2);
    std::string value = equals == line.size() ? "true" : unquote(trim_ascii(line.substr(equals + 1)));
    std::vector<std::string>& values = settings[key];
    if (!is_list) values.clear();
    values.push_back(expand(value, environment));
  }
  return settings;
}

// npm_config_strict_ssl is strict-ssl; the name of a setting of one registry stays as it is written.
Settings environment_settings(const Environment& environment) {
  Settings settings;
  for (const auto& [name, value] : environment) {
    if (value.empty() || !to_lower_ascii(name).starts_with(kEnvironmentPrefix)) continue;
    std::string key = name.substr(kEnvironmentPrefix.size());
    if (!key.starts_with("//")) {
      key = to_lower_ascii(key);
      std::ranges::replace(key.begin() + (key.empty() ? 0 : 1), key.end(), '_', '-');
    }
    settings[key] = {expand(value, environment)};
  }
  return settings;
}

bool is_scope_registry(std::string_view key) {
  return key.starts_with('@') && key.ends_with(":registry");
}

bool is_kept(std::string_view key) {
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7f && c != '=' && c != '"' && c != '\''; };
  if (!std::ranges::all_of(key, is_plain)) return false;
  if (std::ranges::find(kKept, key) != kKept.end() || is_scope_registry(key)) return true;
  const auto ends_it = [&](std::string_view end) { return key.ends_with(end); };
  return key.starts_with("//") && std::ranges::any_of(kOfRegistries, ends_it);
}

bool is_file(std::string_view key) {
  return key == "cafile" || key.ends_with(":certfile") || key.ends_with(":keyfile");
}

// Of two places the first one that has a setting wins.
Settings merge(std::initializer_list<const Settings*> places) {
  Settings merged;
  for (const Settings* settings : places) merged.insert(settings->begin(), settings->end());
  return merged;
}

std::string find_value(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() || found->second.empty() ? std::string() : found->second.back();
}

std::string lines_of(const std::string& key, const std::vector<std::string>& values) {
  std::string lines;
  for (const std::string& value : values)
    lines += fmt::format("{}{}={}\n", key, values.size() > 1 ? "[]" : "", json::quote(value));
  return lines;
}

}  // namespace

Result<ToolSettings> make_npm_settings(const Environment& environment, const NpmrcTexts& texts) {
  const Settings from_environment = environment_settings(environment);
  const Settings user = parse_npmrc(texts.user, environment);
  const Settings global = parse_npmrc(texts.global, environment);
  Settings all = merge({&from_environment, &user, &global});
  if (find_value(all, "registry").empty()) all["registry"] = {std::string(kDefaultRegistry)};
  ToolSettings made;
  for (auto& [key, values] : all) {
    if (!is_kept(key)) continue;
    if (key == "registry" || is_scope_registry(key)) {
      RELAY_TRY(std::string host, host_of_url(values.back(), fmt::format("npm's setting {}", key)));
      add_once(made.hosts, std::move(host));
    }
    if (is_file(key)) {
      values = {absolute_path(values.back(), "/", environment)};
      add_once(made.paths, values.back());
    }
    made.text += lines_of(key, values);
  }
  made.proxy = find_value(all, "https-proxy");
  if (made.proxy.empty()) made.proxy = find_value(all, "proxy");
  if (made.proxy == "null" || made.proxy == "false") made.proxy.clear();
  made.direct = find_value(all, "noproxy");
  return made;
}

std::string user_npmrc(const Environment& environment) {
  const std::string named = find_value(environment_settings(environment), "userconfig");
  if (!named.empty()) return absolute_path(named, "/", environment);
  return variable(environment, "HOME").empty() ? std::string() : absolute_path("~/.npmrc", "/", environment);
}

std::string global_npmrc(const Environment& environment, std::string_view user_text,
                         const std::string& node) {
  const Settings variables = environment_settings(environment);
  const Settings user = parse_npmrc(user_text, environment);
  const Settings all = merge({&variables, &user});
  if (const std::string named = find_value(all, "globalconfig"); !named.empty())
    return absolute_path(named, "/", environment);
  std::string prefix = find_value(all, "prefix");
  if (prefix.empty()) prefix = variable(environment, "PREFIX");
  if (prefix.empty()) prefix = std::filesystem::path(node).parent_path().parent_path().string();
  return absolute_path("etc/npmrc", absolute_path(prefix, "/", environment), environment);
}

}  // namespace relay::packages
