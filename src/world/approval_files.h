// The files through which a running Relay and `relay approvals` speak: what waits, and the operator's
// answers. They lie in the state directory (0700), so who can write there is the operator.
// docs/formats/approvals.md has every member. All functions block.
//
//   approvals/<id>.json          what waits; written and removed by the Relay that waits
//   approvals/<id>.answer.json   the answer; written by `relay approvals`, removed by that Relay
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace relay::world {

enum class ApprovalKind : std::uint8_t { reload, call };
std::string_view name_of(ApprovalKind kind);

/// Something that happens only when the operator agrees.
struct PendingApproval {
  std::string id;  // hex digits
  ApprovalKind kind = ApprovalKind::call;
  std::string summary;  // one line: "write (tier 3) by local/claude"
  json::object detail;  // all of it, secrets blotted out
  std::string since;    // ISO 8601
  std::string expires;  // the same; empty: never
  std::int64_t pid = 0;
  std::string process_start;  // field 22 of /proc/<pid>/stat: a pid alone may be reused
};

struct ApprovalAnswer {
  std::string id;
  bool approved = false;
  std::string reason;
  std::string by;  // the user who answered, as the system names it
};

std::filesystem::path approvals_directory(const std::filesystem::path& state);
/// A name of a file that could be anything but an id is none.
bool is_approval_id(std::string_view id);

Result<void> write_pending(const std::filesystem::path& state, const PendingApproval& pending);
void remove_approval(const std::filesystem::path& state, std::string_view id);
/// Of processes that still run, oldest first. Files of others are left out.
std::vector<PendingApproval> list_pending(const std::filesystem::path& state);
/// Removes what processes left that no longer run.
void remove_abandoned_approvals(const std::filesystem::path& state);

Result<void> write_answer(const std::filesystem::path& state, const ApprovalAnswer& answer);
/// Reads the answers that wait and removes their files. A file that is no answer is removed too.
std::vector<ApprovalAnswer> take_answers(const std::filesystem::path& state);

/// Of this process.
std::string process_start_of(std::int64_t pid);

}  // namespace relay::world
