#include "packages/packages.h"

namespace relay::packages {
namespace {

Result<void> check_hosts(std::string_view key, const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts)
    if (const auto pattern = policy::parse_host_pattern(host); !pattern)
      return fail(invalid(fmt::format("{}: {}", key, pattern.error().message)));
  return {};
}

}  // namespace

Packages::Packages(PackageOptions options, io::ThreadPool& pool, const Clock& clock)
    : tools_(std::move(options.tools), clock),
      npm_(std::move(options.npm), tools_, pool, clock),
      py_(std::move(options.py), tools_, pool, clock) {}

Result<std::unique_ptr<Packages>> Packages::make(PackageOptions options, io::ThreadPool& pool,
                                                 const Clock& clock) {
  RELAY_TRY(NpmRequest npm, parse_npm_request(options.configured_npm));
  RELAY_TRY(PyRequest py, parse_py_request(options.configured_pip));
  RELAY_CHECK(check_hosts("npm.hosts", options.npm.hosts));
  RELAY_CHECK(check_hosts("pip.hosts", options.py.hosts));
  std::unique_ptr<Packages> packages(new Packages(std::move(options), pool, clock));
  packages->npm_for_all_ = std::move(npm);
  packages->py_for_all_ = std::move(py);
  return packages;
}

Result<void> Packages::prune() {
  RELAY_CHECK(npm_.prune());
  return py_.prune();
}

io::Task<std::optional<capsule::DepsLayer>> Packages::resolve(const authority::Recorded& recorded,
                                                              capsule::Language language,
                                                              const json::object& requested,
                                                              std::string_view code, InstallRules rules,
                                                              WheelFetcher fetch, Progress progress) {
  switch (language) {
    case capsule::Language::js:
      co_return co_await resolve_npm(recorded.effects(), requested, code, std::move(rules),
                                     std::move(progress));
    case capsule::Language::py:
      co_return co_await resolve_py(recorded.effects(), requested, std::move(rules), std::move(fetch),
                                    std::move(progress));
  }
  co_return std::optional<capsule::DepsLayer>{};
}

io::Task<std::optional<capsule::DepsLayer>> Packages::resolve_npm(EffectsPtr effects,
                                                                  const json::object& requested,
                                                                  std::string_view code, InstallRules rules,
                                                                  Progress progress) {
  RELAY_CO_TRY(const NpmRequest called, parse_npm_request(requested));
  NpmRequest request = merge(npm_for_all_, called);
  if (request.empty() && !called.lockfile.empty())
    co_return fail(
        invalid("npm.lockfile fixes the versions of npm.dependencies; name them, or leave it out"));
  if (request.empty()) co_return std::optional<capsule::DepsLayer>{};
  request.subpaths = find_subpaths(code, request);
  RELAY_CO_TRY(capsule::DepsLayer layer, co_await npm_.resolve(std::move(effects), std::move(request),
                                                               std::move(rules), std::move(progress)));
  co_return std::optional<capsule::DepsLayer>(std::move(layer));
}

io::Task<std::optional<capsule::DepsLayer>> Packages::resolve_py(EffectsPtr effects,
                                                                 const json::object& requested,
                                                                 InstallRules rules, WheelFetcher fetch,
                                                                 Progress progress) {
  RELAY_CO_TRY(const PyRequest called, parse_py_request(requested));
  PyRequest request = merge(py_for_all_, called);
  if (request.empty()) co_return std::optional<capsule::DepsLayer>{};
  RELAY_CO_TRY(capsule::DepsLayer layer,
               co_await py_.resolve(std::move(effects), std::move(request), std::move(rules),
                                    std::move(fetch), std::move(progress)));
  co_return std::optional<capsule::DepsLayer>(std::move(layer));
}

}  // namespace relay::packages
