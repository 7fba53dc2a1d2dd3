// Tool: what a client is told about a tool, and ToolResult: what a call of it gives back. Plain values. What
// an upstream server said is kept as its own bytes (`raw`) and passed on; the other members are then for
// looking at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/content.h"

namespace relay::protocol {

/// Hints for people and models. A client must not rely on them, and neither do we: tiers live in policy.
struct ToolAnnotations {
  std::string title;
  std::optional<bool> read_only;
  std::optional<bool> destructive;
  std::optional<bool> idempotent;
  std::optional<bool> open_world;
};

/// Whether a call may become a task: an answer that the client comes back for.
enum class TaskSupport : std::uint8_t { forbidden, optional, required };
/// When a call that may be a task becomes one: before its handler starts, or when the handler says so.
enum class TaskStart : std::uint8_t { at_once, when_told };

struct Tool {
  std::string name;
  std::string title;
  std::string description;
  JsonText input_schema = JsonText::trusted(R"({"type":"object"})");
  std::optional<JsonText> output_schema;
  ToolAnnotations annotations;
  std::vector<Icon> icons;
  TaskSupport task_support = TaskSupport::forbidden;
  TaskStart task_start = TaskStart::at_once;
  json::object meta;
  /// A description from elsewhere, passed on byte for byte; the fields above are then only looked at, not
  /// written, except for the name, which replaces the one in it.
  std::optional<JsonText> raw;
};

struct ToolResult {
  std::vector<Content> content;
  /// When content is empty the text of this is sent as content too, so that every client sees the same
  /// answer.
  std::optional<json::value> structured;
  bool is_error = false;
  json::object meta;
  /// A whole result from elsewhere, passed on byte for byte; content, structured and meta are then not looked
  /// at.
  std::optional<JsonText> raw;

  static ToolResult text(std::string text);
  static ToolResult error(std::string text);
  static ToolResult value(json::value structured);
};

void append_json(std::string& out, const Tool& tool, Revision revision);
/// The members of a result without the braces, so that a dispatcher adds its own:
/// `"content":[...],"isError":true`.
void append_members(std::string& out, const ToolResult& result, Revision revision);

}  // namespace relay::protocol
