// The command line of relay-zygote.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/launch_plan.h"

namespace relay::zygote {

enum class ZygoteMode : std::uint8_t {
  serve,       // boot, wall in, fork on request
  make_cache,  // boot, leave the caches on disk, end
  print_plan,  // print the LaunchPlan as JSON
};

struct ZygoteOptions {
  std::string kind;  // js or py
  std::string runtime_dir;
  ZygoteMode mode = ZygoteMode::serve;
  sandbox::WallLevel level = sandbox::WallLevel::full;
  std::vector<std::string> groups;  // directories of the control groups to join
};

Result<ZygoteOptions> parse_options(int argc, const char* const* argv);

}  // namespace relay::zygote
