#include "sandbox/cage_plan.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/limits.h"

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

json::object to_json(const CagePlan& plan) {
  return {{"program", plan.program},     {"args", to_array(plan.args)},   {"directory", plan.directory},
          {"read", to_array(plan.read)}, {"write", to_array(plan.write)}, {"home", plan.home},
          {"hosts", plan.hosts}};
}

Result<void> check(const CagePlan& plan) {
  if (plan.program.empty()) return fail(invalid("the cage's plan names no program"));
  for (const std::string& path : plan.read) RELAY_CHECK(check_path(path, "show"));
  for (const std::string& path : plan.write) RELAY_CHECK(check_path(path, "let it write to"));
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
  plan.hosts = json::find_bool(object, "hosts").value_or(false);
  RELAY_CHECK(check(plan));
  return plan;
}

}  // namespace relay::sandbox
