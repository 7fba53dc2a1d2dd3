#include "tools/run_policy.h"

#include <fmt/format.h>

namespace relay::tools {
namespace {

const json::object& block_of(const json::object& policy, std::string_view name) {
  static const json::object kEmpty;
  const json::object* block = json::find_object(policy, name);
  return block ? *block : kEmpty;
}

json::array texts(const std::vector<std::string>& items) {
  return json::array(items.begin(), items.end());
}

json::array texts(const std::vector<policy::HostPattern>& patterns) {
  json::array out;
  for (const policy::HostPattern& pattern : patterns) out.emplace_back(policy::to_text(pattern));
  return out;
}

struct Requests {
  policy::NetworkRequest network;
  policy::FilesystemRequest filesystem;
  policy::LimitsRequest limits;
};

Result<Requests> read_requests(const json::object& block) {
  std::vector<policy::Problem> problems;
  Requests requests{policy::read_network(block_of(block, "network"), "policy.network", problems),
                    policy::read_filesystem(block_of(block, "filesystem"), "policy.filesystem", problems),
                    policy::read_limits(block_of(block, "limits"), "policy.limits", problems)};
  if (!problems.empty())
    return fail(invalid(fmt::format("{}: {}", problems.front().path, problems.front().message)));
  return requests;
}

template <class T>
T take(policy::Narrowed<T> narrowed, std::vector<std::string>& notes) {
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
  out["filesystem"] = {{"readonly", texts(filesystem.readonly)}, {"writable", texts(filesystem.writable)}};
  out["limits"] = {
      {"timeoutMs", limits.timeout_ms}, {"memMb", limits.mem_mb}, {"stdoutBytes", limits.stdout_bytes}};
  return out;
}

executors::RunLimits RunPolicy::run_limits() const {
  return {.timeout = std::chrono::milliseconds(limits.timeout_ms),
          .mem_mb = static_cast<std::size_t>(limits.mem_mb),
          .stdout_bytes = static_cast<std::size_t>(limits.stdout_bytes)};
}

Result<RunPolicy> read_run_policy(const json::object& block) {
  RELAY_TRY(const Requests requests, read_requests(block));
  return RunPolicy{policy::apply_defaults(requests.network), policy::apply_defaults(requests.filesystem),
                   policy::apply_defaults(requests.limits)};
}

Result<NarrowedPolicy> narrow(const RunPolicy& server, const json::object& block) {
  NarrowedPolicy out{server, {}};
  if (block.empty()) return out;
  for (const auto& member : block)
    if (member.key() != "network" && member.key() != "filesystem" && member.key() != "limits")
      return fail(invalid(fmt::format("policy: unknown member \"{}\"; it has network, filesystem and limits",
                                      std::string(member.key()))));
  RELAY_TRY(const Requests requests, read_requests(block));
  out.policy.network = take(policy::intersect(server.network, requests.network), out.notes);
  out.policy.filesystem = take(policy::intersect(server.filesystem, requests.filesystem), out.notes);
  out.policy.limits = take(policy::intersect(server.limits, requests.limits), out.notes);
  return out;
}

}  // namespace relay::tools
