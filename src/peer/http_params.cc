#include "peer/http_params.h"

#include "peer/peer_params.h"
#include "protocol/modern_headers.h"

namespace relay::peer {
namespace {

std::string_view named_member(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") return "taskId";
  return {};
}

// The bytes of a nested property: numbers are repeated as they are spelled.
std::optional<std::string_view> find_at(std::string_view arguments, const std::vector<std::string>& path) {
  std::optional<std::string_view> here = arguments;
  for (const std::string& key : path) {
    if (!here || !here->starts_with('{')) return std::nullopt;
    here = json::find_text(*here, key);
  }
  return here;
}

// Nothing for what a header cannot repeat: null, objects, arrays.
std::optional<std::string> find_field_value(std::string_view text) {
  if (text == "null" || text.starts_with('{') || text.starts_with('[')) return std::nullopt;
  if (!text.starts_with('"')) return std::string(text);
  const auto parsed = json::parse(text);
  if (!parsed) return std::nullopt;
  return protocol::encode_header_value(json::view(parsed->as_string()));
}

void add_arguments(HeaderFields& fields, std::string_view params, const protocol::JsonText& input_schema) {
  const auto arguments = json::find_text(params, "arguments");
  const auto marked = protocol::parse_header_params(input_schema.value());
  if (!arguments || !marked) return;
  for (const protocol::HeaderParam& param : *marked) {
    const auto text = find_at(*arguments, param.path);
    if (auto value = text ? find_field_value(*text) : std::nullopt)
      fields.emplace_back("Mcp-Param-" + param.name, *std::move(value));
  }
}

}  // namespace

HeaderFields repeated_fields(std::string_view method, std::string_view params,
                             const std::optional<protocol::JsonText>& input_schema) {
  HeaderFields fields;
  if (const std::string_view key = named_member(method); !key.empty())
    fields.emplace_back("Mcp-Name", protocol::encode_header_value(text_member(params, key)));
  if (method == "tools/call" && input_schema) add_arguments(fields, params, *input_schema);
  return fields;
}

}  // namespace relay::peer
