#include "world/execution_part.h"

#include <algorithm>

#include "base/limits.h"
#include "io/spawn.h"
#include "tools/files_tools.h"
#include "world/housekeeping.h"
#include "world/package_options.h"

namespace relay::world {
namespace {

json::value group_status(const executors::ZygoteStatus& zygote) {
  json::object group{{"version", zygote.group}};
  if (!zygote.group_reason.empty()) group["reason"] = zygote.group_reason;
  if (zygote.group_directories.empty()) return group;
  group["directories"] = json::array(zygote.group_directories.begin(), zygote.group_directories.end());
  group["memoryBytes"] = zygote.group_memory_bytes;
  return group;
}

json::value execution_status(const executors::LocalExecutor& local, config::WallsChoice walls) {
  const executors::LocalStatus status = local.status();
  json::array runtimes;
  for (const executors::LocalStatus::BootedRuntime& booted : status.runtimes)
    runtimes.push_back({{"runtime", std::string(executors::name_of(booted.runtime))},
                        {"language", std::string(executors::name_of(executors::language_of(booted.runtime)))},
                        {"state", std::string(executors::name_of(booted.zygote.phase))},
                        {"ready", booted.ready},
                        {"bootMs", booted.zygote.boot_ms},
                        {"cgroup", group_status(booted.zygote)},
                        {"walls", json::array(booted.zygote.walls.begin(), booted.zygote.walls.end())}});
  return {{"runtimes", std::move(runtimes)},
          {"wallLevel", std::string(config::word_of(walls))},
          {"running", status.running},
          {"queued", status.waiting},
          {"sessions", status.sessions},
          {"runs", status.runs},
          {"leakedChildren", status.leaked_children}};
}

// A group limits what runs use together. One run alone has its own limits, and need not make a group and
// remove it again.
bool wants_groups(const config::ExecutorConfig& config, Purpose purpose) {
  return purpose != Purpose::run || config.cgroup.place != config::CgroupChoice::Place::automatic;
}

// Where nothing tells a client from others, its files are those of its guest session and go with it.
std::function<void(const executors::SessionKey&)> close_files(io::ThreadPool& pool, vfs::Trees& trees) {
  return [&pool, &trees](const executors::SessionKey& key) {
    const vfs::Holder holder = runs::holder_of_session(key);
    if (!trees.has_files(holder)) return;
    pool.post([&trees, holder] {
      [[maybe_unused]] const auto closed = trees.close(holder);  // what is left goes at the next start
    });
  };
}

executors::LocalConfig local_config(const config::Config& config, Purpose purpose,
                                    const ExecutionPart::Needs& needs) {
  executors::LocalConfig local;
  local.zygote_program = (program_directory() / "relay-zygote").string();
  local.runtime_dir = (program_directory().parent_path() / "runtime").string();
  local.walls = config.executor.walls == config::WallsChoice::reduced ? sandbox::WallLevel::reduced
                                                                      : sandbox::WallLevel::full;
  if (wants_groups(config.executor, purpose)) local.groups = needs.groups.find();
  local.group_memory_bytes = config.executor.total_mem_mb * limits::kMiB;
  local.ready_children = config.executor.ready_children;
  local.queue.computing_max = config.executor.max_concurrent_runs;
  local.queue.alive_max = std::max(limits::kRunsAlive, 2 * local.queue.computing_max);
  local.queue.alive_per_owner_max = std::max(limits::kRunsAlivePerClient, local.queue.computing_max);
  local.sessions.idle = config.session_ttl;
  local.sessions.on_end = close_files(needs.pool, needs.files.trees());
  return local;
}

// `relay run` is the user's own command and runs here.
executors::Routing routing(const config::Config& config, Purpose purpose) {
  return purpose != Purpose::run && config.executor.require_browser ? executors::Routing::browser_only
                                                                    : executors::Routing::anywhere;
}

Result<std::unique_ptr<packages::Packages>> open_packages(const config::Config& config,
                                                          const ExecutionPart::Needs& needs) {
  RELAY_TRY(packages::PackageOptions options, package_options(config));
  options.tools.parts.executor = needs.services.loop;
  options.tools.parts.find_group_site = [&groups = needs.groups] { return groups.find(); };
  options.tools.log = &needs.services.log;
  return packages::Packages::make(std::move(options), needs.pool, needs.services.clock);
}

}  // namespace

// The patterns were compiled once when the configuration was read, so they cannot be wrong here.
void WriteJudge::set_rules(const policy::Rules& rules) {
  std::vector<policy::Problem> problems;
  engine_ =
      std::make_shared<const policy::PolicyEngine>(policy::PolicyEngine::make(rules, "$.policy", problems));
}

bool WriteJudge::allows(const authority::Call& run, std::string_view path) const {
  return engine_.load()->decide(tools::write_by_run(run, path)).verdict == authority::Verdict::allow;
}

ExecutionPart::ExecutionPart(const config::Config& config, Purpose purpose, const Needs& needs,
                             std::unique_ptr<packages::Packages> packages)
    : services_(needs.services),
      pool_(needs.pool),
      walls_(config.executor.walls),
      refusals_(needs.services.log),
      writes_(config.policy.rules),
      packages_(std::move(packages)),
      local_(needs.services.loop, needs.services.clock, local_config(config, purpose, needs)),
      executors_(routing(config, purpose)) {
  executors_.add(local_);
  runs_ = std::shared_ptr<runs::RunDependencies>(
      new runs::RunDependencies{.executors = executors_,
                                .capsules = needs.capsules.builder(),
                                .trees = needs.files.trees(),
                                .pool = pool_,
                                .policy = config.policy.run,
                                .http = services_.http,
                                .loop = services_.loop,
                                .ids = needs.ids,
                                .packages = *packages_,
                                .on_refusal = std::bind_front(&RefusalBook::add, &refusals_),
                                .may_write = std::bind_front(&WriteJudge::allows, &writes_),
                                .keep_capsule = std::bind_front(&CapsulePart::keep, &needs.capsules),
                                .code_mode = &needs.fleet.code_mode()});
}

Result<std::unique_ptr<ExecutionPart>> ExecutionPart::open(const config::Config& config, Purpose purpose,
                                                           const Needs& needs) {
  RELAY_TRY(auto packages, open_packages(config, needs));
  return std::unique_ptr<ExecutionPart>(new ExecutionPart(config, purpose, needs, std::move(packages)));
}

ExecutionPart::~ExecutionPart() {
  executors_.stop();
}

void ExecutionPart::adopt(const config::Config& now) {
  writes_.set_rules(now.policy.rules);
  runs_->policy = now.policy.run;
}

void ExecutionPart::describe(tools::ServerInfo& info) const {
  info.add("execution", [this] { return execution_status(local_, walls_); });
}

void ExecutionPart::measure(metrics::Registry& metrics) const {
  refusals_.measure(metrics);
  const auto status = [this](auto member) {
    return [this, member] { return static_cast<double>(local_.status().*member); };
  };
  metrics.add_gauge("relay_runs_running", "Runs that have a sandbox now",
                    status(&executors::LocalStatus::running));
  metrics.add_gauge("relay_runs_queued", "Runs that wait for a place",
                    status(&executors::LocalStatus::waiting));
  metrics.add_gauge("relay_guest_sessions", "Named guest sessions",
                    status(&executors::LocalStatus::sessions));
  metrics.add_gauge("relay_leaked_children",
                    "Sandboxes that the kernel still has and nobody tracks: must be 0",
                    status(&executors::LocalStatus::leaked_children));
}

void ExecutionPart::start(Purpose purpose) {
  if (purpose == Purpose::run) return;
  auto prune = [packages = packages_] { return packages->prune(); };
  io::spawn(services_.loop, keep_pruned(pool_, std::move(prune), services_.log), "prune packages");
  if (purpose != Purpose::serve) return;
  local_.start(executors::Runtime::quickjs);
  local_.start(executors::Runtime::pyodide);
}

io::Task<void> ExecutionPart::stop() {
  executors_.stop();
  co_return Result<void>{};
}

}  // namespace relay::world
