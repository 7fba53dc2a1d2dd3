#include "packages/pip_settings.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::packages {
namespace {

constexpr std::string_view kDefaultIndex = "https://pypi.org/simple";
constexpr std::string_view kDefaultIndexHost = "pypi.org:443";
constexpr std::string_view kDefaultFilesHost = "files.pythonhosted.org:443";
constexpr std::array<std::string_view, 9> kKept = {"index-url",   "extra-index-url", "find-links",
                                                   "no-index",    "trusted-host",    "cert",
                                                   "client-cert", "timeout",         "retries"};

using Settings = std::map<std::string, std::string>;

std::string normalized_key(std::string_view key) {
  std::string name = to_lower_ascii(trim_ascii(key));
  std::ranges::replace(name, '_', '-');
  while (name.starts_with('-')) name.erase(0, 1);
  return name == "default-timeout" ? "timeout" : name;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trim_ascii(text)).empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

// One section of a file as Python's configparser reads it: an indented line goes on with the value before it.
void read_section(std::string_view text, std::string_view section, Settings& settings) {
  std::string key;
  bool is_inside = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view raw = text.substr(0, end);
    const std::string_view line = trim_ascii(raw);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (raw.front() == ' ' || raw.front() == '\t') {
      if (is_inside && !key.empty()) settings[key] += fmt::format("\n{}", line);
      continue;
    }
    if (line.front() == '[') {
      is_inside = line == fmt::format("[{}]", section);
      key.clear();
      continue;
    }
    if (!is_inside) continue;
    const std::size_t mark = std::min(line.find_first_of("=:"), line.size());
    key = normalized_key(line.substr(0, mark));
    settings[key] = std::string(trim_ascii(line.substr(std::min(mark + 1, line.size()))));
  }
}

Settings read_all(const Environment& environment, const std::vector<std::string>& texts) {
  Settings settings;
  for (const std::string_view section : {"global", "download"})
    for (const std::string& text : texts) read_section(text, section, settings);
  for (const auto& [name, value] : environment)
    if (name.starts_with("PIP_") && !value.empty()) settings[normalized_key(name.substr(4))] = value;
  return settings;
}

bool is_true(std::string_view value) {
  const std::string word = to_lower_ascii(trim_ascii(value));
  return word == "1" || word == "true" || word == "yes" || word == "on" || word == "y" || word == "t";
}

Result<void> add_index(ToolSettings& made, const std::string& url) {
  RELAY_TRY(std::string host, host_of_url(url, "an index of pip's settings"));
  const bool is_default = host == kDefaultIndexHost;
  add_once(made.hosts, std::move(host));
  if (is_default) add_once(made.hosts, std::string(kDefaultFilesHost));
  return {};
}

// A directory, a file or an address.
Result<std::string> add_links(ToolSettings& made, const std::string& place, const Environment& environment) {
  constexpr std::string_view kFile = "file://";
  if (place.find("://") != std::string::npos && !place.starts_with(kFile)) {
    RELAY_CHECK(add_index(made, place));
    return place;
  }
  const std::string path =
      absolute_path(place.starts_with(kFile) ? place.substr(kFile.size()) : place, "/", environment);
  add_once(made.paths, path);
  return path;
}

Result<std::string> values_of(ToolSettings& made, const std::string& key, const std::string& value,
                              const Environment& environment) {
  std::string lines;
  const std::vector<std::string> words = words_of(value);
  for (const std::string& word : words) {
    std::string line = word;
    if (key == "index-url" || key == "extra-index-url") RELAY_CHECK(add_index(made, word));
    if (key == "find-links") {
      RELAY_TRY(line, add_links(made, word, environment));
    }
    if (key == "cert" || key == "client-cert")
      add_once(made.paths, line = absolute_path(word, "/", environment));
    lines += words.size() == 1 ? " " + line : "\n    " + line;
  }
  return lines;
}

}  // namespace

Result<ToolSettings> make_pip_settings(const Environment& environment,
                                       const std::vector<std::string>& texts) {
  Settings settings = read_all(environment, texts);
  const bool has_index = !is_true(settings["no-index"]);
  if (!has_index)
    for (const char* key : {"index-url", "extra-index-url"}) settings.erase(key);
  if (has_index && settings["index-url"].empty()) settings["index-url"] = kDefaultIndex;
  // pip's own default of five, with growing pauses, is most of a minute without a network.
  if (settings["retries"].empty()) settings["retries"] = "1";
  ToolSettings made;
  made.text = "[global]\nno-cache-dir = true\n";
  for (const std::string_view kept : kKept) {
    const std::string key(kept);
    if (settings[key].empty()) continue;
    RELAY_TRY(const std::string values, values_of(made, key, settings[key], environment));
    made.text += fmt::format("{} ={}\n", key, values);
  }
  made.proxy = settings["proxy"];
  return made;
}

std::vector<std::string> pip_config_files(const Environment& environment, const std::string& prefix) {
  const std::string named = variable(environment, "PIP_CONFIG_FILE");
  if (named == "/dev/null") return {};
  std::vector<std::string> files{"/etc/xdg/pip/pip.conf", "/etc/pip.conf"};
  if (!variable(environment, "HOME").empty()) {
    const std::string home = variable(environment, "XDG_CONFIG_HOME");
    files.push_back(absolute_path("~/.pip/pip.conf", "/", environment));
    files.push_back(absolute_path(
        "pip/pip.conf", home.empty() ? absolute_path("~/.config", "/", environment) : home, environment));
  }
  files.push_back(prefix + "/pip.conf");
  if (!named.empty()) files.push_back(absolute_path(named, "/", environment));
  return files;
}

}  // namespace relay::packages
