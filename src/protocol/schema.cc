#include "protocol/schema.h"

#include <deque>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/bytes.h"
#include "protocol/schema_check.h"
#include "protocol/schema_node.h"

namespace relay::protocol {

using schema::bit;
using schema::Node;
using schema::Type;
using schema::TypeSet;

struct Schema::Compiled {
  json::value source;  // enum and const point into it
  std::deque<Node> nodes;
  const Node* root = nullptr;
};

namespace {

constexpr std::size_t kNodesMax = 10'000;

Result<TypeSet> parse_type(std::string_view name) {
  constexpr std::pair<std::string_view, TypeSet> kTypes[] = {
      {"null", bit(Type::null)},
      {"boolean", bit(Type::boolean)},
      {"object", bit(Type::object)},
      {"array", bit(Type::array)},
      {"string", bit(Type::string)},
      {"integer", bit(Type::integer)},
      {"number", static_cast<TypeSet>(bit(Type::number) | bit(Type::integer))}};
  for (const auto& [known, types] : kTypes)
    if (known == name) return types;
  return fail(invalid(fmt::format("schema: unknown type '{}'", name)));
}

std::unique_ptr<RE2> make_pattern(std::string_view text) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  auto pattern = std::make_unique<RE2>(re2::StringPiece(text.data(), text.size()), options);
  return pattern->ok() ? std::move(pattern) : nullptr;
}

class Compiler {
 public:
  explicit Compiler(Schema::Compiled& out) : out_(out) {}

  Result<const Node*> compile(const json::value& schema) {
    RELAY_TRY(const Node* root, node_of(schema));
    // Following one reference may find another.
    while (!unresolved_.empty()) {
      const auto [node, target] = unresolved_.back();
      unresolved_.pop_back();
      RELAY_TRY(node->ref, node_of(*target));
    }
    return root;
  }

  void index_anchors(const json::value& schema) {
    if (const json::array* items = schema.if_array())
      for (const json::value& item : *items) index_anchors(item);
    const json::object* members = schema.if_object();
    if (!members) return;
    if (const auto anchor = json::find_string(*members, "$anchor")) anchors_.emplace(*anchor, &schema);
    for (const auto& member : *members) index_anchors(member.value());
  }

 private:
  Result<const Node*> node_of(const json::value& schema) {
    if (const auto found = made_.find(&schema); found != made_.end()) return found->second;
    if (out_.nodes.size() >= kNodesMax) return fail(invalid("schema: too many subschemas"));
    Node& node = out_.nodes.emplace_back();
    made_.emplace(&schema, &node);
    if (schema.is_bool()) {
      node.never = !schema.get_bool();
      return &node;
    }
    if (!schema.is_object()) return fail(invalid("schema: expected an object or a boolean"));
    RELAY_CHECK(fill(node, schema.get_object()));
    return &node;
  }

  Result<void> fill(Node& node, const json::object& schema) {
    RELAY_CHECK(fill_types(node, schema));
    RELAY_CHECK(fill_object(node, schema));
    RELAY_CHECK(fill_array(node, schema));
    fill_scalars(node, schema);
    return fill_logic(node, schema);
  }

  Result<void> fill_types(Node& node, const json::object& schema) {
    node.any_of_values = json::find_array(schema, "enum");
    node.constant = json::find(schema, "const");
    if (const auto name = json::find_string(schema, "type")) {
      RELAY_TRY(node.types, parse_type(*name));
    } else if (const json::array* names = json::find_array(schema, "type")) {
      for (const json::value& item : *names) {
        RELAY_TRY(const TypeSet types, parse_type(item.is_string() ? json::view(item.get_string()) : ""));
        node.types |= types;
      }
    }
    return {};
  }

  Result<void> fill_object(Node& node, const json::object& schema) {
    if (const json::object* properties = json::find_object(schema, "properties"))
      for (const auto& member : *properties) {
        RELAY_TRY(const Node* child, node_of(member.value()));
        node.properties.push_back({std::string(member.key().data(), member.key().size()), child});
      }
    if (const json::object* patterns = json::find_object(schema, "patternProperties"))
      for (const auto& member : *patterns) {
        RELAY_TRY(const Node* child, node_of(member.value()));
        auto pattern = make_pattern({member.key().data(), member.key().size()});
        if (!pattern) return fail(invalid("schema: patternProperties has a pattern that cannot be checked"));
        node.pattern_properties.push_back({std::move(pattern), child});
      }
    RELAY_CHECK(child_of(schema, "additionalProperties", node.additional));
    RELAY_CHECK(child_of(schema, "propertyNames", node.property_names));
    node.required = texts_of(json::find(schema, "required"));
    node.min_properties = count_of(schema, "minProperties");
    node.max_properties = count_of(schema, "maxProperties");
    for (const std::string_view keyword : {"dependencies", "dependentRequired", "dependentSchemas"})
      RELAY_CHECK(fill_dependencies(node, json::find_object(schema, keyword)));
    return {};
  }

  Result<void> fill_dependencies(Node& node, const json::object* dependencies) {
    if (!dependencies) return {};
    for (const auto& member : *dependencies) {
      schema::Dependency dependency{std::string(member.key().data(), member.key().size()),
                                    texts_of(&member.value())};
      if (!member.value().is_array()) {
        RELAY_TRY(dependency.node, node_of(member.value()));
      }
      node.dependencies.push_back(std::move(dependency));
    }
    return {};
  }

