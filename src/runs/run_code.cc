#include "runs/run_code.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "codemode/inner_context.h"
#include "runs/display_service.h"
#include "runs/file_service.h"
#include "runs/input_service.h"
#include "runs/run_host.h"
#include "runs/server_service.h"

namespace relay::runs {
namespace {

executors::RunLimits run_limits_of(const policy::LimitsPolicy& limits) {
  return {.timeout = std::chrono::milliseconds(limits.timeout_ms),
          .mem_mb = static_cast<std::size_t>(limits.mem_mb),
          .stdout_bytes = static_cast<std::size_t>(limits.stdout_bytes)};
}

executors::RunRequest make_request(SealedRun sealed, const CodeRun& run, const RunArguments& arguments,
                                   const policy::RunPolicy& policy) {
  executors::RunRequest request;
  request.runtime = executors::default_runtime(run.language);
  request.capsule = std::move(sealed.capsule);
  request.key = std::move(sealed.key);
  request.stdin_bytes = arguments.stdin_text;
  request.session = arguments.session;
  request.stdin_live = static_cast<bool>(run.read_input);
  request.session_start = arguments.session_start;
  request.limits = run_limits_of(policy.limits);
  if (arguments.timeout) request.limits.timeout = std::min(request.limits.timeout, *arguments.timeout);
  return request;
}

capsule::BuildRequest make_build(const CodeRun& run, const RunArguments& arguments,
                                 const policy::RunPolicy& policy,
                                 std::optional<capsule::DepsLayer> packages) {
  return {.language = run.language,
          .code = arguments.code,
          .argv = arguments.args,
          .env = arguments.env,
          .cwd = arguments.cwd,
          .policy = policy.to_json(),
          .deps = std::move(packages),
          .file_name = run.file_name};
}

// A run sees no more of the tree than its policy says, and changes a mount only where its caller could with
// the tool `write`.
Result<std::shared_ptr<vfs::Tree>> open_tree(const RunDependencies& world,
                                             const authority::Recorded& recorded, const vfs::Holder& holder,
                                             const policy::RunPolicy& policy) {
  RELAY_TRY(std::shared_ptr<vfs::Tree> tree, world.trees.open_tree(recorded, holder));
  vfs::Tree view = *tree;
  if (!(policy.filesystem == world.policy.filesystem)) view = view.narrowed(policy.filesystem);
  if (world.may_write)
    view = view.guarded([ask = world.may_write, effects = recorded.effects()](std::string_view path) {
      return ask(effects->call(), path);
    });
  return std::make_shared<vfs::Tree>(std::move(view));
}

std::shared_ptr<GuardedNetwork> make_network(const RunDependencies& world,
                                             const authority::Recorded& recorded,
                                             const policy::RunPolicy& policy) {
  fetch::FetchOptions options;
  if (world.on_refusal)
    options.on_refusal = [report = world.on_refusal, effects = recorded.effects()](
                             const fetch::BlockedFetch& refusal) { report(refusal, effects->call()); };
  return std::make_shared<GuardedNetwork>(
      world.loop, fetch::GuardedFetch::make(recorded, world.loop, world.http,
                                            fetch::rules_from(policy.network), std::move(options)));
}

io::Task<std::optional<capsule::DepsLayer>> resolve_packages(
    const RunDependencies& world, const authority::Recorded& recorded, executors::Language language,
    const RunArguments& arguments, packages::InstallRules rules, std::shared_ptr<GuardedNetwork> network,
    executors::RunObserver& observer) {
  auto fetch_wheel = [network](std::string url) { return network->fetch_bytes(std::move(url)); };
  auto report = [&observer](std::string_view phase, std::chrono::milliseconds elapsed) {
    observer.on_progress(
        fmt::format("{} ({} s)", phase, std::chrono::duration_cast<std::chrono::seconds>(elapsed).count()));
  };
  co_return co_await world.packages.resolve(recorded, language, arguments.packages, arguments.code,
                                            std::move(rules), std::move(fetch_wheel), std::move(report));
}

// Code becomes a capsule here; one that was sealed before stays what it is.
io::Task<SealedRun> seal(const RunDependencies& world, const authority::Recorded& recorded,
                         const CodeRun& run, const RunArguments& arguments,
                         const policy::NarrowedPolicy& narrowed, std::shared_ptr<GuardedNetwork> network,
                         executors::RunObserver& observer) {
  if (run.sealed) co_return *run.sealed;
  const policy::RunPolicy& policy = narrowed.policy;
  packages::InstallRules rules{.denied = policy.network.denied, .allowed = narrowed.call_hosts};
  RELAY_CO_TRY(std::optional<capsule::DepsLayer> packages,
               co_await resolve_packages(world, recorded, run.language, arguments, std::move(rules),
                                         std::move(network), observer));
  RELAY_CO_TRY(capsule::Capsule built,
               world.capsules.build(make_build(run, arguments, policy, std::move(packages))));
  if (world.keep_capsule) world.keep_capsule(built);
  co_return SealedRun{std::move(built), world.capsules.keys().current().public_key().spki_base64()};
}

/// The servers of one run. However the run ends, whatever still comes from its guest finds them closed.
class OpenServers {
 public:
  static Result<OpenServers> open(const RunDependencies& world, const authority::Recorded& recorded,
                                  serving::Context* context,
                                  const std::optional<std::vector<std::string>>& named) {
    OpenServers opened;
    if (!world.code_mode) return opened;
    if (!context) {
      opened.bare_ = std::make_shared<codemode::BareContext>(recorded.call().caller);
      context = opened.bare_.get();
    }
    RELAY_TRY(opened.servers_, world.code_mode->open_run(*context, recorded.call().request_id, named));
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

constexpr std::size_t kKeyBytes = 12;  // of the key of a session

// "work" of "work-k3f7-5f0c…", and every other name as it is.
std::string_view without_key(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || name.size() - dash - 1 != 2 * kKeyBytes) return name;
  if (name.find_first_not_of("0123456789abcdef", dash + 1) != std::string_view::npos) return name;
  name = name.substr(0, dash);
  const std::size_t node = name.rfind('-');
  return node != std::string_view::npos && is_node(name.substr(node + 1)) ? name.substr(0, node) : name;
}

/// What stays of a run, and whose it is. A client that nothing tells from others gets a key from us with the
/// first run of a session, as its name from then on; without a session nothing of the run stays.
class RunKeeping {
 public:
  RunKeeping(const RunDependencies& world, const authority::Call& call, const RunArguments& arguments,
             const executors::Executor& executor)
      : world_(world),
        executor_(executor),
        holder_(authority::key_of_client(call.caller)),
        session_(arguments.session) {
    if (!holder_.empty()) return;
    if (session_.empty()) {
      holder_.text = "run " + call.request_id;
      holder_.is_scratch = true;
      return;
    }
    if (!is_known(executors::session_key_of(call.caller, session_)))
      session_ = new_session_ = keyed_name(session_);
    guest_ = executors::session_key_of(call.caller, session_);
    holder_ = holder_of_session(*guest_);
  }
  RunKeeping(const RunKeeping&) = delete;
  RunKeeping& operator=(const RunKeeping&) = delete;
  // A guest session that is there keeps its files, and they go with it. It is not there when the run did not
  // come so far.
  ~RunKeeping() {
    const bool is_over = holder_.is_scratch || (guest_ && !is_known(*guest_));
    if (is_over && world_.trees.has_files(holder_))
      world_.pool.post([&trees = world_.trees, holder = holder_] {
        [[maybe_unused]] const auto closed = trees.close(holder);  // what is left goes at the next start
      });
  }

