#include "protocol/schema_check.h"

#include <cmath>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/nearest_name.h"

namespace relay::protocol::schema {
namespace {

constexpr std::size_t kStepsMax = 1'000'000;  // references and alternatives multiply: bound the product
constexpr int kDepthMax = 256;

Type type_of(const json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return Type::null;
    case boost::json::kind::bool_: return Type::boolean;
    case boost::json::kind::object: return Type::object;
    case boost::json::kind::array: return Type::array;
    case boost::json::kind::string: return Type::string;
    case boost::json::kind::int64:
    case boost::json::kind::uint64: return Type::integer;
    case boost::json::kind::double_:
      return std::trunc(value.get_double()) == value.get_double() ? Type::integer : Type::number;
  }
  return Type::null;
}

std::string_view name_of(Type type) {
  constexpr std::string_view kNames[] = {"null", "boolean", "object", "array", "number", "string", "integer"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string names_of(TypeSet types) {
  std::string names;
  for (const Type type :
       {Type::null, Type::boolean, Type::object, Type::array, Type::number, Type::string, Type::integer}) {
    if (!(types & bit(type))) continue;
    if (type == Type::integer && (types & bit(Type::number))) continue;
    names += (names.empty() ? "" : " or ") + std::string(name_of(type));
  }
  return names;
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

double number_of(const json::value& value) {
  boost::system::error_code ignored;
  return value.to_number<double>(ignored);
}

// 1 and 1.0 are the same value in JSON Schema.
bool equal(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) return a == b || number_of(a) == number_of(b);
  return a == b;
}

std::string shorten(const json::value& value) {
  const std::string text = json::write(value);
  constexpr std::size_t kShown = 60;
  return text.size() <= kShown ? text : std::string(utf8_prefix(text, kShown)) + "...";
}

// Where we are in the value; text is made only when something is wrong.
struct Place {
  const Place* parent = nullptr;
  std::string_view name;
  std::size_t index = 0;

  [[nodiscard]] std::string text() const {
    if (!parent) return "$";
    if (name.data()) return parent->text() + "." + std::string(name);
    return fmt::format("{}[{}]", parent->text(), index);
  }
};

class Check {
 public:
  explicit Check(std::size_t max_problems) : max_problems_(max_problems) {}

  /// True when the value conforms. Problems are kept only where somebody wants to read them.
  bool run(const Node& node, const json::value& value, const Place& place) {
    if (++steps_ > kStepsMax || depth_ >= kDepthMax) return report(place, "too complex to check");
    ++depth_;
    const bool good = run_all(node, value, place);
    --depth_;
    return good;
  }
  std::vector<SchemaProblem> problems;

 private:
  bool run_all(const Node& node, const json::value& value, const Place& place) {
    if (node.never) return report(place, "is not allowed");
    const Type type = type_of(value);
    if (node.types && !(node.types & bit(type)))
      return report(place, fmt::format("must be {}, is {}", names_of(node.types), name_of(type)));
    bool good = check_values(node, value, place);
    if (node.ref) good &= run(*node.ref, value, place);
    if (type == Type::object) good &= check_object(node, value.get_object(), place);
    if (type == Type::array) good &= check_array(node, value.get_array(), place);
    if (type == Type::string) good &= check_string(node, json::view(value.get_string()), place);
    if (value.is_number()) good &= check_number(node, number_of(value), place);
    return check_logic(node, value, place) && good;
  }

  bool check_values(const Node& node, const json::value& value, const Place& place) {
    bool good = true;
    if (node.constant && !equal(value, *node.constant))
      good = report(place, "must be " + shorten(*node.constant));
    if (node.any_of_values && std::ranges::none_of(*node.any_of_values, [&](const json::value& allowed) {
          return equal(value, allowed);
        }))
      good = report(place, "must be one of " + shorten(*node.any_of_values));
    return good;
  }

  bool check_object(const Node& node, const json::object& object, const Place& place) {
    bool good = true;
    for (const std::string& name : node.required)
      if (!json::find(object, name))
        good = report(place, fmt::format("missing required property '{}'", name));
    if (node.min_properties && object.size() < *node.min_properties)
      good = report(place, fmt::format("needs at least {} properties", *node.min_properties));
    if (node.max_properties && object.size() > *node.max_properties)
      good = report(place, fmt::format("has more than {} properties", *node.max_properties));
    if (node.additional || node.property_names || !node.pattern_properties.empty()) {
      for (const auto& member : object) good &= check_member(node, member, place);
    } else {
      for (const Property& property : node.properties)
        if (const json::value* child = json::find(object, property.name))
          good &= run(*property.node, *child, Place{&place, property.name});
    }
    for (const Dependency& dependency : node.dependencies)
      good &= check_dependency(dependency, object, place);
    return good;
  }

  bool check_member(const Node& node, const boost::json::key_value_pair& member, const Place& place) {
    const std::string_view key(member.key().data(), member.key().size());
    const Place here{&place, key};
    bool good = true;
    bool known = false;
    if (node.property_names) good &= run(*node.property_names, json::value(member.key()), here);
    for (const Property& property : node.properties)
      if (property.name == key) {
        known = true;
        good &= run(*property.node, member.value(), here);
      }
    for (const PatternProperty& property : node.pattern_properties)
      if (RE2::PartialMatch(re2::StringPiece(key.data(), key.size()), *property.pattern)) {
        known = true;
        good &= run(*property.node, member.value(), here);
      }
    if (known || !node.additional) return good;
    if (!node.additional->never) return run(*node.additional, member.value(), here) && good;
    return report(here, "unknown property" + nearest(node, key));
  }

  static std::string nearest(const Node& node, std::string_view key) {
    std::vector<std::string> names;
    for (const Property& property : node.properties) names.push_back(property.name);
    const std::string near = nearest_name(key, names);
    return near.empty() ? "" : fmt::format(", did you mean '{}'?", near);
  }

  bool check_dependency(const Dependency& dependency, const json::object& object, const Place& place) {
    if (!json::find(object, dependency.name)) return true;
    bool good = true;
    for (const std::string& name : dependency.required)
      if (!json::find(object, name))
        good = report(place, fmt::format("'{}' needs '{}' too", dependency.name, name));
    if (dependency.node) good &= run(*dependency.node, json::value(object), place);
    return good;
  }

  bool check_array(const Node& node, const json::array& items, const Place& place) {
    bool good = true;
    if (node.min_items && items.size() < *node.min_items)
      good = report(place, fmt::format("needs at least {} items", *node.min_items));
    if (node.max_items && items.size() > *node.max_items)
      good = report(place, fmt::format("has more than {} items", *node.max_items));
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Node* child = i < node.prefix_items.size() ? node.prefix_items[i] : node.items;
      if (child) good &= run(*child, items[i], Place{&place, {}, i});
    }
    if (node.unique_items) good &= check_unique(items, place);
    if (node.contains) good &= check_contains(node, items, place);
    return good;
  }

  bool check_unique(const json::array& items, const Place& place) {
    for (std::size_t i = 0; i < items.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        if (++steps_ > kStepsMax) return report(place, "too complex to check");
        if (equal(items[i], items[j])) return report(place, fmt::format("items {} and {} are equal", j, i));
      }
    return true;
  }

  bool check_contains(const Node& node, const json::array& items, const Place& place) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
      count += silently(*node.contains, items[i], Place{&place, {}, i}) ? 1 : 0;
    if (count < node.min_contains.value_or(1)) return report(place, "does not contain a required item");
    if (node.max_contains && count > *node.max_contains) return report(place, "contains too many of an item");
    return true;
  }

  bool check_string(const Node& node, std::string_view text, const Place& place) {
    bool good = true;
    if (node.min_length && count_characters(text) < *node.min_length)
      good = report(place, fmt::format("must have at least {} characters", *node.min_length));
    if (node.max_length && count_characters(text) > *node.max_length)
      good = report(place, fmt::format("must have at most {} characters", *node.max_length));
    if (node.pattern && !RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *node.pattern))
      good = report(place, fmt::format("must match {}", node.pattern_text));
    return good;
  }

