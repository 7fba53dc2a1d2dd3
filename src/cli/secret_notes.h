// What an operator should know about the secrets that a configuration names.
#pragma once

#include <vector>

#include "config/config.h"

namespace relay::cli {

/// The places whose secret is too short to be removed from what servers answer and from logs. Resolves every
/// reference: blocks on files.
std::vector<config::ConfigProblem> find_unprotected_secrets(const config::Config& config);

}  // namespace relay::cli
