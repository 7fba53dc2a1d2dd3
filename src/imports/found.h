// What a configuration file of another program says about MCP servers, in our terms.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "upstream/server_spec.h"

namespace relay::imports {

struct Provenance {
  std::string title;  // "Cursor"
  std::filesystem::path file;
  std::string key;  // "mcpServers.github"
};

/// A value that should rather be kept in the secret store. The spec holds the reference to it.
struct KeptSecret {
  std::string where;   // "env.GITHUB_TOKEN"
  std::string name;    // of the secret: "github.GITHUB_TOKEN"
  std::string prefix;  // "Bearer ", which stays in the configuration
  std::string value;   // never printed
};

struct FoundServer {
  upstream::ServerSpec spec;
  Provenance from;
  std::vector<KeptSecret> secrets;
  std::vector<std::string> needs;   // secrets that have no value yet, by name
  std::vector<std::string> notes;   // what a person should know
  bool from_other_project = false;  // of a project that is not the one we are in
};

struct SkippedServer {
  std::string name;
  Provenance from;
  std::string why;
};

/// All that was read, in order of the file. A file that cannot be read has only a problem.
struct Reading {
  std::vector<FoundServer> found;
  std::vector<SkippedServer> skipped;
  std::string problem;  // empty: none
};

}  // namespace relay::imports
