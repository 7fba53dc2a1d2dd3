#include "tools/run_policy.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::tools {
namespace {

std::vector<std::string> strings(const json::object& block, std::string_view key) {
  std::vector<std::string> out;
  if (const json::array* list = json::find_array(block, key))
    for (const json::value& item : *list)
      if (item.is_string()) out.emplace_back(item.get_string());
  return out;
}

Result<void> check_members(const json::object& block, std::string_view where, std::initializer_list<std::string_view> known) {
  for (const auto& member : block)
    if (std::ranges::find(known, std::string_view(member.key().data(), member.key().size())) == known.end())
      return fail(invalid(fmt::format("policy{}: unknown member \"{}\"", where, std::string(member.key()))));
  return {};
}

// Numbers take the minimum; an attempt to raise one is reported.
template <class T>
void lower(T& limit, const json::object& block, std::string_view key, std::vector<std::string>& notes) {
  const auto asked = json::find_int(block, key);
  if (!asked) return;
  const auto wanted = static_cast<T>(*asked);
  if (wanted > limit) notes.push_back(fmt::format("policy.limits.{} {} is above the server's limit; {} applies", key, *asked, static_cast<std::int64_t>(limit)));
  limit = std::min(limit, wanted);
}

void narrow_limits(executors::RunLimits& limits, const json::object& block, std::vector<std::string>& notes) {
  auto timeout_ms = limits.timeout.count();
  lower(timeout_ms, block, "timeoutMs", notes);
  limits.timeout = std::chrono::milliseconds(timeout_ms);
  lower(limits.mem_mb, block, "memMb", notes);
  lower(limits.stdout_bytes, block, "stdoutBytes", notes);
}

Result<void> check_limits(const json::object& block) {
  RELAY_CHECK(check_members(block, ".limits", {"timeoutMs", "memMb", "stdoutBytes"}));
  for (const auto& member : block) {
    const auto number = json::find_int(block, std::string_view(member.key().data(), member.key().size()));
    if (!number || *number < 0) return fail(invalid(fmt::format("policy.limits.{} must be a whole number, not negative", std::string(member.key()))));
  }
  return {};
}

}  // namespace

json::object RunPolicy::to_json() const {
  json::object out;
  out["network"] = network;
  out["limits"] = {{"timeoutMs", limits.timeout.count()}, {"memMb", limits.mem_mb}, {"stdoutBytes", limits.stdout_bytes}};
  if (filesystem) {
    out["filesystem"] = {{"readonly", json::array(filesystem->readonly.begin(), filesystem->readonly.end())},
                         {"writable", json::array(filesystem->writable.begin(), filesystem->writable.end())}};
  }
  return out;
}

RunPolicy read_run_policy(const json::object& policy) {
  RunPolicy out;
  if (const json::object* network = json::find_object(policy, "network")) out.network = *network;
  if (const json::object* limits = json::find_object(policy, "limits")) {
    out.limits.timeout = std::chrono::milliseconds(json::find_int(*limits, "timeoutMs").value_or(out.limits.timeout.count()));
    out.limits.mem_mb = static_cast<std::size_t>(json::find_int(*limits, "memMb").value_or(static_cast<std::int64_t>(out.limits.mem_mb)));
    out.limits.stdout_bytes = static_cast<std::size_t>(json::find_int(*limits, "stdoutBytes").value_or(static_cast<std::int64_t>(out.limits.stdout_bytes)));
  }
  return out;
}

Result<NarrowedPolicy> narrow(const RunPolicy& server, const json::object& block) {
  RELAY_CHECK(check_members(block, "", {"network", "filesystem", "limits"}));
  NarrowedPolicy out{server, {}};
  if (const json::object* limits = json::find_object(block, "limits")) {
    RELAY_CHECK(check_limits(*limits));
    narrow_limits(out.policy.limits, *limits, out.notes);
  }
  if (const json::object* filesystem = json::find_object(block, "filesystem")) {
    RELAY_CHECK(check_members(*filesystem, ".filesystem", {"readonly", "writable"}));
    out.policy.filesystem = vfs::PathPolicySpec{strings(*filesystem, "readonly"), strings(*filesystem, "writable")};
  }
  return out;
}

}  // namespace relay::tools
