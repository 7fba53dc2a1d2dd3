// Offer: everything an upstream server has listed, as it was sent. Immutable and shared: a call that runs
// keeps the one it began with.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/capabilities.h"
#include "protocol/listing.h"
#include "protocol/tool.h"

namespace relay::upstream {

struct Offer {
  std::string instructions;
  json::object server;  // Implementation
  json::object capabilities;
  protocol::Listing<protocol::Tool>
      tools;  // `raw` is set on each; names are the server's own; deny lists are applied
  protocol::Listing<protocol::Resource> resources;
  protocol::Listing<protocol::ResourceTemplate> templates;
  protocol::Listing<protocol::Prompt> prompts;
  std::vector<std::string> oddities;  // tools that were dropped and why, pages that never ended

  [[nodiscard]] const protocol::Tool* find_tool(std::string_view name) const;
};

}  // namespace relay::upstream
