#include "options.h"

#include <string_view>

#include <fmt/format.h>

namespace relay::zygote {

constexpr std::string_view kUsage =
    "usage: relay-zygote js|py --runtime-dir DIR [--walls=full|reduced] [--cgroup DIR]… [--make-cache | "
    "--print-plan]; relay starts it";

Result<ZygoteOptions> parse_options(int argc, const char* const* argv) {
  ZygoteOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "js" || word == "py") {
      options.kind = word;
    } else if (word == "--runtime-dir" && i + 1 < argc) {
      options.runtime_dir = argv[++i];
    } else if (word == "--cgroup" && i + 1 < argc) {
      options.groups.emplace_back(argv[++i]);
    } else if (word == "--make-cache") {
      options.mode = ZygoteMode::make_cache;
    } else if (word == "--print-plan") {
      options.mode = ZygoteMode::print_plan;
    } else if (word.starts_with("--walls=") && sandbox::find_wall_level(word.substr(8))) {
      options.level = *sandbox::find_wall_level(word.substr(8));
    } else {
      return fail(invalid(fmt::format("unknown argument {}\n{}", word, kUsage)));
    }
  }
  if (options.kind.empty() || (options.runtime_dir.empty() && options.mode != ZygoteMode::print_plan))
    return fail(invalid(std::string(kUsage)));
  return options;
}

}  // namespace relay::zygote
