#include "upstream/fleet.h"

#include "upstream/connector.h"
#include "upstream/supervised_fleet.h"

namespace relay::upstream {

std::unique_ptr<Fleet> Fleet::make(io::Loop executor, net::HttpClient& http, io::ThreadPool& pool,
                                   const Clock& clock, RandomSource&, Log& log, FleetOptions options) {
  auto heads = std::make_shared<launch::ProcessCount>(executor);
  ConnectorParts connector{.executor = executor,
                           .http = http,
                           .pool = pool,
                           .self = std::move(options.self),
                           .resolve = std::move(options.resolve),
                           .redactor = options.redactor,
                           .heads = heads,
                           .environment = launch::our_environment(),
                           .cage_program = options.cage_program,
                           .find_group_site = std::move(options.find_group_site),
                           .hide_own_files = std::move(options.hide_own_files)};
  FleetParts parts{.executor = executor,
                   .clock = clock,
                   .log = log,
                   .connect = make_connector(std::move(connector)),
                   .redactor = std::move(options.redactor),
                   .heads = std::move(heads),
                   .pool = &pool,
                   .state = std::move(options.state),
                   .pace = {}};
  return std::make_unique<SupervisedFleet>(std::move(parts));
}

}  // namespace relay::upstream