  bool check_number(const Node& node, double number, const Place& place) {
    bool good = true;
    if (node.minimum && number < *node.minimum)
      good = report(place, fmt::format("must be at least {}", *node.minimum));
    if (node.maximum && number > *node.maximum)
      good = report(place, fmt::format("must be at most {}", *node.maximum));
    if (node.exclusive_minimum && number <= *node.exclusive_minimum)
      good = report(place, fmt::format("must be more than {}", *node.exclusive_minimum));
    if (node.exclusive_maximum && number >= *node.exclusive_maximum)
      good = report(place, fmt::format("must be less than {}", *node.exclusive_maximum));
    if (node.multiple_of && *node.multiple_of > 0) {
      const double times = number / *node.multiple_of;
      if (std::abs(times - std::round(times)) > 1e-9)
        good = report(place, fmt::format("must be a multiple of {}", *node.multiple_of));
    }
    return good;
  }

  bool check_logic(const Node& node, const json::value& value, const Place& place) {
    bool good = true;
    for (const Node* part : node.all_of) good &= run(*part, value, place);
    if (!node.any_of.empty()) good &= check_any(node.any_of, value, place);
    if (!node.one_of.empty()) good &= check_one(node.one_of, value, place);
    if (node.negated && silently(*node.negated, value, place))
      good = report(place, "matches a schema that it must not match");
    if (node.condition) {
      const Node* branch = silently(*node.condition, value, place) ? node.then_node : node.else_node;
      if (branch) good &= run(*branch, value, place);
    }
    return good;
  }

  bool check_any(const std::vector<const Node*>& nodes, const json::value& value, const Place& place) {
    for (const Node* node : nodes)
      if (silently(*node, value, place)) return true;
    if (nodes.size() == 1) return run(*nodes.front(), value, place);
    return report(place, "matches none of the allowed schemas");
  }

  bool check_one(const std::vector<const Node*>& nodes, const json::value& value, const Place& place) {
    std::size_t count = 0;
    for (const Node* node : nodes) count += silently(*node, value, place) ? 1 : 0;
    if (count == 1) return true;
    return report(place, count == 0 ? "matches none of the allowed schemas"
                                    : "matches more than one of the exclusive schemas");
  }

  bool silently(const Node& node, const json::value& value, const Place& place) {
    ++silent_;
    const bool good = run(node, value, place);
    --silent_;
    return good;
  }

  bool report(const Place& place, std::string message) {
    if (silent_ == 0 && problems.size() < max_problems_)
      problems.push_back({place.text(), std::move(message)});
    return false;
  }

  std::size_t max_problems_;
  std::size_t steps_ = 0;
  int depth_ = 0;
  int silent_ = 0;
};

}  // namespace

std::vector<SchemaProblem> check(const Node& root, const json::value& value, std::size_t max_problems) {
  Check check(max_problems);
  check.run(root, value, Place{});
  return std::move(check.problems);
}

}  // namespace relay::protocol::schema
