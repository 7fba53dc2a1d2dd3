#include "upstream/offer_items.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/glob.h"
#include "base/printable.h"
#include "protocol/modern_headers.h"

namespace relay::upstream {
namespace {

using protocol::JsonText;

constexpr std::size_t kShownBytes = 80;

std::string text_of(const json::object& object, std::string_view key) {
  return std::string(json::find_string(object, key).value_or(std::string_view()));
}

// What a model reads of an item: descriptions and titles, at any depth. True when something was left out of
// one.
bool clean_words(json::value& value);

bool clean_words(json::object& object) {
  bool has_changed = false;
  for (auto& member : object) {
    const bool is_words = member.key() == "description" || member.key() == "title";
    if (!is_words || !member.value().is_string()) {
      has_changed |= clean_words(member.value());
      continue;
    }
    const std::string_view words = json::view(member.value().get_string());
    if (!has_invisible(words)) continue;
    member.value() = visible_text(words);
    has_changed = true;
  }
  return has_changed;
}

bool clean_words(json::value& value) {
  bool has_changed = false;
  if (value.is_object()) has_changed = clean_words(value.get_object());
  if (value.is_array())
    for (json::value& element : value.get_array()) has_changed |= clean_words(element);
  return has_changed;
}

struct ParsedItem {
  json::object object;
  JsonText text;  // as it came, unless words in it had to be cleaned
};

// A name that cannot be seen whole could pass for another one, and a cleaned one is none that the server
// knows.
Result<ParsedItem> parse_item(const JsonText& text, std::string_view what, std::string_view key) {
  if (text.text().size() > limits::kUpstreamToolBytes)
    return fail(too_large(fmt::format("{} {} is described with {} bytes, more than {}; it is left out", what,
                                      utf8_prefix(text.text(), kShownBytes), text.text().size(),
                                      limits::kUpstreamToolBytes)));
  RELAY_TRY(json::value value, json::parse(text.text()));
  if (!value.is_object() || text_of(value.get_object(), key).empty())
    return fail(invalid(
        fmt::format("a {} without a {} is left out: {}", what, key, utf8_prefix(text.text(), kShownBytes))));
  const std::string name = text_of(value.get_object(), key);
  if (has_invisible(name) || name.contains('\n') || name.contains('\t'))
    return fail(invalid(fmt::format("{} {} is left out: its {} has characters that cannot be seen", what,
                                    utf8_prefix(printable(name, '?'), kShownBytes), key)));
  bool has_changed = clean_words(value);
  if (json::value* label = key == "name" ? nullptr : value.get_object().if_contains("name");
      label && label->is_string() && has_invisible(json::view(label->get_string()))) {
    *label = visible_text(json::view(label->get_string()));
    has_changed = true;
  }
  JsonText kept = has_changed ? JsonText::from(value) : text;
  return ParsedItem{std::move(value.get_object()), std::move(kept)};
}

protocol::ToolAnnotations read_annotations(const json::object& tool) {
  const json::object* from = json::find_object(tool, "annotations");
  if (!from) return {};
  return {.title = text_of(*from, "title"),
          .read_only = json::find_bool(*from, "readOnlyHint"),
          .destructive = json::find_bool(*from, "destructiveHint"),
          .idempotent = json::find_bool(*from, "idempotentHint"),
          .open_world = json::find_bool(*from, "openWorldHint")};
}

protocol::TaskSupport read_task_support(const json::object& tool) {
  const json::object* execution = json::find_object(tool, "execution");
  const auto support = execution ? json::find_string(*execution, "taskSupport") : std::nullopt;
  if (support == "required") return protocol::TaskSupport::required;
  return support == "optional" ? protocol::TaskSupport::optional : protocol::TaskSupport::forbidden;
}

std::optional<JsonText> member_text(const JsonText& text, std::string_view key) {
  const auto bytes = json::find_text(text.text(), key);
  if (!bytes || !bytes->starts_with('{')) return std::nullopt;
  return JsonText::trusted(std::string(*bytes));
}

json::object meta_of(const json::object& item) {
  const json::object* meta = json::find_object(item, "_meta");
  return meta ? *meta : json::object();
}

std::vector<protocol::PromptArgument> read_arguments(const json::object& prompt) {
  std::vector<protocol::PromptArgument> arguments;
  const json::array* list = json::find_array(prompt, "arguments");
  for (const json::value& item : list ? *list : json::array()) {
    if (!item.is_object()) continue;
    const json::object& object = item.get_object();
    arguments.push_back({.name = text_of(object, "name"),
                         .title = text_of(object, "title"),
                         .description = text_of(object, "description"),
                         .required = json::find_bool(object, "required").value_or(false)});
  }
  return arguments;
}

// What entries of every list have. The caller reads the member that names the entry, which differs.
template <class Item>
void read_common(Item& item, const json::object& object, const JsonText& text) {
  item.name = text_of(object, "name");
  item.title = text_of(object, "title");
  item.description = text_of(object, "description");
  item.meta = meta_of(object);
  item.raw = text;
}

}  // namespace

Result<protocol::Tool> parse_tool(const JsonText& received) {
  RELAY_TRY(const ParsedItem parsed, parse_item(received, "tool", "name"));
  protocol::Tool tool;
  read_common(tool, parsed.object, parsed.text);
  if (auto schema = member_text(parsed.text, "inputSchema")) tool.input_schema = std::move(*schema);
  tool.output_schema = member_text(parsed.text, "outputSchema");
  tool.annotations = read_annotations(parsed.object);
  tool.task_support = read_task_support(parsed.object);
  return tool;
}

Result<std::optional<protocol::Resource>> parse_resource(const JsonText& received) {
  RELAY_TRY(const ParsedItem parsed, parse_item(received, "resource", "uri"));
  protocol::Resource resource;
  resource.uri = text_of(parsed.object, "uri");
  read_common(resource, parsed.object, parsed.text);
  resource.mime_type = text_of(parsed.object, "mimeType");
  resource.size = json::find_int(parsed.object, "size");
  return resource;
}

Result<std::optional<protocol::ResourceTemplate>> parse_template(const JsonText& received) {
  RELAY_TRY(const ParsedItem parsed, parse_item(received, "resource template", "uriTemplate"));
  protocol::ResourceTemplate item;
  item.uri_template = text_of(parsed.object, "uriTemplate");
  read_common(item, parsed.object, parsed.text);
  item.mime_type = text_of(parsed.object, "mimeType");
  return item;
}

Result<std::optional<protocol::Prompt>> parse_prompt(const JsonText& received) {
  RELAY_TRY(const ParsedItem parsed, parse_item(received, "prompt", "name"));
  protocol::Prompt prompt;
  read_common(prompt, parsed.object, parsed.text);
  prompt.arguments = read_arguments(parsed.object);
  return prompt;
}

bool is_admitted(const ServerSpec& spec, std::string_view tool) {
  const auto matches = [&](const std::string& glob) { return name_matches(glob, tool); };
  if (std::ranges::any_of(spec.deny, matches)) return false;
  return spec.allow.empty() || std::ranges::any_of(spec.allow, matches);
}

Result<void> check_header_params(const protocol::Tool& tool) {
  const auto params = protocol::parse_header_params(tool.input_schema.value());
  if (!params)
    return fail(invalid(fmt::format("tool {} is left out: {}", tool.name, params.error().message)));
  return {};
}

void append_items(std::vector<JsonText>& items, std::string_view object, std::string_view member) {
  const auto list = json::find_text(object, member);
  if (!list || !list->starts_with('[')) return;
  for (const std::string_view item : json::split_array(*list)) {
    if (items.size() >= limits::kUpstreamItems) return;
    items.push_back(JsonText::trusted(std::string(item)));
  }
}

std::shared_ptr<const std::vector<protocol::Tool>> read_tools(const std::vector<JsonText>& texts,
                                                              const ServerSpec& spec, HeaderParams params,
                                                              std::vector<std::string>& oddities) {
  std::set<std::string> names;
  return read_items<protocol::Tool>(
      texts, oddities, [&](const JsonText& text) -> Result<std::optional<protocol::Tool>> {
        RELAY_TRY(protocol::Tool tool, parse_tool(text));
        if (!is_admitted(spec, tool.name)) return std::optional<protocol::Tool>();
        if (params == HeaderParams::check) RELAY_CHECK(check_header_params(tool));
        if (!names.insert(tool.name).second)
          return fail(invalid(fmt::format("tool {} is listed twice; the first one counts", tool.name)));
        return tool;
      });
}

}  // namespace relay::upstream
