// "pattern\nurl": whatever a URL is, its normalised host parses to itself, and a pattern covers itself.
#include <cstdint>
#include <cstdlib>

#include "policy/network_policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relay::policy;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = text.find('\n');
  const auto pattern = parse_host_pattern(text.substr(0, split));
  const auto target = parse_target(split == std::string_view::npos ? text : text.substr(split + 1));
  if (pattern) {
    const auto again = parse_host_pattern(to_text(*pattern));
    if (!again || *again != *pattern || !covers(*pattern, *pattern)) std::abort();
  }
  if (target) {
    const bool v6 = target->host.address && !target->host.address->v4;
    const auto again = parse_host(v6 ? "[" + target->host.name + "]" : target->host.name);
    if (!again || again->name != target->host.name || again->address != target->host.address) std::abort();
    if (pattern) (void)matches(*pattern, target->host, target->port);
  }
  return 0;
}
