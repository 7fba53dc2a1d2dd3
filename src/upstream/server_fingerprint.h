// Whether two specs mean the same server: what is remembered of one must not be believed of another that has
// its name. Pure.
#pragma once

#include <string>

#include "upstream/server_spec.h"

namespace relay::upstream {

/// SHA-256 (hex) of how it is reached: command, endpoint, directory, arguments.
std::string fingerprint_of_way(const ServerSpec& spec);
/// The same of everything that what it offers may depend on: also environment and headers as they are
/// configured, era, and the lists of what is admitted.
std::string fingerprint_of_offer(const ServerSpec& spec);

}  // namespace relay::upstream
