#include "world/fleet_part.h"

#include "base/limits.h"
#include "config/cage_masks.h"
#include "config/environment.h"
#include "io/spawn.h"
#include "secrets/secrets.h"
#include "world/package_options.h"
#include "world/process_part.h"

namespace relay::world {
namespace {

upstream::FleetOptions fleet_options(const config::Config& config, const Services& services,
                                     GroupSiteFinder& groups) {
  upstream::FleetOptions options;
  options.redactor = services.redactor;
  options.self = make_identity().info;
  options.state = config.state / "mcp";
  options.resolve = secrets::make_secret_resolver(config::process_environment(), config.root,
                                                  secrets::SecretStore(options.state / "secrets.json"));
  options.cage_program = program_directory() / "relay-cage";
  options.find_group_site = [&groups] { return groups.find(); };
  options.hide_own_files = [config](launch::CageSpec& cage) { config::hide_own_files(config, cage); };
  return options;
}

}  // namespace

FleetPart::FleetPart(const config::Config& config, const Services& services, io::ThreadPool& pool,
                     GroupSiteFinder& groups, pipeline::GuardedBackend& backend)
    : fleet_(upstream::Fleet::make(services.loop, services.http, pool, services.clock, services.random,
                                   services.log, fleet_options(config, services, groups))),
      redactor_(services.redactor) {
  FleetPart::adopt(config);
  codemode::CodeModeOptions options{.state = config.state / "mcp",
                                    .declarations = config.project / "mcp",
                                    .require_servers = config.policy.require_servers};
  code_mode_ = std::make_unique<codemode::CodeMode>(services.loop, *fleet_, backend, pool, services.random,
                                                    std::move(options));
}

Result<std::unique_ptr<FleetPart>> FleetPart::open(const config::Config& config, const Services& services,
                                                   io::ThreadPool& pool, GroupSiteFinder& groups,
                                                   pipeline::GuardedBackend& backend) {
  return std::unique_ptr<FleetPart>(new FleetPart(config, services, pool, groups, backend));
}

void FleetPart::measure(metrics::Registry& metrics) const {
  const auto each = [this](auto number_of) -> metrics::ReadNumbers {
    return [this, number_of] {
      std::vector<metrics::LabelledNumber> numbers;
      for (const auto& server : fleet_->all())
        numbers.push_back(
            {{{"server", server->spec().name}}, static_cast<double>(number_of(server->status()))});
      return numbers;
    };
  };
  using upstream::Status;
  metrics.add_gauges("relay_upstream_up", "1 while the server is connected and has answered the handshake",
                     each([](const Status& status) { return status.phase == upstream::ServerPhase::ready; }));
  metrics.add_gauges("relay_upstream_restarts", "Restarts since it was last ready for a while",
                     each([](const Status& status) { return status.restarts; }));
  metrics.add_gauges("relay_upstream_calls_open", "Requests to the server that are not answered yet",
                     each([](const Status& status) { return status.open_calls; }));
  metrics.add_counters("relay_upstream_failures_total", "Requests that got no answer",
                       each([](const Status& status) { return status.failures; }));
}

void FleetPart::adopt(const config::Config& now) {
  redactor_->set_answers(now.policy.redact_secrets ? secrets::AnswerRedaction::on
                                                   : secrets::AnswerRedaction::off);
}

io::Task<void> FleetPart::stop() {
  co_return co_await io::with_timeout(fleet_->stop(), limits::kShutdownGrace,
                                      "the upstream servers did not end");
}

}  // namespace relay::world
