// The `relay mcp ...` part of the command line.
#pragma once

namespace CLI {
class App;
}

namespace relay::app {

struct Options;

void add_mcp(CLI::App& root, Options& options);

}  // namespace relay::app
