// `relay mcp ...`: the commands about upstream servers. Each returns an exit code and prints for people, or
// JSON with --json. Edits work on the configuration file and start nothing; the others start servers and stop
// them before they return.
#pragma once

#include "cli/options.h"

namespace relay::cli {

/// The exit code: 0 done, 1 it did not work, 2 the command line or the configuration is wrong.
int run_mcp(const CommandOptions& options);

// Each in its own file.
int run_mcp_add(const CommandOptions& options);
int run_mcp_remove(const CommandOptions& options);
int run_mcp_switch(const CommandOptions& options, bool enabled);
int run_mcp_list(const CommandOptions& options, const config::Config& config);
int run_mcp_test(const CommandOptions& options, const config::Config& config);
int run_mcp_tools(const CommandOptions& options, const config::Config& config);
int run_mcp_call(const CommandOptions& options, const config::Config& config);
int run_mcp_logs(const CommandOptions& options, const config::Config& config);
int run_mcp_import(const CommandOptions& options, const config::Config& config);
int run_mcp_secret(const CommandOptions& options, const config::Config& config);

/// Says it on stderr; 2 for a mistake of whoever typed it, otherwise 1.
int say_error(const Error& error);
/// Moves what an older Relay kept in the project to the state directory; says so on stderr. False: it
/// cannot be used, which was said.
bool prepare_state(const config::Config& config);
/// Where the fleet keeps what it knows: era verdicts, logs, secrets.
std::filesystem::path mcp_state(const config::Config& config);
/// What a server is, for people: its command line, or its address, without what may be secret in it.
std::string describe_server(const upstream::ServerSpec& spec);

}  // namespace relay::cli
