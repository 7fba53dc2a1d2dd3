// ToolDefinition: what clients are told about one of Relay's own tools. It is read from a JSON file of
// src/tools/schemas with the members of a tool in tools/list: name, title, description, inputSchema,
// outputSchema, annotations.
//
// A definition is made at start, filled in with what the configuration decides, and turned into a
// protocol::Tool. It lives no longer than that. A file that is not a definition is an error of parse(); a
// test parses every file, so a user never meets it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "protocol/tool.h"
#include "vfs/mount.h"

namespace relay::tools {

class ToolDefinition {
 public:
  /// Fails when the text is not JSON, has a member that it should not have, or lacks the name, the
  /// description or the input schema.
  static Result<ToolDefinition> parse(std::string_view text);

  /// Says what holds when a parameter is left out. Fails when the tool has no such parameter.
  Result<void> set_default(std::string_view parameter, json::value value);
  /// Replaces the sentence about a parameter. Fails when the tool has no such parameter.
  Result<void> describe_parameter(std::string_view parameter, std::string_view sentence);
  /// Leaves a parameter out, so that a call with it is refused. Fails when the tool has no such parameter.
  Result<void> remove_parameter(std::string_view parameter);
  /// Adds a sentence to the description of the tool. An empty one adds nothing.
  void add_sentence(std::string_view sentence);

  /// Precondition: none; what parse() took is a tool.
  [[nodiscard]] protocol::Tool tool() const;

 private:
  explicit ToolDefinition(json::object members) : members_(std::move(members)) {}
  Result<json::object*> find_parameter(std::string_view name);

  json::object members_;
};

/// "Mounts: /host/project (ro), /host/data (rw)." The first few by name; empty without mounts.
std::string mounts_sentence(std::span<const vfs::MountSpec> mounts);

}  // namespace relay::tools
