#include "config/widening.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace relay::config {
namespace {

// How a value has to move to be no widening.
enum class Direction : std::uint8_t {
  any,             // it means nothing for what may happen
  down,            // a number becomes smaller
  down_from_none,  // the same, where 0 stands for no limit
  on,              // false becomes true
  off,             // true becomes false
  fewer,           // a list loses entries
  more,            // a list gains entries
  fewer_from_all,  // the same as fewer, where an empty list stands for everything
  stricter,        // a word moves right in kWords
};

struct Rule {
  std::string_view path;  // a part "*" is any name
  Direction direction;
};

// What is not listed may not change without the operator.
constexpr std::array kRules = {
    Rule{"$schema", Direction::any},
    Rule{"language", Direction::any},
    Rule{"toolsets", Direction::fewer},
    Rule{"tools.*.resultBytes", Direction::any},
    Rule{"tools.*.enabled", Direction::off},
    Rule{"mounts.*.mode", Direction::stricter},
    Rule{"mounts.*.allow", Direction::fewer_from_all},
    Rule{"mounts.*.deny", Direction::more},
    Rule{"mounts.*.symlinks", Direction::stricter},
    Rule{"workspace", Direction::stricter},
    Rule{"workspaceQuotaBytes", Direction::down},
    Rule{"policy.mode", Direction::stricter},
    Rule{"policy.deny", Direction::more},
    Rule{"policy.allow", Direction::fewer},
    Rule{"policy.confirmTier3", Direction::on},
    Rule{"policy.agentMayConfirm", Direction::off},
    Rule{"policy.requireServers", Direction::on},
    Rule{"policy.redactSecrets", Direction::on},
    Rule{"policy.confirmTtlSeconds", Direction::down},
    Rule{"policy.network.allowedDomains", Direction::fewer},
    Rule{"policy.network.deniedDomains", Direction::more},
    Rule{"policy.network.denyIpLiterals", Direction::on},
    Rule{"policy.network.blockPrivateRanges", Direction::on},
    Rule{"policy.network.maxBodyBytes", Direction::down},
    Rule{"policy.network.maxRedirects", Direction::down},
    Rule{"policy.filesystem.readonly", Direction::fewer},
    Rule{"policy.filesystem.writable", Direction::fewer},
    Rule{"policy.filesystem.denied", Direction::more},
    Rule{"policy.limits.*", Direction::down},
    Rule{"gateway.listTimeoutMs", Direction::any},
    Rule{"executor.maxConcurrentRuns", Direction::down},
    Rule{"executor.requireBrowser", Direction::on},
    Rule{"executor.readyChildren", Direction::any},
    Rule{"executor.walls", Direction::stricter},
    Rule{"executor.totalMemMb", Direction::down},
    Rule{"audit.chain", Direction::on},
    Rule{"audit.onFailure", Direction::stricter},
    Rule{"auth.mode", Direction::stricter},
    Rule{"cors.allowedOrigins", Direction::fewer},
    Rule{"server.port", Direction::any},
    Rule{"server.ui", Direction::any},
    Rule{"server.open", Direction::any},
    Rule{"server.allowedHosts", Direction::fewer},
    Rule{"server.maxConnections", Direction::down},
    Rule{"server.node", Direction::any},
    Rule{"server.maxConnectionsPerAddress", Direction::down},
    Rule{"log.*", Direction::any},
    Rule{"npm.sourcemaps", Direction::any},
    Rule{"sessionTtlMs", Direction::any},
    Rule{"mcps.*.name", Direction::any},
    Rule{"mcps.*.description", Direction::any},
    Rule{"mcps.*.enabled", Direction::off},
    Rule{"mcps.*.autostart", Direction::off},
    Rule{"mcps.*.era", Direction::any},
    Rule{"mcps.*.sharing", Direction::stricter},
    Rule{"mcps.*.sandbox.read", Direction::fewer},
    Rule{"mcps.*.sandbox.write", Direction::fewer},
    Rule{"mcps.*.sandbox.hosts", Direction::fewer},
    Rule{"mcps.*.sandbox.user", Direction::stricter},
    Rule{"mcps.*.sandbox.limits.cpuSeconds", Direction::down_from_none},
    Rule{"mcps.*.sandbox.limits.*", Direction::down},
    Rule{"mcps.*.startTimeoutMs", Direction::any},
    Rule{"mcps.*.callTimeoutMs", Direction::any},
    Rule{"mcps.*.idleStopMs", Direction::any},
    Rule{"mcps.*.maxConcurrent", Direction::down},
    Rule{"mcps.*.callsPerMinute", Direction::down_from_none},
    Rule{"mcps.*.resultBytes", Direction::any},
    Rule{"mcps.*.allow", Direction::fewer_from_all},
    Rule{"mcps.*.deny", Direction::more},
};

// Each row from loose to strict.
constexpr std::array<std::array<std::string_view, 3>, 8> kWords = {{{"open", "guarded", "readonly"},
                                                                    {"rw", "ro", ""},
                                                                    {"inside", "never", ""},
                                                                    {"shared", "session", ""},
                                                                    {"reduced", "full", ""},
                                                                    {"degrade", "refuse", ""},
                                                                    {"none", "token", ""},
                                                                    {"own", "unprivileged", ""}}};

bool fits(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = pattern.substr(0, pattern.find('.'));
    const std::string_view given = path.substr(0, path.find('.'));
    if (wanted != "*" && wanted != given) return false;
    pattern.remove_prefix(std::min(wanted.size() + 1, pattern.size()));
    path.remove_prefix(std::min(given.size() + 1, path.size()));
  }
  return pattern.empty() && path.empty();
}

