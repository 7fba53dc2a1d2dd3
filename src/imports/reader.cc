#include "imports/reader.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/bytes.h"
#include "imports/entry.h"

namespace relay::imports {
namespace {

namespace fs = std::filesystem;

bool is_server(const json::object& entry) {
  return json::find(entry, "command") || json::find_string(entry, "url") ||
         json::find_string(entry, "serverUrl") || json::find_string(entry, "httpUrl");
}

class Reader {
 public:
  Reader(const Place& place, const Surroundings& surroundings) : place_(place), surroundings_(surroundings) {}

  Reading read(const json::object& root) {
    read_own_project(root);
    for (const std::string_view key : {"mcpServers", "servers", "mcp_servers", "mcp.servers"})
      read_map(root, key, std::string(key), surroundings_);
    if (const json::object* mcp = json::find_object(root, "mcp")) read_mcp(*mcp);
    read_other_projects(root);
    if (reading_.found.empty() && reading_.skipped.empty() && is_server(root))
      read_one(place_.file.stem().string(), root, "$", surroundings_);
    return std::move(reading_);
  }

 private:
  // VS Code's settings have "mcp": {"servers": {...}}; opencode has "mcp": {name: {...}}.
  void read_mcp(const json::object& mcp) {
    const json::object* servers = json::find_object(mcp, "servers");
    if (servers && !is_server(*servers)) return read_map(mcp, "servers", "mcp.servers", surroundings_);
    read_members(mcp, "mcp", surroundings_);
  }

  void read_map(const json::object& parent, std::string_view member, const std::string& key,
                const Surroundings& surroundings) {
    if (const json::object* servers = json::find_object(parent, member))
      read_members(*servers, key, surroundings);
  }

  void read_members(const json::object& servers, const std::string& key, const Surroundings& surroundings) {
    for (const auto& member : servers) {
      const std::string name(member.key());
      if (const json::object* entry = member.value().if_object())
        read_one(name, *entry, key + "." + name, surroundings);
      else if (!name.starts_with('$'))
        skip(name, key + "." + name, "it is not an object");
    }
  }

  void read_one(const std::string& name, const json::object& entry, const std::string& key,
                const Surroundings& surroundings) {
    const UrlMeaning meaning = place_.source == "gemini" ? UrlMeaning::sse : UrlMeaning::http;
    auto found = read_entry(name, entry, surroundings, meaning);
    if (!found) return skip(name, key, found.error().message);
    found->from = provenance(key);
    found->from_other_project = &surroundings != &surroundings_ && surroundings.folder != own_project_;
    if (found->spec.transport == upstream::ServerTransport::stdio) place_process(found->spec, surroundings);
    reading_.found.push_back(std::move(*found));
  }

  // Relative paths mean those of the program that wrote them: its project, not ours.
  void place_process(upstream::ServerSpec& spec, const Surroundings& surroundings) const {
    if (spec.cwd.empty() && surroundings.folder != surroundings_.home)
      spec.cwd = surroundings.folder.string();
    spec.cwd = absolute(spec.cwd, surroundings.folder);
    if (spec.command.find('/') != std::string::npos)
      spec.command = absolute(spec.command, spec.cwd.empty() ? surroundings.folder : fs::path(spec.cwd));
  }

  std::string absolute(const std::string& path, const fs::path& folder) const {
    if (path.starts_with("~/")) return surroundings_.home / path.substr(2);
    return path.empty() || path.starts_with('/') ? path : (folder / path).lexically_normal().string();
  }

  // Claude Code keeps servers of single projects under their paths. The one we are in comes first.
  void read_own_project(const json::object& root) {
    const json::object* projects = json::find_object(root, "projects");
    if (!projects) return;
    own_project_ = find_own_project(*projects);
    if (!own_project_.empty()) read_project(*projects, own_project_);
  }

  void read_other_projects(const json::object& root) {
    const json::object* projects = json::find_object(root, "projects");
    if (!projects) return;
    for (const auto& member : *projects)
      if (const fs::path path(std::string(member.key())); path != own_project_) read_project(*projects, path);
  }

  void read_project(const json::object& projects, const fs::path& path) {
    const json::object* project = json::find_object(projects, path.string());
    if (!project || !path.is_absolute()) return;
    Surroundings there = surroundings_;
    there.folder = path;
    read_map(*project, "mcpServers", fmt::format("projects[{}].mcpServers", path.string()), there);
  }

  // The innermost project that holds the working directory.
  fs::path find_own_project(const json::object& projects) const {
    for (fs::path at = surroundings_.working_directory; !at.empty(); at = at.parent_path()) {
      if (json::find_object(projects, at.string())) return at;
      if (at == at.root_path()) break;
    }
    return {};
  }

  Provenance provenance(const std::string& key) const {
    return {.title = place_.title, .file = place_.file, .key = key};
  }

  void skip(const std::string& name, const std::string& key, std::string why) {
    reading_.skipped.push_back({name, provenance(key), std::move(why)});
  }

  const Place& place_;
  const Surroundings& surroundings_;
  fs::path own_project_;
  Reading reading_;
};

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Words of a shell line count too: bash -c "exec /opt/relay stdio".
bool starts_relay(std::string_view argument) {
  while (!argument.empty()) {
    const std::size_t end = std::min(argument.find_first_of(" \t\n;&|\"'"), argument.size());
    if (base_name(argument.substr(0, end)) == "relay") return true;
    argument.remove_prefix(std::min(end + 1, argument.size()));
  }
  return false;
}

}  // namespace

std::string make_server_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool is_fine = std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
    const char next = is_fine ? c : '-';
    if (out.empty() && !std::isalnum(static_cast<unsigned char>(next))) continue;
    if (next == '_' && out.ends_with('_')) continue;
    if (!is_fine && out.ends_with('-')) continue;
    if (out.size() < 32) out += next;
  }
  while (out.ends_with('-') && !name.ends_with('-')) out.pop_back();
  return out.empty() ? "server" : out;
}

bool points_to_relay(const upstream::ServerSpec& spec, const std::vector<std::string>& own_origins) {
  const auto is_own = [&](std::string_view text) {
    return std::ranges::any_of(own_origins, [&](const std::string& origin) {
      return text == origin || (text.starts_with(origin) && text.substr(origin.size()).starts_with('/'));
    });
  };
  if (is_own(spec.endpoint) || starts_relay(spec.command)) return true;
  return std::ranges::any_of(
      spec.args, [&](const std::string& argument) { return starts_relay(argument) || is_own(argument); });
}

Reading read_servers(std::string_view text, const Place& place, const Surroundings& surroundings) {
  auto root = parse_document(text, place.format);
  if (!root) return {.found = {}, .skipped = {}, .problem = root.error().message};
  return Reader(place, surroundings).read(*root);
}

}  // namespace relay::imports
