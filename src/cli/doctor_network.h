// The part of `relay doctor` about the network: certificates and proxies that the environment names, and
// whether npm and pip reach their registries.
#pragma once

#include <vector>

#include "cli/doctor.h"

namespace relay::cli {

void examine_certificates(std::vector<Finding>& out);

/// Starts npm and pip with the user's own settings, both at once, and waits ten seconds at most. Says on a
/// terminal what it waits for.
void examine_registries(std::vector<Finding>& out);

/// Pure: an address without its user name and password.
std::string without_credentials(std::string_view address);

}  // namespace relay::cli
