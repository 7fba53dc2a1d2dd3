#include "codemode/catalog_files.h"

#include <fmt/format.h>

#include "codemode/python_stub.h"
#include "codemode/stub_text.h"
#include "codemode/typescript.h"

namespace relay::codemode {
namespace {

constexpr std::size_t kSentenceBytes = 200;

struct ToolShapes {
  Shape input;
  std::optional<Shape> output;
  std::string description;
};

Shape shape_of_text(std::string_view schema) {
  const auto parsed = json::parse(schema);
  return parsed ? shape_of(*parsed) : Shape{};
}

ToolShapes shapes_of(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned) {
  ToolShapes shapes{
      shape_of_text(tool.input_schema), {}, tool.description.empty() ? tool.title : tool.description};
  if (shapes.input.kind == Shape::Kind::any) shapes.input.kind = Shape::Kind::object;
  const OutputDoc output = output_of(book, tool, learned);
  if (!output.schema.empty()) shapes.output = shape_of_text(output.schema);
  if (output.learned_from > 0)
    shapes.description += fmt::format("\n\nReturns: learned from {} result{}, not declared by the server.",
                                      output.learned_from, output.learned_from == 1 ? "" : "s");
  return shapes;
}

std::string method_of(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned) {
  const ToolShapes shapes = shapes_of(book, tool, learned);
  std::string method = typescript_method(tool.alias, shapes.description, shapes.input,
                                         shapes.output ? &*shapes.output : nullptr, "  ");
  if (method.size() <= limits::kStubBytes) return method;
  Shape open;
  open.kind = Shape::Kind::object;
  open.parts.emplace_back();
  return typescript_method(tool.alias,
                           shapes.description + "\n\nToo large to show: mcp.describe gives the schema.", open,
                           nullptr, "  ");
}

std::string function_of(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned,
                        PythonStub& stub) {
  const ToolShapes shapes = shapes_of(book, tool, learned);
  std::string function =
      stub.function(tool.alias, shapes.description, shapes.input, shapes.output ? &*shapes.output : nullptr);
  if (function.size() <= limits::kStubBytes) return function;
  return fmt::format(
      "def {}(**arguments: Any) -> Any:\n    \"\"\"Too large to show: query_tool_docs gives the "
      "schema.\"\"\"\n    ...\n",
      tool.alias);
}

std::string one_line(std::string_view text, std::size_t max_bytes) {
  return first_sentence(text, max_bytes);
}

// Interfaces of one name are one interface to TypeScript: each file adds to the same.
std::string in_interface(const ToolCatalog& book, const std::string& methods) {
  return fmt::format("interface Mcp {{ {0}: mcp_{0} }}\ninterface mcp_{0} {{\n{1}}}\n", book.alias, methods);
}

std::string example_of(const ToolCatalog& book, const ToolDoc& tool) {
  return fmt::format("// await mcp.{}.{}({{...}})\n", book.alias, tool.alias);
}

}  // namespace

std::string_view typescript_base() {
  return R"(/** The MCP servers of this run: await mcp.<server>.<tool>({...}). Each server is a global too. */
interface Mcp {
  call(server: string, tool: string, args?: object): Promise<unknown>;
  /** Ranks tools by words. A property `missing` names servers that did not answer in time. */
  search(query: string, options?: { limit?: number; server?: string; detail?: "summary" | "full" }): Promise<{ server: string; tool: string; description: string; call: string }[]>;
  /** One tool with its schemas and declarations, or a server with its tools. */
  describe(server: string, tool?: string): Promise<any>;
  servers(): Promise<{ name: string; alias: string; description: string; loaded: boolean; state: string }[]>;
  tools(server: string): Promise<{ name: string; alias: string; description: string; inputSchema: object; outputSchema?: object }[]>;
}
declare const mcp: Mcp;
/** What a failed call throws. */
declare class MCPError extends Error { server: string; tool: string; type?: string }
)";
}

std::string typescript_of(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned) {
  return example_of(book, tool) + in_interface(book, method_of(book, tool, learned));
}

std::string typescript_index(const ToolCatalog& book, const LearnedTypes& learned) {
  std::string methods;
  std::size_t left_out = 0;
  for (const ToolDoc& tool : book.tools) {
    if (methods.size() > limits::kIndexBytes)
      ++left_out;
    else
      methods += method_of(book, tool, learned);
  }
  if (left_out > 0) methods += fmt::format("  // {} more: each has a file of its own\n", left_out);
  return fmt::format("// {}: {} tools. await mcp.{}.<tool>({{...}})\n", one_line(book.server, 100),
                     book.tools.size(), book.alias) +
         in_interface(book, methods);
}

std::string python_of(const ToolCatalog& book, const ToolDoc& tool, const LearnedTypes& learned) {
  PythonStub stub;
  return fmt::format("# mcp_{}.{}(...), plain or awaited\n{}\n{}", book.alias, tool.alias, python_stub_head(),
                     function_of(book, tool, learned, stub));
}

std::string python_index(const ToolCatalog& book, const LearnedTypes& learned) {
  PythonStub stub;
  std::string functions;
  std::size_t left_out = 0;
  for (const ToolDoc& tool : book.tools) {
    if (functions.size() > limits::kIndexBytes)
      ++left_out;
    else
      functions += "\n" + function_of(book, tool, learned, stub);
  }
  if (left_out > 0) functions += fmt::format("\n# {} more: each has a file of its own\n", left_out);
  return fmt::format("# {}: mcp_{}.<tool>(...), plain or awaited; from mcp.servers.{} import *\n{}{}",
                     one_line(book.server, 100), book.alias, book.alias, python_stub_head(), functions);
}

std::string readme_of(const ToolCatalog& book) {
  std::string out = fmt::format("# {}\n\n", markdown(one_line(book.server, 100)));
  if (!book.description.empty()) out += markdown(one_line(book.description, limits::kKiB)) + "\n\n";
  out += fmt::format(
      "JavaScript: `await mcp.{0}.<tool>({{...}})` · Python: `mcp_{0}.<tool>(...)` · types: `index.d.ts`, "
      "`stubs.pyi`, one file per tool\n",
      book.alias);
  if (!book.instructions.empty())
    out += "\nThe server says:\n\n" + indented(printable(book.instructions, limits::kStubTextBytes), "    ");
  out += fmt::format("\n## {} tools\n\n", book.tools.size());
  for (const ToolDoc& tool : book.tools) {
    if (out.size() > limits::kIndexBytes) break;
    out += fmt::format(
        "- `{}` {}\n", tool.alias,
        markdown(one_line(tool.description.empty() ? tool.title : tool.description, kSentenceBytes)));
  }
  return out;
}

std::string readme_of_all(const std::vector<ServerLine>& servers) {
  std::string out =
      "# MCP servers\n\nCode calls their tools: JavaScript `await mcp.<server>.<tool>({...})`, Python "
      "`mcp_<server>.<tool>(...)`. Find a tool with "
      "`mcp.search(\"words\")`, or read `/mcps/<server>/README.md` and the declarations beside it.\n\n";
  if (servers.empty()) out += "None is configured for code.\n";
  for (const ServerLine& server : servers) {
    out += fmt::format("- `{}` {}", server.alias, markdown(one_line(server.name, 100)));
    if (!server.description.empty()) out += ": " + markdown(one_line(server.description, kSentenceBytes));
    out += fmt::format(" ({})\n", markdown(one_line(server.state, kSentenceBytes)));
  }
  return out;
}

}  // namespace relay::codemode
