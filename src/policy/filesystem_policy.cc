#include "policy/filesystem_policy.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/policy_reader.h"

namespace relay::policy {
namespace {

using Paths = std::vector<std::string>;

std::optional<Paths> read_paths(BlockReader& reader, std::string_view key) {
  const auto texts = reader.texts(key);
  if (!texts) return std::nullopt;
  Paths paths;
  for (std::size_t i = 0; i < texts->size(); ++i) {
    auto path = normalise_path((*texts)[i]);
    if (!path) reader.complain(fmt::format("{}[{}]", key, i), path.error().message);
    if (path) paths.push_back(std::move(*path));
  }
  return paths;
}

bool below_any(std::string_view path, const Paths& roots) {
  return std::ranges::any_of(roots, [&](const std::string& root) { return is_below(path, root); });
}

bool any_below(const Paths& paths, std::string_view root) {
  return std::ranges::any_of(paths, [&](const std::string& path) { return is_below(path, root); });
}

std::optional<std::string> find_normal(std::string_view path) {
  const auto parsed = parse_path(path);
  return parsed ? std::optional(parsed->text()) : std::nullopt;
}

void add_once(Paths& paths, const std::string& path) {
  if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
}

// The deeper of two roots, when one is below the other.
Paths intersect_roots(const Paths& server, const Paths& client) {
  Paths out;
  for (const std::string& a : server) {
    for (const std::string& b : client) {
      if (is_below(b, a)) {
        add_once(out, b);
      } else if (is_below(a, b)) {
        add_once(out, a);
      }
    }
  }
  return out;
}

Paths united(Paths first, const Paths& second) {
  for (const std::string& path : second) add_once(first, path);
  return first;
}

void report(std::string_view name, const Paths& server, const Paths& asked,
            std::vector<std::string>& widening) {
  for (const std::string& path : asked)
    if (!below_any(path, server))
      widening.push_back(fmt::format("filesystem.{}: {} is more than the server allows", name, path));
}

}  // namespace

Result<std::string> normalise_path(std::string_view path) {
  const auto parsed = parse_path(path);
  if (!parsed) return fail(invalid(std::string(describe(parsed.error()))));
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    if (path.substr(at, slash - at) == "..") return fail(invalid("has \"..\" in it"));
    at = slash + 1;
  }
  return parsed->text();
}

FilesystemRequest read_filesystem(const json::object& block, std::string_view path,
                                  std::vector<Problem>& problems) {
  constexpr std::array<std::string_view, 3> kKnown{"readonly", "writable", "denied"};
  BlockReader reader(block, path, problems);
  reader.expect_only(kKnown);
  return {read_paths(reader, "readonly"), read_paths(reader, "writable"), read_paths(reader, "denied")};
}

FilesystemPolicy apply_defaults(const FilesystemRequest& request) {
  const FilesystemPolicy defaults;
  return {request.readonly.value_or(defaults.readonly), request.writable.value_or(defaults.writable),
          request.denied.value_or(defaults.denied)};
}

// What is writable is readable too, so the readable side of each party is both of its lists.
Narrowed<FilesystemPolicy> intersect(const FilesystemPolicy& server, const FilesystemRequest& client) {
  const Paths server_readable = united(server.readonly, server.writable);
  const Paths asked_writable = client.writable.value_or(server.writable);
  const Paths asked_readable = united(client.readonly.value_or(server.readonly), asked_writable);
  Narrowed<FilesystemPolicy> result;
  if (client.readonly) report("readonly", server_readable, *client.readonly, result.widening);
  if (client.writable) report("writable", server.writable, *client.writable, result.widening);
  result.policy.readonly = intersect_roots(server_readable, asked_readable);
  result.policy.writable = intersect_roots(server.writable, asked_writable);
  result.policy.denied = united(server.denied, client.denied.value_or(Paths{}));
  return result;
}

bool may_read(const FilesystemPolicy& policy, std::string_view path) {
  const auto normal = find_normal(path);
  if (!normal || below_any(*normal, policy.denied)) return false;
  return below_any(*normal, policy.readonly) || below_any(*normal, policy.writable);
}

bool may_write(const FilesystemPolicy& policy, std::string_view path) {
  const auto normal = find_normal(path);
  return normal && !below_any(*normal, policy.denied) && below_any(*normal, policy.writable);
}

bool may_pass(const FilesystemPolicy& policy, std::string_view path) {
  const auto normal = find_normal(path);
  if (!normal || below_any(*normal, policy.denied)) return false;
  return may_read(policy, *normal) || any_below(policy.readonly, *normal) ||
         any_below(policy.writable, *normal);
}

bool may_read_all_below(const FilesystemPolicy& policy, std::string_view path) {
  const auto normal = find_normal(path);
  return normal && may_read(policy, *normal) && !any_below(policy.denied, *normal);
}

bool may_write_all_below(const FilesystemPolicy& policy, std::string_view path) {
  const auto normal = find_normal(path);
  return normal && may_write(policy, *normal) && !any_below(policy.denied, *normal);
}

}  // namespace relay::policy