  [[nodiscard]] const vfs::Holder& holder() const { return holder_; }
  [[nodiscard]] const std::string& session() const { return session_; }
  /// The name that the client has to use from now on; empty when it is the one that it gave.
  [[nodiscard]] const std::string& new_session() const { return new_session_; }

 private:
  [[nodiscard]] bool is_known(const executors::SessionKey& key) const {
    return std::ranges::any_of(executors::kRuntimes, [&](executors::Runtime runtime) {
      return executor_.has_session(key, runtime);
    });
  }

  // "work" becomes "work-k3f7-5f0c…"; so does a name that we made and whose session is gone.
  std::string keyed_name(std::string_view name) const {
    const std::string key = world_.ids.make("-", kKeyBytes);
    return std::string(utf8_prefix(without_key(name), limits::kSessionNameBytes - key.size())) + key;
  }

  const RunDependencies& world_;
  const executors::Executor& executor_;
  vfs::Holder holder_;
  std::optional<executors::SessionKey> guest_;  // where nothing tells the client from others
  std::string session_;
  std::string new_session_;
};

}  // namespace

vfs::Holder holder_of_session(const executors::SessionKey& key) {
  return authority::ClientKey{.text = fmt::format("guest {}\n{}", key.owner, key.name)};
}

io::Task<FinishedRun> run_code(const RunDependencies& world, const authority::Recorded& recorded, CodeRun run,
                               executors::RunObserver& observer) {
  RELAY_CO_TRY(RunArguments arguments, read_run_arguments(recorded.call().args.object(), run.language));
  RELAY_CO_TRY(executors::Executor * executor,
               world.executors.choose(arguments.executor, executors::default_runtime(run.language)));
  const json::object& narrowing = run.sealed ? run.sealed->capsule.manifest.policy : arguments.policy;
  RELAY_CO_TRY(policy::NarrowedPolicy narrowed, policy::narrow(world.policy, narrowing));
  const RunKeeping keeping(world, recorded.call(), arguments, *executor);
  arguments.session = keeping.session();
  RELAY_CO_TRY(std::shared_ptr<vfs::Tree> tree,
               open_tree(world, recorded, keeping.holder(), narrowed.policy));
  auto network = make_network(world, recorded, narrowed.policy);
  RELAY_CO_TRY(SealedRun sealed, co_await seal(world, recorded, run, arguments, narrowed, network, observer));
  RELAY_CO_TRY(const OpenServers servers, OpenServers::open(world, recorded, run.context, arguments.servers));
  const auto files = std::make_shared<FileService>(recorded, world.pool, tree);
  const auto display = std::make_shared<DisplayService>(world.pool, std::move(tree));
  std::vector<std::shared_ptr<HostService>> services = {
      files, std::move(network), display, std::make_shared<InputService>(world.pool, run.read_input),
      std::make_shared<ServerService>(servers.servers())};
  auto host = std::make_shared<RunHost>(std::move(services));
  executors::RunRequest request = make_request(std::move(sealed), run, arguments, narrowed.policy);
  request.servers = servers.listing();
  FinishedRun finished;
  finished.run_id = executors::run_id_of(recorded.call().request_id);
  finished.notes = std::move(narrowed.notes);
  finished.session = keeping.new_session();
  RELAY_CO_TRY(finished.outcome,
               co_await executor->run(recorded, std::move(request), std::move(host), observer));
  if (!finished.outcome.session_note.empty()) finished.notes.push_back(finished.outcome.session_note);
  RELAY_CO_TRY(finished.artifacts, co_await files->artifacts());
  finished.displayed = display->take_displayed();
  co_return finished;
}

}  // namespace relay::runs
