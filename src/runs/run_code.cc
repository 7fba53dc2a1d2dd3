#include "runs/run_code.h"

#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "codemode/inner_context.h"

namespace relay::runs {
namespace {

executors::RunLimits run_limits_of(const policy::LimitsPolicy& limits) {
  return {.timeout = std::chrono::milliseconds(limits.timeout_ms),
          .mem_mb = static_cast<std::size_t>(limits.mem_mb),
          .stdout_bytes = static_cast<std::size_t>(limits.stdout_bytes)};
}

executors::RunRequest make_request(const RunDependencies& world, SealedRun sealed, CodeRun run,
                                   const policy::RunPolicy& policy) {
  executors::RunRequest request;
  request.run_id = make_id(world.random, "run_");
  request.principal = run.principal;
  request.capsule = std::move(sealed.capsule);
  request.key = std::move(sealed.key);
  request.stdin_bytes = std::move(run.arguments.stdin_text);
  if (!run.arguments.session.empty())
    request.session = executors::SessionKey{run.principal, run.arguments.session};
  request.stdin_live = static_cast<bool>(run.read_input);
  request.session_start = run.arguments.session_start;
  request.limits = run_limits_of(policy.limits);
  if (run.arguments.timeout)
    request.limits.timeout = std::min(request.limits.timeout, *run.arguments.timeout);
  return request;
}

capsule::BuildRequest make_build(const CodeRun& run, const policy::RunPolicy& policy,
                                 std::optional<capsule::DepsLayer> packages) {
  return {.language = run.language,
          .code = run.arguments.code,
          .argv = run.arguments.args,
          .env = run.arguments.env,
          .cwd = run.arguments.cwd,
          .policy = policy.to_json(),
          .deps = std::move(packages),
          .file_name = run.file_name};
}

// A run sees no more of the tree than its policy says, and changes a mount only where its caller could with
// the tool `write`.
Result<std::shared_ptr<vfs::Tree>> open_tree(const RunDependencies& world,
                                             const authority::Recorded& recorded, const CodeRun& run,
                                             const policy::RunPolicy& policy) {
  RELAY_TRY(std::shared_ptr<vfs::Tree> tree, world.trees.open_tree({run.principal, run.client_session}));
  vfs::Tree view = *tree;
  if (!(policy.filesystem == world.policy.filesystem)) view = view.narrowed(policy.filesystem);
  if (world.may_write)
    view = view.guarded(
        [ask = world.may_write, call = recorded.call()](std::string_view path) { return ask(call, path); });
  return std::make_shared<vfs::Tree>(std::move(view));
}

std::shared_ptr<GuardedNetwork> make_network(const RunDependencies& world,
                                             const authority::Recorded& recorded,
                                             const policy::RunPolicy& policy) {
  fetch::FetchOptions options;
  if (world.on_refusal)
    options.on_refusal = [report = world.on_refusal, call = recorded.call(), nth = std::size_t{0}](
                             const fetch::BlockedFetch& refusal) mutable { report(refusal, call, ++nth); };
  return std::make_shared<GuardedNetwork>(
      world.loop, fetch::GuardedFetch::make(world.loop, world.http, fetch::rules_from(policy.network),
                                            std::move(options)));
}

io::Task<std::optional<capsule::DepsLayer>> resolve_packages(const RunDependencies& world, const CodeRun& run,
                                                             std::shared_ptr<GuardedNetwork> network,
                                                             executors::RunObserver& observer) {
  auto fetch_wheel = [network](std::string url) { return network->fetch_bytes(std::move(url)); };
  auto report = [&observer](std::string_view phase, std::chrono::milliseconds elapsed) {
    observer.on_progress(
        fmt::format("{} ({} s)", phase, std::chrono::duration_cast<std::chrono::seconds>(elapsed).count()));
  };
  co_return co_await world.packages.resolve(run.language, run.arguments.packages, run.arguments.code,
                                            std::move(fetch_wheel), std::move(report));
}

// Code becomes a capsule here; one that was sealed before stays what it is.
io::Task<SealedRun> seal(const RunDependencies& world, const CodeRun& run, const policy::RunPolicy& policy,
                         std::shared_ptr<GuardedNetwork> network, executors::RunObserver& observer) {
  if (run.sealed) co_return *run.sealed;
  RELAY_CO_TRY(std::optional<capsule::DepsLayer> packages,
               co_await resolve_packages(world, run, std::move(network), observer));
  RELAY_CO_TRY(capsule::Capsule built, world.capsules.build(make_build(run, policy, std::move(packages))));
  if (world.keep_capsule) world.keep_capsule(built);
  co_return SealedRun{std::move(built), world.capsules.keys().current().public_key().spki_base64()};
}

/// The servers of one run. However the run ends, whatever still comes from its guest finds them closed.
class OpenServers {
 public:
  static Result<OpenServers> open(const RunDependencies& world, const authority::Recorded& recorded,
                                  const CodeRun& run) {
    OpenServers opened;
    if (!world.code_mode) return opened;
    mcp::Context* context = run.context;
    if (!context) {
      opened.bare_ = std::make_shared<codemode::BareContext>(recorded.call().caller, world.loop);
      context = opened.bare_.get();
    }
    RELAY_TRY(opened.servers_,
              world.code_mode->open_run(*context, recorded.call().request_id, run.arguments.servers));
    return opened;
  }
  OpenServers(OpenServers&&) = default;
  OpenServers& operator=(OpenServers&&) = delete;
  ~OpenServers() {
    if (servers_) servers_->close();
  }
  [[nodiscard]] const std::shared_ptr<codemode::RunServers>& servers() const { return servers_; }
  [[nodiscard]] json::array listing() const { return servers_ ? servers_->listing() : json::array(); }

 private:
  OpenServers() = default;
  std::shared_ptr<codemode::BareContext> bare_;
  std::shared_ptr<codemode::RunServers> servers_;
};

}  // namespace

io::Task<FinishedRun> run_code(const RunDependencies& world, const authority::Recorded& recorded, CodeRun run,
                               executors::RunObserver& observer) {
  RELAY_CO_TRY(policy::NarrowedPolicy narrowed, policy::narrow(world.policy, run.arguments.policy));
  RELAY_CO_TRY(std::shared_ptr<vfs::Tree> tree, open_tree(world, recorded, run, narrowed.policy));
  auto network = make_network(world, recorded, narrowed.policy);
  RELAY_CO_TRY(SealedRun sealed, co_await seal(world, run, narrowed.policy, network, observer));
  RELAY_CO_TRY(const OpenServers servers, OpenServers::open(world, recorded, run));
  auto host = std::make_shared<RunHost>(world.pool, std::move(tree), std::move(network), servers.servers());
  host->set_input(run.read_input);
  executors::RunRequest request = make_request(world, std::move(sealed), std::move(run), narrowed.policy);
  request.servers = servers.listing();
  FinishedRun finished;
  finished.run_id = request.run_id;
  finished.notes = std::move(narrowed.notes);
  RELAY_CO_TRY(finished.outcome, co_await world.local.run(recorded, std::move(request), host, observer));
  if (!finished.outcome.session_note.empty()) finished.notes.push_back(finished.outcome.session_note);
  RELAY_CO_TRY(finished.artifacts, co_await host->artifacts());
  finished.displayed = host->take_displayed();
  co_return finished;
}

}  // namespace relay::runs
