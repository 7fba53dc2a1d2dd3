// FilesystemPolicy: which paths of the tree may be read and written: the one judge of paths, for tools,
// guests, search, resources and the manifest of a capsule. Paths are compared part by part: "/tmpfoo" is not
// below
// "/tmp". Deny beats both lists.
//
// The judge knows names and no disk. vfs/ asks it about the path as given and about the place that symbolic
// links lead to, so a rule names the real place of a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "policy/narrowed.h"
#include "policy/rules.h"
#include "policy/tree_path.h"

namespace relay::policy {

struct FilesystemPolicy {
  std::vector<std::string> readonly{"/"};
  std::vector<std::string> writable{"/tmp", "/out"};
  std::vector<std::string> denied;

  bool operator==(const FilesystemPolicy&) const = default;
};

struct FilesystemRequest {
  std::optional<std::vector<std::string>> readonly;
  std::optional<std::vector<std::string>> writable;
  std::optional<std::vector<std::string>> denied;
};

/// "/a/./b//c/" -> "/a/b/c". Relative paths, "..", and NUL are refused: a rule must mean one thing.
Result<std::string> normalise_path(std::string_view path);

/// `{"readonly":[…],"writable":[…],"denied":[…]}`
FilesystemRequest read_filesystem(const json::object& block, std::string_view path,
                                  std::vector<Problem>& problems);
FilesystemPolicy apply_defaults(const FilesystemRequest& request);
Narrowed<FilesystemPolicy> intersect(const FilesystemPolicy& server, const FilesystemRequest& client);

bool may_read(const FilesystemPolicy& policy, std::string_view path);
bool may_write(const FilesystemPolicy& policy, std::string_view path);
/// May this directory be seen, because it or something below it may be read?
bool may_pass(const FilesystemPolicy& policy, std::string_view path);
/// The same answer for the path and for everything below it.
bool may_read_all_below(const FilesystemPolicy& policy, std::string_view path);
bool may_write_all_below(const FilesystemPolicy& policy, std::string_view path);

}  // namespace relay::policy