const Rule* find_rule(std::string_view path) {
  const auto found = std::ranges::find_if(kRules, [&](const Rule& rule) { return fits(rule.path, path); });
  return found == kRules.end() ? nullptr : &*found;
}

bool contains_all(const json::value& whole, const json::value& part) {
  const json::array* all = whole.if_array();
  const json::array* some = part.if_array();
  return all && some && std::ranges::all_of(*some, [&](const json::value& item) {
           return std::ranges::find(*all, item) != all->end();
         });
}

bool is_empty(const json::value& list) {
  return list.is_array() && list.get_array().empty();
}

bool is_less(const json::value& after, const json::value& before) {
  return after.is_number() && before.is_number() && after.to_number<double>() <= before.to_number<double>();
}

bool is_stricter(const json::value& before, const json::value& after) {
  if (!before.is_string() || !after.is_string()) return false;
  return std::ranges::any_of(kWords, [&](const auto& words) {
    const auto old = std::ranges::find(words, json::view(before.get_string()));
    const auto now = std::ranges::find(words, json::view(after.get_string()));
    return old != words.end() && now != words.end() && old <= now;
  });
}

bool is_zero(const json::value& number) {
  return number.is_number() && number.to_number<double>() == 0;
}

bool tightens(Direction direction, const json::value& before, const json::value& after) {
  switch (direction) {
    case Direction::any: return true;
    case Direction::down: return is_less(after, before);
    case Direction::down_from_none: return !is_zero(after) && (is_zero(before) || is_less(after, before));
    case Direction::on: return after == json::value(true);
    case Direction::off: return after == json::value(false);
    case Direction::fewer: return contains_all(before, after);
    case Direction::more: return contains_all(after, before);
    case Direction::fewer_from_all:
      return !is_empty(after) && (is_empty(before) || contains_all(before, after));
    case Direction::stricter: return is_stricter(before, after);
  }
  return false;
}

// A rule that only denies cannot grant anything; the others must stay as they are, in their order.
bool only_denies_more(const json::array& before, const json::array& after) {
  std::size_t matched = 0;
  for (const json::value& rule : after) {
    if (matched < before.size() && rule == before[matched]) {
      ++matched;
      continue;
    }
    if (!rule.is_object() || json::find_string(rule.get_object(), "effect") != "deny") return false;
  }
  return matched == before.size();
}

// The defaults of the schema stand for `true`, so that the two can be compared.
json::object walls_of(const json::value& sandbox) {
  if (sandbox.is_object()) return sandbox.get_object();
  const json::value& schema = config_schema().at_pointer("/properties/mcps/items/properties/sandbox");
  return with_defaults(schema, json::object()).as_object();
}

// What a tool has that the configuration does not name.
const json::value& usual_tool() {
  static const json::value kUsual =
      with_defaults(config_schema().at_pointer("/properties/tools/additionalProperties"), json::object());
  return kUsual;
}

class Comparison {
 public:
  explicit Comparison(std::vector<Widening>& out) : out_(out) {}

