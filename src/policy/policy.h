// Policy: the `policy` block of the configuration as one typed value. The configuration loader makes it once;
// relay, guests, manifests and vfs/ use this one and no JSON.
#pragma once

#include "policy/rules.h"
#include "policy/run_policy.h"

namespace relay::policy {

struct Policy {
  Rules rules;                   // who may call what
  RunPolicy run;                 // network, filesystem and limits: of every run, and of every file tool
  bool require_servers = false;  // a run may call upstream servers only when its call names them
  bool redact_secrets = true;    // answers of upstream servers reach clients without the secrets in force
};

/// Reads all of it and compiles the patterns once, to find every problem; `path` is its place in the file.
/// `writable` is what may be written where `filesystem.writable` is not given.
Policy read_policy(const json::object& block, const std::vector<std::string>& writable, std::string_view path,
                   std::vector<Problem>& problems);

}  // namespace relay::policy
