#include "cli/clean.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "app/status_socket.h"
#include "cli/mcp_command.h"
#include "world/approval_files.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

struct Rubbish {
  std::string what;  // "capsules"
  std::vector<fs::path> paths;
  std::uint64_t bytes = 0;
};

std::uint64_t bytes_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(fs::symlink_status(path, ignored))) return fs::file_size(path, ignored);
  std::uint64_t bytes = 0;
  for (auto entry =
           fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, ignored);
       entry != fs::recursive_directory_iterator(); entry.increment(ignored))
    if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored)) bytes += entry->file_size(ignored);
  return bytes;
}

bool is_capsule_name(const std::string& name) {
  const bool is_hash = name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hash || name == ".layers" || name.starts_with(".tmp-") || name.starts_with(".trash-");
}

// The directory is one that the configuration names, so only what Relay writes there counts.
std::vector<fs::path> capsules_in(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored))
    if (is_capsule_name(entry.path().filename().string())) found.push_back(entry.path());
  return found;
}

// Files of servers that the configuration no longer has: fs.log, fs.log.1, fs.json.
std::vector<fs::path> left_by_servers(const config::Config& config) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const char* directory : {"logs", "offers"})
    for (const auto& entry : fs::directory_iterator(mcp_state(config) / directory, ignored)) {
      const std::string name = entry.path().filename().string();
      const bool is_known = std::ranges::any_of(
          config.mcps, [&](const upstream::ServerSpec& spec) { return name.starts_with(spec.name + "."); });
      if (!is_known) found.push_back(entry.path());
    }
  return found;
}

std::vector<Rubbish> find_rubbish(const config::Config& config) {
  std::vector<Rubbish> all{
      {"capsules", capsules_in(config.cache_dir)},
      {"packages of npm and pip", {}},
      {"logs and lists of servers that are no longer configured", left_by_servers(config)},
      {"sockets of processes that ended", app::find_dead_sockets(config.state)}};
  std::error_code ignored;
  if (fs::exists(config.project / "deps", ignored)) all[1].paths.push_back(config.project / "deps");
  for (Rubbish& one : all)
    for (const fs::path& path : one.paths) one.bytes += bytes_of(path);
  std::erase_if(all, [](const Rubbish& one) { return one.paths.empty(); });
  return all;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

void show(const std::vector<Rubbish>& all) {
  for (const Rubbish& one : all)
    fmt::print("{:>10}  {} ({})\n", size_text(one.bytes), one.what,
               one.paths.size() == 1
                   ? one.paths.front().string()
                   : fmt::format("{} in {}", one.paths.size(), one.paths.front().parent_path().string()));
  std::fflush(stdout);
}

bool ask() {
  fmt::print(stderr, "Remove this? [y/N] ");
  std::string line;
  return std::getline(std::cin, line) && (line == "y" || line == "yes");
}

int remove_all(const std::vector<Rubbish>& all) {
  std::uint64_t removed = 0;
  int exit_code = 0;
  for (const Rubbish& one : all)
    for (const fs::path& path : one.paths) {
      const std::uint64_t bytes = bytes_of(path);
      std::error_code error;
      fs::remove_all(path, error);
      if (!error) {
        removed += bytes;
        continue;
      }
      fmt::print(stderr, "relay: cannot remove {}: {}\n", path.string(), error.message());
      exit_code = 1;
    }
  fmt::print("removed {}\n", size_text(removed));
  return exit_code;
}

}  // namespace

int run_clean(const CommandOptions& options, const config::Config& config) {
  if (const auto running = app::find_running(config.state); !running.empty()) {
    fmt::print(stderr, "relay: Relay runs for this project (pid {}) and uses these files; stop it first\n",
               running.front().pid);
    return 1;
  }
  world::remove_abandoned_approvals(config.state);
  const std::vector<Rubbish> all = find_rubbish(config);
  if (all.empty()) {
    fmt::print("nothing to remove\n");
    return 0;
  }
  show(all);
  if (!options.yes && ::isatty(STDIN_FILENO) == 0) {
    fmt::print(stderr, "relay: nothing was removed: there is no terminal to ask; add --yes\n");
    return 2;
  }
  if (!options.yes && !ask()) {
    fmt::print("nothing was removed\n");
    return 0;
  }
  return remove_all(all);
}

}  // namespace relay::cli
