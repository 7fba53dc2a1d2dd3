// Whatever the bytes are: no crash, the same verdict for any split, and never beyond the bytes given.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/request_parser.h"

namespace {

// All requests of a stream, as text that two runs can compare.
std::string read_all(std::string_view bytes, std::size_t step) {
  relay::net::RequestParser parser(1024);
  std::string seen, pending;
  while (true) {
    const auto used = parser.feed(pending);
    if (!used) return seen + "!" + std::to_string(used.error().status);
    if (*used > pending.size()) std::abort();
    pending.erase(0, *used);
    if (parser.done()) {
      const auto& request = parser.request();
      seen += request.method + " " + request.path + "?" + request.query + "[" + parser.take_body() + "]";
      parser.reset();
      continue;
    }
    if (parser.head_done()) parser.keep_body(256);
    if (*used > 0 && !pending.empty()) continue;
    if (bytes.empty()) return seen;
    pending += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A head that comes in pieces is looked at when its end is there, one that comes at once immediately: so
  // that a broken one is noticed either way, every stream ends with an empty line.
  const std::string bytes = std::string(reinterpret_cast<const char*>(data), size) + "\r\n\r\n";
  // Near the limit on the head, when it is noticed depends on the split; below it nothing may.
  const bool same = read_all(bytes, 1) == read_all(bytes, 64);
  if (!same && size < 1000) std::abort();
  return 0;
}
