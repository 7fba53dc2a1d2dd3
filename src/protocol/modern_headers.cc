#include "protocol/modern_headers.h"

#include <charconv>
#include <set>

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::protocol {
namespace {

constexpr std::string_view kPrefix = "=?base64?";
constexpr std::string_view kSuffix = "?=";

bool is_sentinel(std::string_view value) {
  return value.size() >= kPrefix.size() + kSuffix.size() && value.starts_with(kPrefix) &&
         value.ends_with(kSuffix);
}

// Visible ASCII and inner blanks survive every proxy; blanks at the ends do not.
bool is_safe(std::string_view value) {
  if (value.empty() || value != trim_ascii(value)) return value.empty();
  return std::ranges::all_of(value, [](unsigned char c) { return (c >= 0x20 && c < 0x7f) || c == '\t'; });
}

bool is_token(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](unsigned char c) {
    return std::isalnum(c) != 0 || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

RpcError mismatch(std::string message) {
  return {code::kHeaderMismatch, std::move(message), {}};
}

// Collects the annotations; `path` is where we are. `reachable` ends where something other than `properties`
// is entered.
class AnnotationWalk {
 public:
  Result<void> walk(const json::value& schema, std::vector<std::string>& path, bool reachable) {
    if (const json::array* items = schema.if_array()) {
      for (const json::value& item : *items) RELAY_CHECK(walk(item, path, false));
      return {};
    }
    const json::object* members = schema.if_object();
    if (!members) return {};
    if (const json::value* name = json::find(*members, "x-mcp-header"))
      RELAY_CHECK(take(*members, *name, path, reachable));
    for (const auto& member : *members) {
      const std::string_view key(member.key().data(), member.key().size());
      if (key == "properties" && member.value().is_object()) {
        RELAY_CHECK(walk_properties(member.value().get_object(), path, reachable));
      } else if (key != "const" && key != "enum" && key != "default" && key != "examples") {
        RELAY_CHECK(walk(member.value(), path, false));
      }
    }
    return {};
  }
  std::vector<HeaderParam> found;

 private:
  Result<void> walk_properties(const json::object& properties, std::vector<std::string>& path,
                               bool reachable) {
    for (const auto& property : properties) {
      path.emplace_back(property.key().data(), property.key().size());
      RELAY_CHECK(walk(property.value(), path, reachable));
      path.pop_back();
    }
    return {};
  }
  Result<void> take(const json::object& schema, const json::value& name, const std::vector<std::string>& path,
                    bool reachable) {
    const auto type = json::find_string(schema, "type");
    if (!name.is_string() || !is_token(json::view(name.get_string())))
      return fail(invalid("x-mcp-header must be a header name"));
    if (!reachable || path.empty()) return fail(invalid("x-mcp-header stands where no plain property is"));
    if (type != "string" && type != "integer" && type != "boolean")
      return fail(invalid("x-mcp-header needs a property of type string, integer or boolean"));
    std::string text(json::view(name.get_string()));
    if (!seen_.insert(to_lower_ascii(text)).second)
      return fail(invalid("x-mcp-header names must differ: " + text));
    found.push_back({path, std::move(text)});
    return {};
  }
  std::set<std::string> seen_;
};

const json::value* find_at(const json::object& arguments, const std::vector<std::string>& path) {
  const json::object* here = &arguments;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    here = json::find_object(*here, path[i]);
    if (!here) return nullptr;
  }
  return json::find(*here, path.back());
}

bool equals_number(std::string_view text, std::int64_t number) {
  std::int64_t parsed = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (end.ec == std::errc() && end.ptr == text.data() + text.size()) return parsed == number;
  double approximate = 0;
  const auto spelled = std::from_chars(text.data(), text.data() + text.size(), approximate);
  return spelled.ec == std::errc() && spelled.ptr == text.data() + text.size() &&
         approximate == static_cast<double>(number);
}

bool says(std::string_view header, const json::value& value) {
  if (const json::string* text = value.if_string()) return header == json::view(*text);
  if (value.is_bool()) return header == (value.get_bool() ? "true" : "false");
  if (const std::int64_t* number = value.if_int64()) return equals_number(header, *number);
  return header == json::write(value);
}

std::optional<RpcError> check_equal(std::string_view name, std::string_view expected,
                                    const FindHeader& find) {
  const auto given = find(name);
  if (!given) return mismatch(fmt::format("the header {} is missing", name));
  const auto decoded = find_decoded_header_value(trim_ascii(*given));
  if (!decoded) return mismatch(fmt::format("the header {} holds no valid base64", name));
  if (*decoded != expected)
    return mismatch(fmt::format("the header {} does not say what the body says", name));
  return std::nullopt;
}

}  // namespace

Result<std::vector<HeaderParam>> parse_header_params(const json::value& input_schema) {
  AnnotationWalk walk;
  std::vector<std::string> path;
  RELAY_CHECK(walk.walk(input_schema, path, true));
  return std::move(walk.found);
}

std::string encode_header_value(std::string_view value) {
  if (is_safe(value) && !is_sentinel(value)) return std::string(value);
  return fmt::format("{}{}{}", kPrefix, to_base64(value), kSuffix);
}

std::optional<std::string> find_decoded_header_value(std::string_view value) {
  if (!is_sentinel(value)) {
    if (!is_safe(value)) return std::nullopt;
    return std::string(value);
  }
  value.remove_prefix(kPrefix.size());
  value.remove_suffix(kSuffix.size());
  auto decoded = find_base64(value);
  if (!decoded || !is_valid_utf8(*decoded)) return std::nullopt;
  return decoded;
}

std::optional<std::string_view> find_named_param(const Request& request) {
  std::string_view key;
  if (request.method == "tools/call" || request.method == "prompts/get") key = "name";
  if (request.method == "resources/read") key = "uri";
  if (request.method == "tasks/get" || request.method == "tasks/update" || request.method == "tasks/cancel")
    key = "taskId";
  return key.empty() ? std::nullopt : json::find_string(request.params, key);
}

std::optional<RpcError> check_standard_headers(const Request& request, std::string_view version,
                                               const FindHeader& find) {
  if (auto wrong = check_equal("MCP-Protocol-Version", version, find)) return wrong;
  if (auto wrong = check_equal("Mcp-Method", request.method, find)) return wrong;
  if (const auto name = find_named_param(request)) return check_equal("Mcp-Name", *name, find);
  return std::nullopt;
}

std::optional<RpcError> check_param_headers(const json::object& arguments,
                                            const std::vector<HeaderParam>& params, const FindHeader& find) {
  for (const HeaderParam& param : params) {
    const std::string name = "Mcp-Param-" + param.name;
    const auto given = find(name);
    const json::value* value = find_at(arguments, param.path);
    if (value && value->is_null()) value = nullptr;
    if (!value && !given) continue;
    if (!value) return mismatch(fmt::format("the header {} repeats an argument that is not there", name));
    if (!given) return mismatch(fmt::format("the header {} is missing", name));
    const auto decoded = find_decoded_header_value(trim_ascii(*given));
    if (!decoded) return mismatch(fmt::format("the header {} is not safe text and no valid base64", name));
    if (!says(*decoded, *value))
      return mismatch(fmt::format("the header {} does not say what the arguments say", name));
  }
  return std::nullopt;
}

}  // namespace relay::protocol
