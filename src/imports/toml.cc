// The door to toml++: a heavy header that only this file includes.
#include "imports/document.h"

#include <sstream>

#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 1
#include <toml++/toml.h>

namespace relay::imports {
namespace {

json::value value_of(const toml::node& node);

json::object object_of(const toml::table& table) {
  json::object out;
  for (const auto& [key, member] : table) out.emplace(std::string(key.str()), value_of(member));
  return out;
}

json::array array_of(const toml::array& list) {
  json::array out;
  for (const toml::node& item : list) out.push_back(value_of(item));
  return out;
}

// Dates and times: no server is configured by one, but they are shown as they would be written.
template <class T>
json::value text_of(const T& moment) {
  std::ostringstream out;
  out << moment;
  return json::value(out.str());
}

// The parser bounds the depth of nesting, and with it this recursion.
json::value value_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::none: return nullptr;
    case toml::node_type::table: return object_of(*node.as_table());
    case toml::node_type::array: return array_of(*node.as_array());
    case toml::node_type::string: return json::value(node.as_string()->get());
    case toml::node_type::integer: return json::value(node.as_integer()->get());
    case toml::node_type::floating_point: return json::value(node.as_floating_point()->get());
    case toml::node_type::boolean: return json::value(node.as_boolean()->get());
    case toml::node_type::date: return text_of(node.as_date()->get());
    case toml::node_type::time: return text_of(node.as_time()->get());
    case toml::node_type::date_time: return text_of(node.as_date_time()->get());
  }
  return nullptr;
}

}  // namespace

Result<json::object> parse_toml(std::string_view text) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const auto& where = parsed.error().source().begin;
    return fail(invalid(fmt::format("not valid TOML (line {}, column {})", where.line, where.column)));
  }
  return object_of(parsed.table());
}

}  // namespace relay::imports
