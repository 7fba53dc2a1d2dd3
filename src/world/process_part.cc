#include "world/process_part.h"

#include <unistd.h>

#include "world/version.h"

namespace relay::world {

serving::Identity make_identity() {
  serving::Identity identity;
  identity.info.name = "relay";
  identity.info.title = "Relay";
  identity.info.version = std::string(kVersion);
  return identity;
}

Result<std::unique_ptr<ProcessPart>> ProcessPart::open(const Services& services, std::string node) {
  return std::unique_ptr<ProcessPart>(new ProcessPart(services.clock.wall(), std::move(node)));
}

void ProcessPart::describe(tools::ServerInfo& info) const {
  info.add("name", [] { return json::value("relay"); });
  info.add("version", [] { return json::value(std::string(kVersion)); });
  info.add("node", [this] { return json::value(node_); });
  info.add("startedAt", [this] { return json::value(format_iso8601(started_)); });
  info.add("runtime", [] {
    return json::value{
        {"uid", ::getuid()}, {"euid", ::geteuid()}, {"isRoot", ::geteuid() == 0}, {"pid", ::getpid()}};
  });
}

}  // namespace relay::world
