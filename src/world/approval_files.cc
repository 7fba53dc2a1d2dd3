#include "world/approval_files.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/disk.h"
#include "base/id_maker.h"
#include "base/limits.h"

namespace relay::world {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAnswerEnding = ".answer.json";
constexpr std::string_view kEnding = ".json";

fs::path pending_path(const fs::path& state, std::string_view id) {
  return approvals_directory(state) / fmt::format("{}{}", id, kEnding);
}

fs::path answer_path(const fs::path& state, std::string_view id) {
  return approvals_directory(state) / fmt::format("{}{}", id, kAnswerEnding);
}

std::string text_of(const json::object& object, std::string_view key) {
  return std::string(json::find_string(object, key).value_or(""));
}

std::optional<json::object> find_object(const fs::path& path) {
  const auto text = load_file(path, limits::kApprovalBytes);
  if (!text) return std::nullopt;
  auto object = json::parse_object(*text, {.bytes = limits::kApprovalBytes});
  return object ? std::optional(std::move(*object)) : std::nullopt;
}

// The ids whose files have this ending.
std::vector<std::string> ids_with(const fs::path& state, std::string_view ending) {
  std::vector<std::string> ids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(approvals_directory(state), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(ending)) continue;
    const std::string id = name.substr(0, name.size() - ending.size());
    if (is_approval_id(id)) ids.push_back(id);
  }
  return ids;
}

std::optional<PendingApproval> find_pending(const fs::path& state, const std::string& id) {
  const auto object = find_object(pending_path(state, id));
  if (!object) return std::nullopt;
  PendingApproval pending;
  pending.id = id;
  pending.kind = text_of(*object, "kind") == "reload" ? ApprovalKind::reload : ApprovalKind::call;
  pending.summary = text_of(*object, "summary");
  if (const json::object* detail = json::find_object(*object, "detail")) pending.detail = *detail;
  pending.since = text_of(*object, "since");
  pending.expires = text_of(*object, "expires");
  pending.pid = json::find_int(*object, "pid").value_or(0);
  pending.process_start = text_of(*object, "processStart");
  return pending;
}

bool still_runs(const PendingApproval& pending) {
  const std::string start = process_start_of(pending.pid);
  return !start.empty() && start == pending.process_start;
}

}  // namespace

std::string_view name_of(ApprovalKind kind) {
  switch (kind) {
    case ApprovalKind::reload: return "reload";
    case ApprovalKind::call: return "call";
  }
  return "call";
}

fs::path approvals_directory(const fs::path& state) {
  return state / "approvals";
}

bool is_approval_id(std::string_view id) {
  const std::string_view node = find_node(id);
  const std::string_view digits = node.empty() ? id : id.substr(node.size() + 1);
  return !digits.empty() && digits.size() <= 64 &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string process_start_of(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t close = text.rfind(')');  // the name before it may hold anything
  if (close == std::string::npos) return {};
  std::istringstream fields(text.substr(close + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  return field;
}

Result<void> write_pending(const fs::path& state, const PendingApproval& pending) {
  const json::object object{{"kind", name_of(pending.kind)},
                            {"summary", pending.summary},
                            {"detail", pending.detail},
                            {"since", pending.since},
                            {"expires", pending.expires},
                            {"pid", pending.pid},
                            {"processStart", pending.process_start}};
  return replace_file(pending_path(state, pending.id), json::write(object) + "\n");
}

void remove_approval(const fs::path& state, std::string_view id) {
  std::error_code ignored;
  fs::remove(pending_path(state, id), ignored);
  fs::remove(answer_path(state, id), ignored);
}

std::vector<PendingApproval> list_pending(const fs::path& state) {
  std::vector<PendingApproval> all;
  for (const std::string& id : ids_with(state, kEnding))
    if (auto pending = find_pending(state, id); pending && still_runs(*pending))
      all.push_back(std::move(*pending));
  std::ranges::sort(all, {}, [](const PendingApproval& one) { return std::pair(one.since, one.id); });
  return all;
}

void remove_abandoned_approvals(const fs::path& state) {
  for (const std::string& id : ids_with(state, kEnding)) {
    const auto pending = find_pending(state, id);
    if (!pending || !still_runs(*pending)) remove_approval(state, id);
  }
}

Result<void> write_answer(const fs::path& state, const ApprovalAnswer& answer) {
  const json::object object{{"approved", answer.approved}, {"reason", answer.reason}, {"by", answer.by}};
  return replace_file(answer_path(state, answer.id), json::write(object) + "\n");
}

std::vector<ApprovalAnswer> take_answers(const fs::path& state) {
  std::vector<ApprovalAnswer> answers;
  for (const std::string& id : ids_with(state, kAnswerEnding)) {
    const auto pending = find_pending(state, id);
    // Several Relays may share the directory: each takes what it waits for.
    if (pending && still_runs(*pending) && pending->pid != ::getpid()) continue;
    const auto object = find_object(answer_path(state, id));
    std::error_code ignored;
    fs::remove(answer_path(state, id), ignored);
    const auto approved = object ? json::find_bool(*object, "approved") : std::nullopt;
    if (approved) answers.push_back({id, *approved, text_of(*object, "reason"), text_of(*object, "by")});
  }
  return answers;
}

}  // namespace relay::world
