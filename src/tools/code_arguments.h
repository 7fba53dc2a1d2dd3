// How the arguments of run_js and run_py are shown to policy. runs/run_arguments.h reads them.
#pragma once

#include <string>
#include <vector>

#include "authority/call.h"
#include "authority/tier.h"
#include "base/json.h"
#include "runs/run_arguments.h"

namespace relay::tools {

/// Everything the run will see, as text for deny patterns: code, stdin, arguments and environment.
std::string code_policy_text(const json::object& arguments);
/// The same by name, lists and objects member by member. None of them identifies a target: what a program
/// reaches is judged when it reaches for it.
std::vector<authority::CallField> code_fields(const json::object& arguments);

/// A call that brings packages of its own may install them: that reaches the network and leaves files. Those
/// of the configuration are the operator's decision.
authority::Tier code_tier(const json::object& arguments);

}  // namespace relay::tools
