#include "app/world.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/call_observers.h"
#include "app/housekeeping.h"
#include "app/instructions.h"
#include "app/package_options.h"
#include "app/version.h"
#include "base/limits.h"
#include "config/config_upstreams.h"
#include "config/environment.h"
#include "config/state_directory.h"
#include "io/child.h"
#include "io/spawn.h"
#include "secrets/secrets.h"
#include "tools/admin_tools.h"
#include "tools/files_tools.h"

namespace relay::app {
namespace {

constexpr auto kCapsulePause = std::chrono::milliseconds(5);  // most short runs are answered by then
constexpr std::size_t kPoolThreads = 4;  // disk work; more would only queue in the kernel instead

mcp::Identity make_identity() {
  mcp::Identity identity;
  identity.info.name = "relay";
  identity.info.title = "Relay";
  identity.info.version = std::string(kVersion);
  return identity;
}

audit::LogFormat ledger_format(config::AuditFormat format) {
  switch (format) {
    case config::AuditFormat::jsonl: return audit::LogFormat::jsonl;
    case config::AuditFormat::cef: return audit::LogFormat::cef;
    case config::AuditFormat::leef: return audit::LogFormat::leef;
  }
  return audit::LogFormat::jsonl;
}

audit::JournalOptions journal_options(const config::AuditConfig& config) {
  audit::JournalOptions options;
  options.ledger.path = config.path.string();
  options.ledger.format = ledger_format(config.format);
  options.ledger.chain = config.chain ? audit::Chaining::on : audit::Chaining::off;
  options.on_failure = config.on_failure == config::AuditFailure::refuse ? audit::OnFailure::refuse
                                                                         : audit::OnFailure::degrade;
  return options;
}

sandbox::GroupSite open_group_site(const config::CgroupChoice& wanted) {
  sandbox::GroupSite site = sandbox::prepare_group_site(sandbox::find_group_site(config::text_of(wanted)));
  sandbox::remove_abandoned_groups(site);
  return site;
}

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

pipeline::ToolSettings tool_settings(const config::Config& config) {
  pipeline::ToolSettings settings;
  for (const auto& [name, tool] : config.tools)
    settings[name] = {tool.enabled ? pipeline::Offered::yes : pipeline::Offered::no, tool.result_bytes};
  return settings;
}

gateway::GatewayOptions gateway_options(const config::Config& config) {
  gateway::GatewayOptions options;
  options.prefix =
      config.gateway_prefix == config::PrefixChoice::none ? gateway::Prefix::none : gateway::Prefix::always;
  options.list_timeout = config.gateway_list_timeout;
  return options;
}

// What an upstream may have is said from the start: servers come with a changed configuration, and
// capabilities cannot change later.
protocol::ServerCapabilities make_capabilities() {
  protocol::ServerCapabilities capabilities;
  capabilities.resources = true;
  capabilities.resource_subscriptions = true;
  capabilities.prompts = true;
  capabilities.completions = true;
  capabilities.tasks = true;
  return capabilities;
}

}  // namespace

World::World(const config::Config& config, io::Loop loop, Log& log)
    : config_(config), loop_(std::move(loop)), log_(log), pool_(kPoolThreads), started_(clock_.wall()) {}

World::~World() {
  stop_runs();
}

void World::stop_runs() {
  if (executors_) executors_->stop();
}

io::Task<void> World::stop() {
  stop_runs();
  co_return co_await io::with_timeout(fleet_->stop(), limits::kShutdownGrace,
                                      "the upstream servers did not end");
}

void World::leave(int exit_code) {
  stop_runs();
  code_mode_->save();
  approvals_.reset();
  journal_.reset();
  std::fflush(stdout);
  std::_Exit(exit_code);
}

Result<std::unique_ptr<World>> World::build(const config::Config& config, Purpose purpose, io::Loop loop,
                                            Log& log) {
  std::unique_ptr<World> world(new World(config, std::move(loop), log));
  world->http_ = net::HttpClient::make(world->loop_);
  RELAY_CHECK(world->open_state());
  RELAY_CHECK(world->open_policy());
  RELAY_CHECK(world->open_approvals());
  world->open_fleet();
  RELAY_CHECK(world->open_files());
  if (config.has_toolset("code")) RELAY_CHECK(world->open_execution(purpose));
  RELAY_CHECK(world->add_toolsets());
  world->open_gateway();
  world->describe();
  world->measure();
  if (purpose != Purpose::run)
    io::spawn(world->loop_, keep_house(world->pool_, *world->store_, world->packages_.get(), log),
              "housekeeping");
  if (purpose == Purpose::serve && world->local_) {
    world->local_->start(executors::Runtime::quickjs);
    world->local_->start(executors::Runtime::pyodide);
  }
  return world;
}

Result<void> World::open_state() {
  RELAY_TRY(const std::vector<std::string> moved, config::open_state_directory(config_));
  if (!moved.empty())
    log_.info("moved keys and records out of the project",
              {{"from", config_.project.string()},
               {"to", config_.state.string()},
               {"moved", fmt::format("{}", fmt::join(moved, ", "))}});
  RELAY_CHECK(config::open_project_directory(config_));
  RELAY_TRY(capsule::KeyRing keys, capsule::KeyRing::open(config_.signing_key_path));
  if (keys.is_new())
    log_.info("made a signing key", {{"fingerprint", keys.current().public_key().fingerprint()},
                                     {"path", config_.signing_key_path.string()}});
  key_ring_ = std::make_shared<const capsule::KeyRing>(std::move(keys));
  capsules_ = std::make_unique<capsule::CapsuleBuilder>(key_ring_, capsule::RuntimeIds{});
  RELAY_TRY(store_, capsule::CapsuleStore::open(config_.cache_dir, clock_));
  return {};
}

Result<void> World::open_policy() {
  std::vector<policy::Problem> problems;
  const policy::Rules& rules = config_.policy.rules;
  policy::PolicyEngine engine = policy::PolicyEngine::make(rules, "$.policy", problems);
  if (!problems.empty())
    return fail(invalid(fmt::format("{}: {}", problems.front().path, problems.front().message)));
  RELAY_TRY(journal_, audit::Journal::start(loop_, journal_options(config_.audit), clock_));
  if (const audit::JournalStats stats = journal_->stats(); stats.degraded)
    log_.error("the audit log cannot be written; calls go on unrecorded until it can",
               {{"path", config_.audit.path.string()}, {"reason", stats.reason}});
  broker_ = std::make_unique<policy::Broker>(
      clock_, random_, rules.confirm_ttl,
      rules.agents_confirm ? policy::Confirming::agents_too : policy::Confirming::operator_only);
  results_ = std::make_unique<pipeline::ResultsStore>(clock_, random_);
  pipeline_ = std::make_unique<pipeline::Pipeline>(std::move(engine), *broker_, *journal_, *results_, clock_);
  auto counter = std::make_unique<CallCounter>(metrics_, rules.mode);
  counter_ = counter.get();
  observers_.push_back(std::move(counter));
  // The fields of a line alone cost more than the rest of a call's end.
  if (config_.log_level == LogLevel::debug) observers_.push_back(std::make_unique<CallLog>(log_));
  for (const auto& observer : observers_) pipeline_->add_observer(*observer);
  backend_ = std::make_unique<pipeline::GuardedBackend>(make_identity(), *pipeline_, random_);
  backend_->set_tool_settings(tool_settings(config_));
  return {};
}

Result<void> World::open_approvals() {
  RELAY_TRY(approvals_, Approvals::open({.loop = loop_,
                                         .pool = pool_,
                                         .journal = *journal_,
                                         .broker = *broker_,
                                         .clock = clock_,
                                         .log = log_,
                                         .state = config_.state}));
  return {};
}

// The patterns were compiled once when the configuration was read, so they cannot be wrong here.
void World::adopt_policy(const policy::Policy& policy) {
  std::vector<policy::Problem> problems;
  pipeline_->set_engine(policy::PolicyEngine::make(policy.rules, "$.policy", problems));
  counter_->set_mode(policy.rules.mode);
  if (!code_) return;
  code_->policy.network = policy.run.network;
  code_->policy.limits = policy.run.limits;
}

Result<void> World::open_files() {
  vfs::TreeSpec spec;
  for (const config::MountConfig& mount : config_.mounts) {
    vfs::MountSpec entry;
    entry.name = mount.name;
    entry.host_path = mount.path.string();
    entry.mode = mount.writable ? vfs::MountMode::rw : vfs::MountMode::ro;
    entry.allow = mount.allow;
    entry.deny = mount.deny;
    entry.symlinks = mount.follow_symlinks ? vfs::Symlinks::follow : vfs::Symlinks::forbid;
    spec.mounts.push_back(std::move(entry));
  }
  spec.workspace_dir = (config_.project / "workspace").string();
  spec.workspace = config_.workspace == config::WorkspaceChoice::session ? vfs::WorkspaceKind::session
                                                                         : vfs::WorkspaceKind::shared;
  spec.workspace_quota.bytes = config_.workspace_quota_bytes;
  spec.policy = config_.policy.run.filesystem;
  hidden_ = std::make_shared<vfs::HiddenFiles>(config::private_paths(config_));
  spec.hidden = hidden_;
  RELAY_TRY(trees_, vfs::Trees::open(std::move(spec), code_mode_->files()));
  return {};
}

const sandbox::GroupSite& World::group_site() {
  if (!group_site_) group_site_ = open_group_site(config_.executor.cgroup);
  return *group_site_;
}

Result<void> World::open_execution(Purpose purpose) {
  executors::LocalConfig local;
  local.zygote_program = (program_directory() / "relay-zygote").string();
  local.runtime_dir = (program_directory().parent_path() / "runtime").string();
  local.walls = config_.executor.walls == config::WallsChoice::reduced ? sandbox::WallLevel::reduced
                                                                       : sandbox::WallLevel::full;
  // A group limits what runs use together. One run alone has its own limits, and need not make a group and
  // remove it again.
  if (purpose != Purpose::run || config_.executor.cgroup.place != config::CgroupChoice::Place::automatic)
    local.groups = group_site();
  local.group_memory_bytes = config_.executor.total_mem_mb * limits::kMiB;
  local.ready_children = config_.executor.ready_children;
  local.queue.running_max = config_.executor.max_concurrent_runs;
  local.sessions.idle = config_.session_ttl;
  local_ = std::make_unique<executors::LocalExecutor>(loop_, clock_, std::move(local));
  // `relay run` is the user's own command and runs here.
  const bool only_browser = purpose != Purpose::run && config_.executor.require_browser;
  executors_ = std::make_unique<executors::ExecutorTable>(only_browser ? executors::Routing::browser_only
                                                                       : executors::Routing::anywhere);
  executors_->add(*local_);

  // Capsules are kept when the disk has time for it: the cache must not slow a run down.
  auto busy = std::make_shared<std::atomic<bool>>(false);
  auto keep = [this, busy](const capsule::Capsule& capsule) {
    if (busy->exchange(true)) return;
    auto pause = std::make_shared<io::asio::steady_timer>(loop_, kCapsulePause);
    pause->async_wait([this, busy, capsule, pause](const boost::system::error_code&) {
      pool_.post([this, busy, capsule] {
        [[maybe_unused]] const auto saved = store_->save(capsule);
        busy->store(false);
      });
    });
  };
  RELAY_CHECK(open_packages());
  refusals_ = std::make_unique<RefusalBook>(log_);
  auto refused = [this](const fetch::BlockedFetch& refusal, const authority::Call& run) {
    refusals_->add(refusal, run);
  };
  auto may_write = [this](const authority::Call& run, std::string_view path) {
    const authority::Call write = tools::write_by_run(run, path);
    return pipeline_->engine().decide(write).verdict == authority::Verdict::allow;
  };
  code_ = std::shared_ptr<runs::RunDependencies>(new runs::RunDependencies{.executors = *executors_,
                                                                           .capsules = *capsules_,
                                                                           .trees = *trees_,
                                                                           .pool = pool_,
                                                                           .policy = config_.policy.run,
                                                                           .http = *http_,
                                                                           .loop = loop_,
                                                                           .random = random_,
                                                                           .packages = *packages_,
                                                                           .on_refusal = std::move(refused),
                                                                           .may_write = std::move(may_write),
                                                                           .keep_capsule = std::move(keep),
                                                                           .code_mode = code_mode_.get()});
  return {};
}

Result<void> World::open_packages() {
  RELAY_TRY(packages::PackageOptions options, package_options(config_));
  options.tools.parts.executor = loop_;
  options.tools.parts.find_group_site = [this] { return group_site(); };
  options.tools.log = &log_;
  RELAY_TRY(packages_, packages::Packages::make(std::move(options), pool_, clock_));
  return {};
}

Result<void> World::add_files(pipeline::Toolset& toolset) {
  search_pool_ = std::make_unique<io::ThreadPool>(limits::kSearchesAtOnce);
  auto searcher = std::make_shared<search::Searcher>(std::max(1U, std::thread::hardware_concurrency()) - 1);
  auto files = std::shared_ptr<const tools::FilesWorld>(
      new tools::FilesWorld{*trees_, pool_, std::move(searcher), *search_pool_});
  RELAY_CHECK(tools::add_files_tools(toolset, files));
  auto tell = [this](const protocol::ServerEvent& event) { backend_->tell_clients(event); };
  RELAY_TRY(subscriptions_, tools::FileSubscriptions::open(files, loop_, std::move(tell)));
  backend_->add(*subscriptions_);
  return {};
}

Result<void> World::add_toolsets() {
  for (const std::string& name : config_.toolsets) {
    auto toolset = std::make_unique<pipeline::Toolset>(name);
    if (name == "files") RELAY_CHECK(add_files(*toolset));
    if (name == "code") RELAY_CHECK(tools::add_code_tools(*toolset, code_));
    if (name == "admin") {
      auto admin = std::shared_ptr<const tools::AdminWorld>(
          new tools::AdminWorld{info_, *pipeline_, pool_, config_.audit.path});
      RELAY_CHECK(tools::add_admin_tools(*toolset, std::move(admin)));
    }
    backend_->add(*toolset);
    toolsets_.push_back(std::move(toolset));
  }
  client_ending_ = std::make_unique<ClientEnding>(*trees_, pool_, executors_.get());
  backend_->add(*client_ending_);
  return {};
}

// Our own tools come first: no upstream can take the name of one.
void World::open_fleet() {
  upstream::FleetOptions options;
  options.self = make_identity().info;
  options.state = config_.state / "mcp";
  options.resolve = secrets::make_secret_resolver(config::process_environment(), config_.root,
                                                  secrets::SecretStore(options.state / "secrets.json"));
  options.cage_program = program_directory() / "relay-cage";
  options.find_group_site = [this] { return group_site(); };
  codemode::CodeModeOptions for_code{.state = options.state,
                                     .declarations = config_.project / "mcp",
                                     .require_servers = config_.policy.require_servers};
  fleet_ = upstream::Fleet::make(loop_, *http_, pool_, clock_, random_, log_, std::move(options));
  code_mode_ =
      std::make_unique<codemode::CodeMode>(loop_, *fleet_, *backend_, pool_, random_, std::move(for_code));
}

// After our own toolsets, whose names win; servers start once everybody who watches them is there.
void World::open_gateway() {
  gateway_ = std::make_unique<gateway::Gateway>(loop_, *fleet_, *backend_, gateway_options(config_));
  backend_->add(*gateway_);
  backend_->set_capabilities(make_capabilities());
  // In version 2 a group with processes cannot hand its controllers down, so this comes before the first
  // server.
  if (std::ranges::any_of(config_.mcps,
                          [](const upstream::ServerSpec& spec) { return spec.cage.has_value(); }))
    group_site();
  apply_servers(config_);
}

void World::apply_servers(const config::Config& config) {
  fleet_->apply(config::specs_of(config));
  backend_->set_instructions(make_instructions(config_, config.mcps));
}

void World::describe() {
  info_.add("name", [] { return json::value("relay"); });
  info_.add("version",
            [] { return json::value(boost::json::string_view(kVersion.data(), kVersion.size())); });
  info_.add("startedAt", [this] { return json::value(format_iso8601(started_)); });
  info_.add("policyMode",
            [this] { return json::value(std::string(policy::name(pipeline_->engine().rules().mode))); });
  info_.add("toolsets",
            [this] { return json::value(json::array(config_.toolsets.begin(), config_.toolsets.end())); });
  info_.add("runtime", [] {
    return json::value{
        {"uid", ::getuid()}, {"euid", ::geteuid()}, {"isRoot", ::geteuid() == 0}, {"pid", ::getpid()}};
  });
  info_.add("mounts", [this] {
    json::array mounts;
    for (const config::MountConfig& mount : config_.mounts)
      mounts.push_back({{"path", "/host/" + mount.name}, {"mode", mount.writable ? "rw" : "ro"}});
    return json::value(std::move(mounts));
  });
  info_.add("limits", [this] { return (code_ ? code_->policy : config_.policy.run).to_json().at("limits"); });
  info_.add("audit", [this] {
    const audit::JournalStats stats = journal_->stats();
    json::object out{{"path", config_.audit.path.string()},
                     {"format", std::string(config::word_of(config_.audit.format))},
                     {"chain", config_.audit.chain},
                     {"degraded", stats.degraded},
                     {"records", stats.records},
                     {"backlog", stats.backlog},
                     {"lost", stats.lost}};
    if (stats.degraded) out["reason"] = stats.reason;
    return json::value(std::move(out));
  });
  info_.add("confirm", [this] {
    return json::value{{"tier3", pipeline_->engine().rules().confirm_tier3},
                       {"ttlSeconds", broker_->ttl().count()},
                       {"pending", broker_->pending()}};
  });
  info_.add("results",
            [this] { return json::value{{"kept", results_->count()}, {"bytes", results_->bytes()}}; });
  info_.add("upstreams", [this] { return gateway_->status(); });
  if (local_) info_.add("execution", [this] { return execution_status(*local_, config_.executor.walls); });
}

void World::measure() {
  metrics_.add_gauge("relay_audit_degraded", "1 while the audit log cannot be written",
                     [this] { return journal_->stats().degraded ? 1.0 : 0.0; });
  metrics_.add_counter("relay_audit_records_total", "Audit lines handed to the kernel",
                       [this] { return static_cast<double>(journal_->stats().records); });
  metrics_.add_gauge("relay_audit_backlog", "Audit lines that wait in memory for the disk",
                     [this] { return static_cast<double>(journal_->stats().backlog); });
  metrics_.add_counter("relay_audit_lost_total", "Audit lines that fitted neither disk nor backlog",
                       [this] { return static_cast<double>(journal_->stats().lost); });
  metrics_.add_gauge("relay_confirmations_pending", "Tier-3 calls that wait for their confirmation",
                     [this] { return static_cast<double>(broker_->pending()); });
  metrics_.add_gauge("relay_results_kept", "Results kept because they did not fit a reply",
                     [this] { return static_cast<double>(results_->count()); });
  metrics_.add_gauge("relay_results_kept_bytes", "Their size",
                     [this] { return static_cast<double>(results_->bytes()); });
  if (!local_) return;
  refusals_->measure(metrics_);
  const auto status = [this](auto member) {
    return [this, member] { return static_cast<double>(local_->status().*member); };
  };
  metrics_.add_gauge("relay_runs_running", "Runs that have a sandbox now",
                     status(&executors::LocalStatus::running));
  metrics_.add_gauge("relay_runs_queued", "Runs that wait for a place",
                     status(&executors::LocalStatus::waiting));
  metrics_.add_counter("relay_runs_total", "Runs that ended", status(&executors::LocalStatus::runs));
  metrics_.add_gauge("relay_guest_sessions", "Named guest sessions",
                     status(&executors::LocalStatus::sessions));
  metrics_.add_gauge("relay_leaked_children",
                     "Sandboxes that the kernel still has and nobody tracks: must be 0",
                     status(&executors::LocalStatus::leaked_children));
}

}  // namespace relay::app
