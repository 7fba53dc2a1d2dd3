// Whatever the bytes are: the same events for any split, and what we format comes back as it was.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "net/sse.h"

namespace {

using relay::net::SseEvent;
using relay::net::SseParser;

constexpr std::size_t kEventBytes = 4096;

std::vector<SseEvent> parse(std::string_view bytes, std::size_t step) {
  SseParser parser(kEventBytes);
  std::vector<SseEvent> all;
  while (!bytes.empty()) {
    auto events = parser.feed(bytes.substr(0, step));
    if (!events) break;
    all.insert(all.end(), events->begin(), events->end());
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  return all;
}

bool same(const SseEvent& a, const SseEvent& b) {
  return a.event == b.event && a.data == b.data && a.id == b.id && a.retry == b.retry;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto by_one = parse(bytes, 1);
  if (size <= kEventBytes && !std::ranges::equal(by_one, parse(bytes, 7), same)) std::abort();
  for (const SseEvent& event : by_one) {
    const std::string text = relay::net::format_sse(event);
    if (text.size() > kEventBytes) continue;
    const auto again = parse(text, 3);
    if (again.size() != 1 || !same(again[0], event)) std::abort();
  }
  return 0;
}