  void compare(const std::string& path, const json::value* before, const json::value* after) {
    if (before && after && *before == *after) return;
    if (path == "mcps") return;  // one by one: find_server_widenings
    if (path == "mounts") return compare_mounts(before, after);
    if (path == "tools") return compare_tools(before->get_object(), after->get_object());
    if (path == "policy.rules" && before && after && before->is_array() && after->is_array() &&
        only_denies_more(before->get_array(), after->get_array()))
      return;
    if (before && after && before->is_object() && after->is_object())
      return compare_members(path, before->get_object(), after->get_object());
    const Rule* rule = find_rule(path);
    if (rule && rule->direction == Direction::any) return;
    if (!before || !after) return add(path, before ? "is gone" : "is new");
    if (!rule) return add(path, "changes");
    if (!tightens(rule->direction, *before, *after)) add(path, "allows more");
  }

  void compare_members(const std::string& path, const json::object& before, const json::object& after) {
    for (const auto& member : before)
      compare(below(path, member.key()), &member.value(), json::find(after, std::string_view(member.key())));
    for (const auto& member : after)
      if (!json::find(before, std::string_view(member.key())))
        compare(below(path, member.key()), nullptr, &member.value());
  }

  void compare_server(const std::string& path, const json::object& before, const json::object& after) {
    json::object old = before;
    json::object now = after;
    const json::value walls_before = old["sandbox"];
    const json::value walls_after = now["sandbox"];
    old.erase("sandbox");
    now.erase("sandbox");
    compare_members(path, old, now);
    if (walls_before == walls_after || walls_before == json::value(false)) return;
    if (walls_after == json::value(false)) return add(path + ".sandbox", "is gone");
    compare_members(path + ".sandbox", walls_of(walls_before), walls_of(walls_after));
  }

  void add(std::string path, std::string what) { out_.push_back({std::move(path), std::move(what)}); }

 private:
  static std::string below(const std::string& path, boost::json::string_view key) {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, std::string_view(key));
  }

  void compare_tools(const json::object& before, const json::object& after) {
    json::object old = before;
    json::object now = after;
    for (const auto& tool : after) old.emplace(tool.key(), json::object());
    for (const auto& tool : before) now.emplace(tool.key(), json::object());
    fill_usual(old);
    fill_usual(now);
    compare_members("tools", old, now);
  }

  // A member that a tool's entry does not have means the same as its default.
  static void fill_usual(json::object& tools) {
    for (auto& tool : tools)
      for (const auto& member : usual_tool().as_object())
        tool.value().as_object().emplace(member.key(), member.value());
  }

  // By name; a mount that is gone grants nothing.
  void compare_mounts(const json::value* before, const json::value* after) {
    const json::array none;
    const json::array& old = before && before->is_array() ? before->get_array() : none;
    const json::array& now = after && after->is_array() ? after->get_array() : none;
    for (const json::value& mount : now) {
      const json::value& name = mount.at("name");
      const auto same =
          std::ranges::find_if(old, [&](const json::value& one) { return one.at("name") == name; });
      const std::string path = fmt::format("mounts.{}", std::string_view(name.as_string()));
      if (same == old.end())
        add(path, "is new");
      else
        compare_members(path, same->get_object(), mount.get_object());
    }
  }

  std::vector<Widening>& out_;
};

const json::object* find_entry(const Config& config, std::string_view name) {
  const json::array* entries = json::find_array(config.complete, "mcps");
  if (!entries) return nullptr;
  for (const json::value& entry : *entries)
    if (entry.is_object() && json::find_string(entry.get_object(), "name") == name)
      return &entry.get_object();
  return nullptr;
}

// What may be written where the configuration does not say depends on the mounts.
json::object with_writable(const Config& config) {
  json::object complete = config.complete;
  const std::vector<std::string>& writable = config.policy.run.filesystem.writable;
  complete["policy"].as_object()["filesystem"].as_object()["writable"] =
      json::array(writable.begin(), writable.end());
  return complete;
}

bool is_enabled(const json::object& entry) {
  return json::find_bool(entry, "enabled").value_or(true);
}

}  // namespace

std::vector<Widening> find_widenings(const Config& before, const Config& after) {
  std::vector<Widening> found;
  Comparison(found).compare_members("", with_writable(before), with_writable(after));
  return found;
}

std::vector<Widening> find_server_widenings(const Config& before, const Config& after,
                                            std::string_view name) {
  std::vector<Widening> found;
  const json::object* old = find_entry(before, name);
  const json::object* now = find_entry(after, name);
  const std::string path = fmt::format("mcps.{}", name);
  if (!now || !is_enabled(*now)) return found;
  if (!old)
    Comparison(found).add(path, "is new");
  else
    Comparison(found).compare_server(path, *old, *now);
  return found;
}

std::string describe(const std::vector<Widening>& widenings) {
  std::string text;
  for (const Widening& one : widenings)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.path, one.what);
  return text;
}

}  // namespace relay::config
