#include "policy/run_policy.h"

#include <fmt/format.h>

namespace relay::policy {
namespace {

const json::object& block_of(const json::object& policy, std::string_view name) {
  static const json::object kEmpty;
  const json::object* block = json::find_object(policy, name);
  return block ? *block : kEmpty;
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

Result<Requests> read_requests(const json::object& block) {
  std::vector<Problem> problems;
  Requests requests{read_network(block_of(block, "network"), "policy.network", problems),
                    read_filesystem(block_of(block, "filesystem"), "policy.filesystem", problems),
                    read_limits(block_of(block, "limits"), "policy.limits", problems)};
  if (!problems.empty())
    return fail(invalid(fmt::format("{}: {}", problems.front().path, problems.front().message)));
  return requests;
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

Result<RunPolicy> read_run_policy(const json::object& block) {
  RELAY_TRY(const Requests requests, read_requests(block));
  return RunPolicy{apply_defaults(requests.network), apply_defaults(requests.filesystem),
                   apply_defaults(requests.limits)};
}

Result<NarrowedPolicy> narrow(const RunPolicy& server, const json::object& block) {
  NarrowedPolicy out{server, {}};
  if (block.empty()) return out;
  for (const auto& member : block)
    if (member.key() != "network" && member.key() != "filesystem" && member.key() != "limits")
      return fail(invalid(fmt::format("policy: unknown member \"{}\"; it has network, filesystem and limits",
                                      std::string(member.key()))));
  RELAY_TRY(const Requests requests, read_requests(block));
  out.policy.network = take(intersect(server.network, requests.network), out.notes);
  out.policy.filesystem = take(intersect(server.filesystem, requests.filesystem), out.notes);
  out.policy.limits = take(intersect(server.limits, requests.limits), out.notes);
  return out;
}

}  // namespace relay::policy
