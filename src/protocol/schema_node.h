// The compiled form of one (sub)schema. Internal to schema.cc and schema_check.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <re2/re2.h>

#include "base/json.h"

namespace relay::protocol::schema {

enum class Type : std::uint8_t { null, boolean, object, array, number, string, integer };
using TypeSet = std::uint8_t;  // one bit a type; zero: any
constexpr TypeSet bit(Type type) {
  return static_cast<TypeSet>(1u << static_cast<unsigned>(type));
}

struct Node;
struct Property {
  std::string name;
  const Node* node;
};
struct PatternProperty {
  std::unique_ptr<RE2> pattern;
  const Node* node;
};
struct Dependency {
  std::string name;
  std::vector<std::string> required;
  const Node* node = nullptr;
};

/// Pointers lead to nodes that are owned by the same compiled schema. Null: the keyword is absent.
struct Node {
  bool never = false;  // the schema `false`
  TypeSet types = 0;
  const json::array* any_of_values = nullptr;  // enum
  const json::value* constant = nullptr;
  const Node* ref = nullptr;

  std::vector<Property> properties;
  std::vector<PatternProperty> pattern_properties;
  const Node* additional = nullptr;
  const Node* property_names = nullptr;
  std::vector<std::string> required;
  std::vector<Dependency> dependencies;
  std::optional<std::uint64_t> min_properties, max_properties;

  std::vector<const Node*> prefix_items;
  const Node* items = nullptr;
  const Node* contains = nullptr;
  std::optional<std::uint64_t> min_contains, max_contains;
  std::optional<std::uint64_t> min_items, max_items;
  bool unique_items = false;

  std::optional<std::uint64_t> min_length, max_length;
  std::unique_ptr<RE2> pattern;
  std::string pattern_text;

  std::optional<double> minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;

  std::vector<const Node*> all_of, any_of, one_of;
  const Node* negated = nullptr;
  const Node* condition = nullptr;
  const Node* then_node = nullptr;
  const Node* else_node = nullptr;
};

}  // namespace relay::protocol::schema
