// Who is at either end of a connection and what it can do, as plain values. Reading is lenient: a member that
// is not understood counts as not there, because a new revision adds members that an old one does not know.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "protocol/content.h"
#include "protocol/revision.h"

namespace relay::protocol {

inline constexpr std::string_view kTasksExtension = "io.modelcontextprotocol/tasks";

/// A client or a server, as it introduces itself.
struct Implementation {
  std::string name;
  std::string title;
  std::string version;
  std::string description;
  std::string website;
  std::vector<Icon> icons;
};

struct ClientCapabilities {
  bool roots = false;
  bool sampling = false;
  bool sampling_tools = false;
  bool elicitation_form = false;
  bool elicitation_url = false;
  bool tasks = false;     // the extension of 2026; tasks of 2025-11-25 are asked for by each request
  json::object declared;  // as sent, for whoever passes it on

  [[nodiscard]] bool has_extension(std::string_view name) const;
};

struct ServerCapabilities {
  bool tools = true;
  bool resources = false;
  bool resource_subscriptions = false;
  bool prompts = false;
  bool completions = false;
  bool logging = true;
  bool list_changes = true;  // of everything served
  bool tasks = false;
  json::object extensions;  // beyond tasks
  json::object experimental;
};

Implementation parse_implementation(const json::object& object);
/// Lenient: what is not understood is not there.
ClientCapabilities parse_client_capabilities(const json::object& object);
void append_json(std::string& out, const Implementation& implementation, Revision revision);
void append_json(std::string& out, const ServerCapabilities& capabilities, Revision revision);

}  // namespace relay::protocol