  Result<void> fill_array(Node& node, const json::object& schema) {
    const json::value* items = json::find(schema, "items");
    const bool is_draft7_tuple = items && items->is_array();
    const json::array* prefix =
        is_draft7_tuple ? &items->get_array() : json::find_array(schema, "prefixItems");
    if (prefix) RELAY_CHECK(children_of(*prefix, node.prefix_items));
    RELAY_CHECK(child_of(schema, is_draft7_tuple ? "additionalItems" : "items", node.items));
    RELAY_CHECK(child_of(schema, "contains", node.contains));
    node.min_contains = count_of(schema, "minContains");
    node.max_contains = count_of(schema, "maxContains");
    node.min_items = count_of(schema, "minItems");
    node.max_items = count_of(schema, "maxItems");
    node.unique_items = json::find_bool(schema, "uniqueItems").value_or(false);
    return {};
  }

  static void fill_scalars(Node& node, const json::object& schema) {
    node.min_length = count_of(schema, "minLength");
    node.max_length = count_of(schema, "maxLength");
    if (const auto pattern = json::find_string(schema, "pattern")) {
      node.pattern = make_pattern(*pattern);
      node.pattern_text = *pattern;
    }
    node.minimum = json::find_number(schema, "minimum");
    node.maximum = json::find_number(schema, "maximum");
    node.exclusive_minimum = json::find_number(schema, "exclusiveMinimum");
    node.exclusive_maximum = json::find_number(schema, "exclusiveMaximum");
    node.multiple_of = json::find_number(schema, "multipleOf");
  }

  Result<void> fill_logic(Node& node, const json::object& schema) {
    for (const auto& [keyword, list] :
         {std::pair("allOf", &node.all_of), {"anyOf", &node.any_of}, {"oneOf", &node.one_of}})
      if (const json::array* items = json::find_array(schema, keyword))
        RELAY_CHECK(children_of(*items, *list));
    RELAY_CHECK(child_of(schema, "not", node.negated));
    RELAY_CHECK(child_of(schema, "if", node.condition));
    RELAY_CHECK(child_of(schema, "then", node.then_node));
    RELAY_CHECK(child_of(schema, "else", node.else_node));
    const auto ref = json::find_string(schema, "$ref");
    if (!ref) return {};
    RELAY_TRY(const json::value* target, target_of(*ref));
    unresolved_.emplace_back(&node, target);
    return {};
  }

  Result<const json::value*> target_of(std::string_view ref) const {
    if (!ref.starts_with('#'))
      return fail(invalid(fmt::format("schema: $ref '{}' leaves the document", ref)));
    ref.remove_prefix(1);
    if (const auto anchor = anchors_.find(std::string(ref)); anchor != anchors_.end()) return anchor->second;
    boost::system::error_code error;
    const json::value* target = out_.source.find_pointer({ref.data(), ref.size()}, error);
    if (!target || error) return fail(invalid(fmt::format("schema: $ref '#{}' leads nowhere", ref)));
    return target;
  }

  Result<void> child_of(const json::object& schema, std::string_view keyword, const Node*& out) {
    if (const json::value* child = json::find(schema, keyword)) {
      RELAY_TRY(out, node_of(*child));
    }
    return {};
  }

  Result<void> children_of(const json::array& items, std::vector<const Node*>& out) {
    for (const json::value& item : items) {
      RELAY_TRY(const Node* child, node_of(item));
      out.push_back(child);
    }
    return {};
  }

  static std::vector<std::string> texts_of(const json::value* value) {
    std::vector<std::string> texts;
    if (!value || !value->is_array()) return texts;
    for (const json::value& item : value->get_array())
      if (item.is_string()) texts.emplace_back(json::view(item.get_string()));
    return texts;
  }

  static std::optional<std::uint64_t> count_of(const json::object& schema, std::string_view keyword) {
    const auto number = json::find_number(schema, keyword);
    return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
  }

  Schema::Compiled& out_;
  std::unordered_map<const json::value*, Node*> made_;
  std::map<std::string, const json::value*> anchors_;
  std::vector<std::pair<Node*, const json::value*>> unresolved_;
};

}  // namespace

std::string describe(const std::vector<SchemaProblem>& problems) {
  std::string text;
  for (const SchemaProblem& problem : problems) {
    if (!text.empty()) text += "; ";
    text += problem.path + ": " + problem.message;
  }
  return text;
}

Result<Schema> Schema::compile(const json::value& schema) {
  auto compiled = std::make_unique<Compiled>();
  compiled->source = schema;
  Compiler compiler(*compiled);
  compiler.index_anchors(compiled->source);
  RELAY_TRY(compiled->root, compiler.compile(compiled->source));
  return Schema(std::move(compiled));
}

Schema::Schema(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;
Schema::~Schema() = default;

std::vector<SchemaProblem> Schema::check(const json::value& value, std::size_t max_problems) const {
  return schema::check(*compiled_->root, value, max_problems);
}

std::vector<SchemaProblem> Schema::check(const json::object& value, std::size_t max_problems) const {
  return check(json::value(value), max_problems);
}

}  // namespace relay::protocol
