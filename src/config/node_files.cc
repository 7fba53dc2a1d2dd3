#include "config/node_files.h"

#include <fmt/format.h>

#include "base/disk.h"
#include "base/id_maker.h"
#include "base/limits.h"

namespace relay::config {
namespace {

constexpr std::size_t kStateKeyBytes = 32;

// The first line of the file, which `made` becomes when there is none.
Result<std::string> open_line(const std::filesystem::path& path, const std::string& made) {
  auto text = load_file(path, limits::kKiB);
  if (!text && text.error().kind == ErrorKind::not_found) {
    RELAY_CHECK(make_directory(path.parent_path()));
    RELAY_CHECK(create_file(path, made + "\n"));
    text = load_file(path, limits::kKiB);
  }
  if (!text) return fail(std::move(text).error());
  return text->substr(0, text->find('\n'));
}

}  // namespace

Result<std::string> open_node(const Config& config, RandomSource& random) {
  if (!config.server.node.empty()) return config.server.node;
  const std::filesystem::path path = config.state / "node";
  RELAY_TRY(std::string node, open_line(path, make_node(random)));
  if (!is_node(node))
    return fail(invalid(fmt::format("{} holds no name of a node (1 to {} characters a-z and 2-7); remove it",
                                    path.string(), kNodeBytes)));
  return node;
}

Result<std::string> open_state_key(const Config& config, RandomSource& random) {
  const std::filesystem::path& path = config.server.state_key_path;
  RELAY_TRY(std::string key, open_line(path, make_token(random, kStateKeyBytes)));
  if (key.size() < kStateKeyBytes)
    return fail(invalid(
        fmt::format("{} is too short for a key: at least {} characters", path.string(), kStateKeyBytes)));
  return key;
}

}  // namespace relay::config
