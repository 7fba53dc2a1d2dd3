// The `relay mcp ...` part of the command line.
#pragma once

namespace CLI {
class App;
}

namespace relay::cli {

struct McpOptions;
struct CommandOptions;

/// `relay mcp add NAME -- COMMAND ARGS...`: what stands after -- is a command line, whatever it looks like,
/// and is taken away before the rest is parsed. Gives how many words are left.
int take_command_line(int argc, char** argv, McpOptions& options);

void add_mcp(CLI::App& root, CommandOptions& options);
/// --state, of every command that touches what Relay keeps.
void add_state(CLI::App& app, CommandOptions& options);

}  // namespace relay::cli
