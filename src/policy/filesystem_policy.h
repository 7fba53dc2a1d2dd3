// FilesystemPolicy: which paths of the virtual tree a run may read and write. Paths are compared component by
// component:
// "/tmpfoo" is not below "/tmp". Deny beats both.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "policy/narrowed.h"
#include "policy/rules.h"

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
/// Precondition: both normalised.
bool is_below(std::string_view path, std::string_view root);

/// `{"readonly":[…],"writable":[…],"denied":[…]}`
FilesystemRequest read_filesystem(const json::object& block, std::string_view path,
                                  std::vector<Problem>& problems);
FilesystemPolicy apply_defaults(const FilesystemRequest& request);
Narrowed<FilesystemPolicy> intersect(const FilesystemPolicy& server, const FilesystemRequest& client);

bool may_read(const FilesystemPolicy& policy, std::string_view path);
bool may_write(const FilesystemPolicy& policy, std::string_view path);

}  // namespace relay::policy
