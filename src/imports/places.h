// Where programs keep their lists of MCP servers. Data before deeds: the list is made without looking at the
// disk.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "imports/document.h"

namespace relay::imports {

struct Place {
  std::string source;          // "cursor": what --from takes
  std::string title;           // "Cursor"
  std::filesystem::path file;  // or a directory, when every_file is set
  DocumentFormat format = DocumentFormat::json;
  std::filesystem::path folder;  // the project it belongs to; the home directory for a user's own
  bool every_file = false;       // all *.json and *.toml in the directory, by name
};

/// In the order in which definitions win: the project's before the user's.
std::vector<Place> known_places(const std::filesystem::path& home,
                                const std::filesystem::path& working_directory);

/// The names that --from takes, each once.
std::vector<std::string> source_names(const std::vector<Place>& places);

/// A file that the user names: what it is follows from its name.
Place place_of_file(const std::filesystem::path& file, const std::filesystem::path& home);

}  // namespace relay::imports
