#include "policy/run_policy.h"

#include <array>

#include <fmt/format.h>

#include "policy/policy_reader.h"

namespace relay::policy {
namespace {

// Nothing when the member is missing; something else than an object is a problem, not "no restriction".
json::object block_of(const json::object& policy, std::string_view name, std::string_view path,
                      std::vector<Problem>& problems) {
  const json::value* found = json::find(policy, name);
  if (!found) return {};
  if (const json::object* block = found->if_object()) return *block;
  problems.push_back({fmt::format("{}.{}", path, name), "must be an object, such as {} for no change"});
  return {};
}

json::array texts(const std::vector<std::string>& items) {
  return json::array(items.begin(), items.end());
}

json::array texts(const std::vector<HostPattern>& patterns) {
  json::array out;
  for (const HostPattern& pattern : patterns) out.emplace_back(to_text(pattern));
  return out;
}

struct Requests {
  NetworkRequest network;
  FilesystemRequest filesystem;
  LimitsRequest limits;
};

Requests read_requests(const json::object& block, std::string_view path, std::vector<Problem>& problems) {
  const auto place = [&](std::string_view name) { return fmt::format("{}.{}", path, name); };
  return {read_network(block_of(block, "network", path, problems), place("network"), problems),
          read_filesystem(block_of(block, "filesystem", path, problems), place("filesystem"), problems),
          read_limits(block_of(block, "limits", path, problems), place("limits"), problems)};
}

template <class T>
T take(Narrowed<T> narrowed, std::vector<std::string>& notes) {
  for (const std::string& widening : narrowed.widening)
    notes.push_back("the call's policy can only narrow; ignored: " + widening);
  return std::move(narrowed.policy);
}

}  // namespace

json::object RunPolicy::to_json() const {
  json::object out;
  out["network"] = {
      {"allowedDomains", texts(network.allowed)},   {"deniedDomains", texts(network.denied)},
      {"denyIpLiterals", network.deny_ip_literals}, {"blockPrivateRanges", network.block_private_ranges},
      {"maxBodyBytes", network.max_body_bytes},     {"maxRedirects", network.max_redirects}};
  out["filesystem"] = {{"readonly", texts(filesystem.readonly)},
                       {"writable", texts(filesystem.writable)},
                       {"denied", texts(filesystem.denied)}};
  out["limits"] = {
      {"timeoutMs", limits.timeout_ms}, {"memMb", limits.mem_mb}, {"stdoutBytes", limits.stdout_bytes}};
  return out;
}

RunPolicy read_run_policy(const json::object& block, const std::vector<std::string>& writable,
                          std::string_view path, std::vector<Problem>& problems) {
  Requests requests = read_requests(block, path, problems);
  if (!requests.filesystem.writable) requests.filesystem.writable = writable;
  return {apply_defaults(requests.network), apply_defaults(requests.filesystem),
          apply_defaults(requests.limits)};
}

Result<NarrowedPolicy> narrow(const RunPolicy& server, const json::object& block) {
  constexpr std::array<std::string_view, 3> kKnown{"network", "filesystem", "limits"};
  NarrowedPolicy out{.policy = server};
  if (block.empty()) return out;
  std::vector<Problem> problems;
  BlockReader(block, "policy", problems).expect_only(kKnown);
  const Requests requests = read_requests(block, "policy", problems);
  if (!problems.empty())
    return fail(invalid(fmt::format("{}: {}", problems.front().path, problems.front().message)));
  out.call_hosts = requests.network.allowed;
  out.policy.network = take(intersect(server.network, requests.network), out.notes);
  out.policy.filesystem = take(intersect(server.filesystem, requests.filesystem), out.notes);
  out.policy.limits = take(intersect(server.limits, requests.limits), out.notes);
  return out;
}

}  // namespace relay::policy
