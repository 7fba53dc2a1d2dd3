#include "tools/code_arguments.h"

#include <fmt/format.h>

namespace relay::tools {
namespace {

std::string shown(const json::value& value) {
  return value.is_string() ? std::string(json::view(value.get_string())) : json::write(value);
}

}  // namespace

authority::Tier code_tier(const json::object& arguments) {
  for (const std::string_view tool : {"npm", "pip"}) {
    const json::object* packages = json::find_object(arguments, tool);
    for (const std::string_view member : {"dependencies", "requirements", "wheelUrls"}) {
      const json::value* named = packages ? json::find(*packages, member) : nullptr;
      const bool is_empty = !named || (named->is_object() && named->get_object().empty()) ||
                            (named->is_array() && named->get_array().empty());
      if (!is_empty) return authority::Tier::stateful;
    }
  }
  return authority::Tier::reversible;
}

std::string code_policy_text(const json::object& arguments) {
  std::string out;
  for (const std::string_view key : {"code", "stdin"})
    if (const auto part = json::find_string(arguments, key)) out.append(*part).push_back('\n');
  for (const std::string_view key : {"args", "env", "npm", "pip", "servers"})
    if (const json::value* part = json::find(arguments, key)) out.append(json::write(*part)).push_back('\n');
  return out;
}

std::vector<authority::CallField> code_fields(const json::object& arguments) {
  std::vector<authority::CallField> fields;
  for (const std::string_view key : {"code", "stdin", "cwd"})
    if (const auto part = json::find_string(arguments, key))
      fields.push_back({std::string(key), std::string(*part)});
  for (const std::string_view key : {"args", "servers"})
    if (const json::array* items = json::find_array(arguments, key))
      for (const json::value& item : *items) fields.push_back({std::string(key), shown(item)});
  for (const std::string_view key : {"env", "npm", "pip"})
    if (const json::object* members = json::find_object(arguments, key))
      for (const auto& member : *members)
        fields.push_back(
            {std::string(key), fmt::format("{}={}", std::string(member.key()), shown(member.value()))});
  return fields;
}

}  // namespace relay::tools
