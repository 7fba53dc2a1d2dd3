// McpOptions: what was typed after `relay mcp`, as a value. mcp_cli.cc fills it; the commands read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace relay::cli {

enum class McpAction : std::uint8_t {
  add,
  list,
  remove,
  enable,
  disable,
  test,
  tools,
  call,
  logs,
  import,
  secret_set,
  secret_list,
  secret_remove,
};

struct McpOptions {
  McpAction action = McpAction::list;
  std::vector<std::string> names;  // remove, enable, disable, test: several; the others: one

  json::object entry;                // add: the keys that were given, already typed
  std::vector<std::string> command;  // add: the command line
  std::vector<std::string> env;      // add: K=V
  std::vector<std::string> headers;  // add: K=V or "K: V"
  bool sandbox = false;              // add
  std::vector<std::string> sandbox_read, sandbox_write, sandbox_hosts;
  bool replace = false;  // add

  bool json = false;  // list, tools, call, test
  bool full = false;  // tools

  std::string tool;                    // call
  std::vector<std::string> arguments;  // call: JSON, or key=value

  std::size_t lines = 50;  // logs
  bool follow = false;

  std::vector<std::string> from;  // import: sources or files
  std::string expose;             // import
  bool dry_run = false;
  bool yes = false;  // import, call
  bool all = false;
};

}  // namespace relay::cli
