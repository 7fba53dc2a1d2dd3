#include "imports/places.h"

#include <algorithm>
#include <array>

namespace relay::imports {
namespace {

namespace fs = std::filesystem;

struct Row {
  const char* source;
  const char* title;
  const char* path;
};

constexpr std::array kProjectFiles = {
    Row{"claude-code", "Claude Code (project)", ".mcp.json"},
    Row{"vscode", "VS Code (workspace)", ".vscode/mcp.json"},
    Row{"vscode", "VS Code (workspace settings)", ".vscode/settings.json"},
    Row{"cursor", "Cursor (project)", ".cursor/mcp.json"},
    Row{"gemini", "Gemini CLI (project)", ".gemini/settings.json"},
    Row{"codex", "Codex (project)", ".codex/config.toml"},
    Row{"opencode", "opencode (project)", "opencode.json"},
    Row{"opencode", "opencode (project)", "opencode.jsonc"},
    Row{"opencode", "opencode (project)", ".opencode.json"},
};

constexpr std::array kUserFiles = {
    Row{"claude-code", "Claude Code", ".claude.json"},
    Row{"claude-code", "Claude Code", "Library/Application Support/Claude Code/claude_code_config.json"},
    Row{"claude-desktop", "Claude Desktop", ".config/Claude/claude_desktop_config.json"},
    Row{"claude-desktop", "Claude Desktop", "Library/Application Support/Claude/claude_desktop_config.json"},
    Row{"vscode", "VS Code", ".config/Code/User/mcp.json"},
    Row{"vscode", "VS Code (settings)", ".config/Code/User/settings.json"},
    Row{"vscode", "VS Code", "Library/Application Support/Code/User/mcp.json"},
    Row{"vscode", "VS Code (settings)", "Library/Application Support/Code/User/settings.json"},
    Row{"copilot", "Copilot", ".copilot/mcp-config.json"},
    Row{"cursor", "Cursor", ".cursor/mcp.json"},
    Row{"windsurf", "Windsurf", ".codeium/windsurf/mcp_config.json"},
    Row{"gemini", "Gemini CLI", ".gemini/settings.json"},
    Row{"antigravity", "Antigravity", ".antigravity/mcp.json"},
    Row{"antigravity", "Antigravity", ".antigravity/settings.json"},
    Row{"codex", "Codex", ".codex/config.toml"},
    Row{"opencode", "opencode", ".config/opencode/opencode.json"},
    Row{"opencode", "opencode", ".config/opencode/opencode.jsonc"},
    Row{"opencode", "opencode", ".opencode.json"},
    Row{"inspector", "MCP Inspector", ".mcp-inspector/mcp.json"},
};

constexpr std::array kUserFolders = {
    Row{"mcps", "~/MCPs", "MCPs"},
    Row{"mcp-servers", "~/.config/mcp/servers", ".config/mcp/servers"},
};

DocumentFormat format_of(const fs::path& file) {
  return file.extension() == ".toml" ? DocumentFormat::toml : DocumentFormat::json;
}

Place make_place(const Row& row, const fs::path& folder, bool every_file) {
  const fs::path file = folder / row.path;
  return {.source = row.source,
          .title = row.title,
          .file = file,
          .format = format_of(file),
          .folder = folder,
          .every_file = every_file};
}

}  // namespace

std::vector<Place> known_places(const fs::path& home, const fs::path& working_directory) {
  std::vector<Place> places;
  for (const Row& row : kProjectFiles) places.push_back(make_place(row, working_directory, false));
  places.push_back(make_place({"mcp-servers", "./mcp-servers", "mcp-servers"}, working_directory, true));
  for (const Row& row : kUserFiles) places.push_back(make_place(row, home, false));
  for (const Row& row : kUserFolders) places.push_back(make_place(row, home, true));
  return places;
}

std::vector<std::string> source_names(const std::vector<Place>& places) {
  std::vector<std::string> names;
  for (const Place& place : places)
    if (std::ranges::find(names, place.source) == names.end()) names.push_back(place.source);
  return names;
}

// "settings.json" alone does not say whose it is; the directory does.
Place place_of_file(const fs::path& file, const fs::path& home) {
  const std::string directory = file.parent_path().filename().string();
  const bool is_hidden = directory.starts_with('.');
  Place place{.source = "file",
              .title = file.string(),
              .file = file,
              .format = format_of(file),
              .folder = is_hidden ? file.parent_path().parent_path() : file.parent_path()};
  if (directory == ".gemini") place.source = "gemini";
  if (file.filename() == ".claude.json") place.folder = home;
  return place;
}

}  // namespace relay::imports
