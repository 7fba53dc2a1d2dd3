#include "world/gateway_part.h"

#include <algorithm>

#include "config/config_upstreams.h"
#include "world/instructions.h"

namespace relay::world {
namespace {

gateway::GatewayOptions gateway_options(const config::Config& config) {
  gateway::GatewayOptions options;
  options.prefix =
      config.gateway_prefix == config::PrefixChoice::none ? gateway::Prefix::none : gateway::Prefix::always;
  options.list_timeout = config.gateway_list_timeout;
  return options;
}

bool has_cages(const config::Config& config) {
  return std::ranges::any_of(config.mcps,
                             [](const upstream::ServerSpec& spec) { return spec.cage.has_value(); });
}

}  // namespace

GatewayPart::GatewayPart(const config::Config& config, io::Loop loop, GroupSiteFinder& groups,
                         upstream::Fleet& fleet, pipeline::GuardedBackend& backend)
    : config_(config),
      groups_(groups),
      fleet_(fleet),
      backend_(backend),
      gateway_(std::move(loop), fleet, backend, gateway_options(config)) {
  backend_.add(gateway_);
}

Result<std::unique_ptr<GatewayPart>> GatewayPart::open(const config::Config& config, io::Loop loop,
                                                       GroupSiteFinder& groups, upstream::Fleet& fleet,
                                                       pipeline::GuardedBackend& backend) {
  return std::unique_ptr<GatewayPart>(new GatewayPart(config, std::move(loop), groups, fleet, backend));
}

void GatewayPart::adopt(const config::Config& now) {
  fleet_.apply(config::specs_of(now));
  backend_.set_instructions(make_instructions(now, now.mcps));
}

void GatewayPart::describe(tools::ServerInfo& info) const {
  info.add("upstreams", [this] { return gateway_.status(); });
}

// In version 2 a group with processes cannot hand its controllers down, so the place of groups is found
// before the first server starts.
void GatewayPart::start(Purpose) {
  if (has_cages(config_)) groups_.find();
  adopt(config_);
}

}  // namespace relay::world
