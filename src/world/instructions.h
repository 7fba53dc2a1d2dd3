// The server's instructions: what a client may put into a model's context when it connects. They say what
// this configuration offers and what it leaves out, so that a model does not find out by failing.
//
// A pure function of the configuration that is in force. The text has no secrets: names of mounts, hosts,
// packages and servers. Long lists are cut after a few names.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace relay::world {

/// `servers` are those that run now; they can change while the rest of the configuration stays.
std::string make_instructions(const config::Config& config, const std::vector<upstream::ServerSpec>& servers);

}  // namespace relay::world
