#include "sandbox/cage_plan.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/limits.h"
#include "sandbox/namespaces.h"

namespace relay::sandbox {
namespace {

json::array to_array(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

Result<std::vector<std::string>> parse_texts(const json::object& plan, std::string_view key) {
  std::vector<std::string> texts;
  const json::array* array = json::find_array(plan, key);
  for (const json::value& item : array ? *array : json::array()) {
    if (!item.is_string())
      return fail(invalid(fmt::format("the cage's plan: {} holds something other than text", key)));
    texts.emplace_back(json::view(item.get_string()));
  }
  return texts;
}

std::string text_of(const json::object& plan, std::string_view key) {
  return std::string(json::find_string(plan, key).value_or(std::string_view()));
}

// In the order of ProcessLimits.
constexpr std::pair<std::string_view, std::size_t ProcessLimits::*> kLimits[] = {
    {"dataBytes", &ProcessLimits::data_bytes},   {"processes", &ProcessLimits::processes},
    {"cpuSeconds", &ProcessLimits::cpu_seconds}, {"openFiles", &ProcessLimits::open_files},
    {"fileBytes", &ProcessLimits::file_bytes},   {"nice", &ProcessLimits::nice}};

json::object to_json(const ProcessLimits& limits) {
  json::object object;
  for (const auto& [key, member] : kLimits)
    if (limits.*member != 0) object[key] = limits.*member;
  return object;
}

Result<std::size_t> parse_count(const json::object& object, std::string_view key, std::size_t otherwise) {
  if (!json::find(object, key)) return otherwise;
  const auto value = json::find_int(object, key);
  if (!value || *value < 0)
    return fail(invalid(fmt::format("the cage's plan: {} is no number from 0 on", key)));
  return static_cast<std::size_t>(*value);
}

Result<ProcessLimits> parse_limits(const json::object& plan) {
  ProcessLimits limits;
  const json::object* object = json::find_object(plan, "limits");
  if (!object) return limits;
  for (const auto& [key, member] : kLimits) {
    RELAY_TRY(limits.*member, parse_count(*object, key, 0));
  }
  return limits;
}

bool is_beneath(std::string_view path, std::string_view directory) {
  return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

// The kernel's own trees are made anew for each cage.
Result<void> check_path(const std::string& path, std::string_view what) {
  const auto refuse = [&](std::string_view why) {
    return fail(invalid(fmt::format("the cage cannot {} {}: {}", what, path, why)));
  };
  if (!path.starts_with('/') || path.find('\0') != std::string::npos)
    return refuse("the path is not absolute");
  if (path.starts_with("//")) return refuse("write it with one / at its beginning");
  if (std::filesystem::path(path).lexically_normal().string() != path)
    return refuse("write it without .., //, and a / at its end");
  if (path == "/") return refuse("that would be no cage");
  for (const std::string_view own : {"/proc", "/dev", "/sys"})
    if (is_beneath(path, own)) return refuse(fmt::format("{} is the cage's own", own));
  return {};
}

}  // namespace

bool changes_user(CageUser user) {
  constexpr unsigned kHighestPid = 4'194'304;
  return user == CageUser::unprivileged && ::geteuid() == 0 && maps_user(kCageUsers) &&
         maps_user(kCageUsers + kHighestPid);
}

std::string_view name_of(CageUser user) {
  switch (user) {
    case CageUser::unprivileged: return "unprivileged";
    case CageUser::own: return "own";
  }
  return "unknown";
}

std::optional<CageUser> find_cage_user(std::string_view name) {
  for (const CageUser user : {CageUser::unprivileged, CageUser::own})
    if (name == name_of(user)) return user;
  return std::nullopt;
}

json::object to_json(const CagePlan& plan) {
  return {{"program", plan.program},
          {"args", to_array(plan.args)},
          {"directory", plan.directory},
          {"read", to_array(plan.read)},
          {"write", to_array(plan.write)},
          {"home", plan.home},
          {"hosts", plan.hosts},
          {"hidden", to_array(plan.hidden)},
          {"user", name_of(plan.user)},
          {"groups", to_array(plan.groups)},
          {"limits", to_json(plan.limits)},
          {"scratchBytes", plan.scratch_bytes},
          {"scratchFiles", plan.scratch_files}};
}

Result<void> check(const CagePlan& plan) {
  if (plan.program.empty()) return fail(invalid("the cage's plan names no program"));
  for (const std::string& path : plan.read) RELAY_CHECK(check_path(path, "show"));
  for (const std::string& path : plan.write) RELAY_CHECK(check_path(path, "let it write to"));
  for (const std::string& path : plan.hidden) RELAY_CHECK(check_path(path, "hide"));
  if (!plan.home.empty()) RELAY_CHECK(check_path(plan.home, "make a home at"));
  return {};
}

Result<CagePlan> parse_cage_plan(std::string_view text) {
  RELAY_TRY(const json::object object, json::parse_object(text, {.bytes = limits::kCagePlanBytes}));
  CagePlan plan;
  plan.program = text_of(object, "program");
  plan.directory = text_of(object, "directory");
  plan.home = text_of(object, "home");
  RELAY_TRY(plan.args, parse_texts(object, "args"));
  RELAY_TRY(plan.read, parse_texts(object, "read"));
  RELAY_TRY(plan.write, parse_texts(object, "write"));
  RELAY_TRY(plan.hidden, parse_texts(object, "hidden"));
  plan.hosts = json::find_bool(object, "hosts").value_or(false);
  if (const auto user = json::find_string(object, "user")) {
    const std::optional<CageUser> known = find_cage_user(*user);
    if (!known) return fail(invalid(fmt::format("the cage's plan: there is no user \"{}\"", *user)));
    plan.user = *known;
  }
  RELAY_TRY(plan.groups, parse_texts(object, "groups"));
  RELAY_TRY(plan.limits, parse_limits(object));
  RELAY_TRY(plan.scratch_bytes, parse_count(object, "scratchBytes", plan.scratch_bytes));
  RELAY_TRY(plan.scratch_files, parse_count(object, "scratchFiles", plan.scratch_files));
  RELAY_CHECK(check(plan));
  return plan;
}

}  // namespace relay::sandbox
