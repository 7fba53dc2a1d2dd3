#include "codemode/tool_answers.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "codemode/catalog_files.h"
#include "codemode/stub_text.h"
#include "protocol/json_writer.h"

namespace relay::codemode {
namespace {

constexpr std::size_t kSummaryBytes = 300;

void write_schemas(protocol::ObjectWriter& writer, const ToolCatalog& book, const ToolDoc& tool,
                   const LearnedTypes& learned) {
  writer.raw("inputSchema", tool.input_schema);
  const OutputDoc output = output_of(book, tool, learned);
  if (!output.schema.empty())
    writer.raw(output.learned_from > 0 ? "learnedOutputSchema" : "outputSchema", output.schema);
  if (output.learned_from > 0) writer.raw("learnedFrom", fmt::format("{}", output.learned_from));
}

std::string write_listed(const ToolCatalog& book, const ToolDoc& tool, ToolDetail detail,
                         const LearnedTypes& learned) {
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.text("name", tool.name);
  writer.text("alias", tool.alias);
  if (detail != ToolDetail::names)
    writer.text("description", detail == ToolDetail::full ? tool.description
                                                          : first_sentence(tool.description, kSummaryBytes));
  if (detail == ToolDetail::full) write_schemas(writer, book, tool, learned);
  writer.finish();
  return out;
}

void name_tool(protocol::ObjectWriter& writer, const ToolCatalog& book, const ToolDoc& tool) {
  writer.text("server", book.server);
  writer.text("serverAlias", book.alias);
  writer.text("tool", tool.name);
  writer.text("toolAlias", tool.alias);
  writer.text("call", fmt::format("mcp.{}.{}", book.alias, tool.alias));
}

std::string write_hit(const ToolCatalog& book, const ToolDoc& tool, ToolDetail detail,
                      const LearnedTypes& learned) {
  std::string out;
  protocol::ObjectWriter writer(out);
  name_tool(writer, book, tool);
  writer.text("description", detail == ToolDetail::full ? tool.description
                                                        : first_sentence(tool.description, kSummaryBytes));
  if (detail == ToolDetail::full) write_schemas(writer, book, tool, learned);
  writer.finish();
  return out;
}

void append_item(std::string& list, std::string_view item) {
  if (list.size() > 1) list += ',';
  list += item;
}

// Without words: the first tools, in the order of servers and tools.
std::vector<Hit> find_hits(const std::vector<std::shared_ptr<const ToolCatalog>>& books,
                           std::string_view query, std::size_t limit) {
  if (!trim_ascii(query).empty()) {
    Ranking ranking;
    for (const auto& book : books) ranking.add(book->words);
    return ranking.find(query, limit);
  }
  std::vector<Hit> first;
  for (std::size_t book = 0; book < books.size(); ++book)
    for (std::size_t tool = 0; tool < books[book]->tools.size() && first.size() < limit; ++tool)
      first.push_back({.index = book, .tool = tool});
  return first;
}

}  // namespace

std::string write_tools(const ToolCatalog& book, ToolDetail detail, const LearnedTypes& learned) {
  std::string list = "[";
  for (const ToolDoc& tool : book.tools) append_item(list, write_listed(book, tool, detail, learned));
  return "{\"tools\":" + list + "]}";
}

std::string write_server(const ToolCatalog& book, const LearnedTypes& learned) {
  std::string list = "[";
  for (const ToolDoc& tool : book.tools)
    append_item(list, write_listed(book, tool, ToolDetail::summary, learned));
  std::string out;
  protocol::ObjectWriter writer(out);
  writer.text("server", book.server);
  writer.text("alias", book.alias);
  writer.text_if("description", book.description);
  writer.text_if("instructions", book.instructions);
  writer.raw("tools", list + "]");
  writer.finish();
  return out;
}

std::string write_tool(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned) {
  std::string out;
  protocol::ObjectWriter writer(out);
  name_tool(writer, book, tool);
  writer.text("description", tool.description);
  write_schemas(writer, book, tool, learned);
  writer.text("typescript", typescript_of(book, tool, learned));
  writer.text("python", python_of(book, tool, learned));
  writer.finish();
  return out;
}

std::string write_hits(const std::vector<std::shared_ptr<const ToolCatalog>>& books, std::string_view query,
                       std::size_t limit, ToolDetail detail, const std::vector<std::string>& missing,
                       const LearnedTypes& learned) {
  std::string list = "[";
  for (const Hit& hit : find_hits(books, query, limit))
    append_item(list, write_hit(*books[hit.index], books[hit.index]->tools[hit.tool], detail, learned));
  std::string out = "{\"results\":" + list + "]";
  if (!missing.empty()) out += ",\"missing\":" + json::write(json::array(missing.begin(), missing.end()));
  return out + "}";
}

std::optional<json::value> find_sample(const json::value& result) {
  const json::object* object = result.if_object();
  if (!object) return {};
  if (const json::value* structured = json::find(*object, "structuredContent");
      structured && structured->is_structured())
    return *structured;
  const json::array* content = json::find_array(*object, "content");
  if (!content || content->size() != 1 || !content->front().is_object()) return {};
  const json::object& block = content->front().get_object();
  const auto text =
      json::find_string(block, "type") == "text" ? json::find_string(block, "text") : std::nullopt;
  if (!text || text->empty() || (text->front() != '{' && text->front() != '[')) return {};
  auto parsed = json::parse(*text);
  return parsed && parsed->is_structured() ? std::optional(*std::move(parsed)) : std::nullopt;
}

}  // namespace relay::codemode
