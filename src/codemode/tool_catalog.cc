#include "codemode/tool_catalog.h"

#include <set>

#include "base/nearest_name.h"
#include "codemode/alias.h"

namespace relay::codemode {
namespace {

// Names and descriptions of the parameters, one level deep: what people search for.
std::string parameter_words(const json::value& schema) {
  std::string words;
  const json::object* object = schema.if_object();
  const json::object* properties = object ? json::find_object(*object, "properties") : nullptr;
  for (const auto& property : properties ? *properties : json::object()) {
    words.append(property.key()).push_back(' ');
    const json::object* member = property.value().if_object();
    if (const auto text = member ? json::find_string(*member, "description") : std::nullopt)
      words.append(text->substr(0, 200)).push_back(' ');
    if (words.size() > limits::kStubTextBytes) break;
  }
  return words;
}

ToolDoc make_doc(const protocol::Tool& tool, std::string alias) {
  ToolDoc doc;
  doc.name = tool.name;
  doc.alias = std::move(alias);
  doc.title = !tool.title.empty() ? tool.title : tool.annotations.title;
  doc.description = tool.description;
  doc.input_schema = tool.input_schema.text();
  if (tool.output_schema) doc.output_schema = tool.output_schema->text();
  doc.input_hash = schema_hash(doc.input_schema);
  return doc;
}

// A spelling that means two tools means none.
void note_spelling(ToolCatalog& book, const std::string& spelling, std::size_t tool,
                   std::set<std::string>& ambiguous) {
  const auto [known, is_new] = book.by_spelling.emplace(spelling, tool);
  if (is_new || known->second == tool) return;
  ambiguous.insert(spelling);
}

}  // namespace

const ToolDoc* ToolCatalog::find(std::string_view name) const {
  if (const auto exact = by_name.find(name); exact != by_name.end()) return &tools[exact->second];
  for (const ToolDoc& tool : tools)
    if (tool.alias == name) return &tool;
  const auto spelled = by_spelling.find(plain_spelling(name));
  return spelled == by_spelling.end() ? nullptr : &tools[spelled->second];
}

std::vector<std::string> ToolCatalog::tool_names() const {
  std::vector<std::string> names;
  for (const ToolDoc& tool : tools) names.push_back(tool.name);
  return names;
}

std::shared_ptr<const ToolCatalog> make_handbook(const upstream::ServerSpec& spec, std::string alias,
                                                 const upstream::Offer& offer) {
  auto book = std::make_shared<ToolCatalog>();
  book->server = spec.name;
  book->alias = std::move(alias);
  book->description = !spec.description.empty()
                          ? spec.description
                          : std::string(json::find_string(offer.server, "description").value_or(""));
  book->instructions = offer.instructions;
  std::set<std::string, std::less<>> taken;
  std::set<std::string> ambiguous;
  for (const protocol::Tool& tool : *offer.tools.items) {
    ToolDoc doc = make_doc(tool, free_tool_alias(tool.name, taken));
    const std::size_t number = book->tools.size();
    book->words.add({spec.name, doc.name, doc.description, parameter_words(tool.input_schema.value())});
    book->by_name.emplace(doc.name, number);
    note_spelling(*book, plain_spelling(doc.name), number, ambiguous);
    book->tools.push_back(std::move(doc));
  }
  for (const std::string& spelling : ambiguous) book->by_spelling.erase(spelling);
  return book;
}

OutputDoc output_of(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned) {
  if (!tool.output_schema.empty()) return {tool.output_schema, 0};
  const auto known = learned.find({book.server, tool.name, tool.input_hash});
  return known ? OutputDoc{json::write(known->schema), known->samples} : OutputDoc{};
}

}  // namespace relay::codemode
