// `relay mcp logs NAME`: the file that the fleet writes for a server, its last lines, and more as they come.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "cli/mcp_command.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

void take_lines(const fs::path& file, std::size_t count, std::deque<std::string>& lines) {
  std::ifstream stream(file, std::ios::binary);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(std::move(line));
    if (lines.size() > count) lines.pop_front();
  }
}

// A log that is full goes on in a new file of the same name.
struct Position {
  ino_t inode = 0;
  off_t bytes = 0;
};

Position position_of(const fs::path& file) {
  struct stat now{};
  return ::stat(file.c_str(), &now) == 0 ? Position{now.st_ino, now.st_size} : Position{};
}

// Until the process is ended.
void follow(const fs::path& file, Position seen) {
  for (;;) {
    const Position now = position_of(file);
    if (now.inode != seen.inode || now.bytes < seen.bytes) seen = {now.inode, 0};
    if (now.bytes > seen.bytes) {
      std::ifstream stream(file, std::ios::binary);
      stream.seekg(seen.bytes);
      std::string text(static_cast<std::size_t>(now.bytes - seen.bytes), '\0');
      stream.read(text.data(), static_cast<std::streamsize>(text.size()));
      text.resize(static_cast<std::size_t>(stream.gcount()));
      fmt::print("{}", text);
      if (std::fflush(stdout) != 0) return;  // nobody reads any more
      seen.bytes += static_cast<off_t>(text.size());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

}  // namespace

int run_mcp_logs(const CommandOptions& options, const config::Config& config) {
  const std::string& name = options.mcp.names.front();
  const fs::path file = mcp_state(config) / "logs" / (name + ".log");
  const bool is_known =
      std::ranges::any_of(config.mcps, [&](const upstream::ServerSpec& spec) { return spec.name == name; });
  std::error_code ignored;
  if (!is_known && (name.find('/') != std::string::npos || !fs::exists(file, ignored)))
    return say_error(
        not_found(fmt::format("there is no server \"{}\"; `relay mcp list` shows the ones that are", name)));
  const Position seen = position_of(file);
  std::deque<std::string> lines;
  take_lines(file.string() + ".1", options.mcp.lines, lines);
  take_lines(file, options.mcp.lines, lines);
  for (const std::string& line : lines) fmt::print("{}\n", line);
  if (lines.empty() && !options.mcp.follow) fmt::print(stderr, "relay: {} has written nothing yet\n", name);
  std::fflush(stdout);
  if (options.mcp.follow) follow(file, seen);
  return 0;
}

}  // namespace relay::cli
