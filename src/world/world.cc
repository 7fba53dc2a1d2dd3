#include "world/world.h"

#include <cstdio>
#include <cstdlib>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/node_files.h"
#include "config/state_directory.h"

namespace relay::world {
namespace {

constexpr std::size_t kPoolThreads = 4;  // disk work; more would only queue in the kernel instead

}  // namespace

World::World(const config::Config& config, const Services& services)
    : config_(config),
      services_(services),
      ids_(services.random),
      pool_(kPoolThreads),
      groups_(config.executor.cgroup) {}

Result<std::unique_ptr<World>> World::build(const config::Config& config, Purpose purpose,
                                            const Services& services) {
  std::unique_ptr<World> world(new World(config, services));
  RELAY_CHECK(world->open_directories());
  RELAY_CHECK(world->open_parts(purpose));
  world->start(purpose);
  return world;
}

Result<void> World::open_directories() {
  RELAY_TRY(const std::vector<std::string> moved, config::open_state_directory(config_));
  if (!moved.empty())
    services_.log.info("moved keys and records out of the project",
                       {{"from", config_.project.string()},
                        {"to", config_.state.string()},
                        {"moved", fmt::format("{}", fmt::join(moved, ", "))}});
  RELAY_TRY(node_, config::open_node(config_, services_.random));
  ids_ = IdMaker(services_.random, node_);
  return config::open_project_directory(config_);
}

Result<std::string> World::state_key() const {
  return config::open_state_key(config_, services_.random);
}

// Toolsets come before the gateway: no upstream server can take the name of one of our tools.
Result<void> World::open_parts(Purpose purpose) {
  RELAY_CHECK(take(process_, ProcessPart::open(services_, node_)));
  RELAY_CHECK(take(capsules_, CapsulePart::open(config_, services_, pool_)));
  RELAY_CHECK(take(pipeline_, PipelinePart::open(config_, services_, ids_, metrics_)));
  RELAY_CHECK(take(approvals_, Approvals::open({.loop = services_.loop,
                                                .pool = pool_,
                                                .journal = pipeline_->journal(),
                                                .broker = pipeline_->broker(),
                                                .clock = services_.clock,
                                                .log = services_.log,
                                                .state = config_.state})));
  RELAY_CHECK(take(fleet_, FleetPart::open(config_, services_, pool_, groups_, backend())));
  RELAY_CHECK(take(files_, FilesPart::open(config_, services_, code_mode().files())));
  if (config_.has_toolset("code"))
    RELAY_CHECK(take(execution_, ExecutionPart::open(config_, purpose,
                                                     {.services = services_,
                                                      .ids = ids_,
                                                      .pool = pool_,
                                                      .groups = groups_,
                                                      .capsules = *capsules_,
                                                      .fleet = *fleet_,
                                                      .files = *files_})));
  RELAY_CHECK(take(toolsets_, ToolsetsPart::open(config_, toolset_parts(), backend(), services_.log)));
  RELAY_CHECK(take(gateway_, GatewayPart::open(config_, services_.loop, groups_, fleet(), backend())));
  client_ending_.emplace(files_->trees(), pool_, execution_ ? &execution_->executors() : nullptr);
  backend().add(*client_ending_);
  return {};
}

tools::ServersForCode World::servers_for_code() const {
  const auto in_code = [](const upstream::ServerSpec& spec) { return spec.enabled && spec.in_code(); };
  return std::ranges::any_of(config_.mcps, in_code) ? tools::ServersForCode::some
                                                    : tools::ServersForCode::none;
}

tools::ToolsetParts World::toolset_parts() {
  return {.loop = services_.loop,
          .pool = pool_,
          .search_pool = files_->search_pool(),
          .trees = files_->trees(),
          .pipeline = pipeline(),
          .info = info_,
          .audit_path = config_.audit.path,
          .runs = execution_ ? execution_->runs() : nullptr,
          .code_servers = servers_for_code(),
          .tell_clients = [this](const protocol::ServerEvent& event) { backend().tell_clients(event); }};
}

void World::start(Purpose purpose) {
  for (Part* part : parts_) {
    part->describe(info_);
    part->measure(metrics_);
  }
  for (Part* part : parts_) part->start(purpose);
}

void World::adopt(const config::Config& wanted) {
  config::Config now = config_;
  now.file = wanted.file;  // what cages and mounts hide
  now.mcps = wanted.mcps;
  now.policy.rules = wanted.policy.rules;
  now.policy.run = wanted.policy.run;
  now.policy.redact_secrets = wanted.policy.redact_secrets;
  now.mounts = wanted.mounts;
  now.tools = wanted.tools;
  now.toolsets = toolsets_->usable(wanted.toolsets);
  for (Part* part : parts_) part->adopt(now);
}

io::Task<void> World::stop() {
  Result<void> stopped;
  for (Part* part : std::views::reverse(parts_)) {
    const Result<void> ended = co_await part->stop();
    if (stopped && !ended) stopped = ended;
  }
  co_return stopped;
}

void World::leave(int exit_code) {
  for (Part* part : std::views::reverse(parts_)) part->close();
  std::fflush(stdout);
  std::_Exit(exit_code);
}

}  // namespace relay::world
