// Whatever a caged server sends to its proxy: what goes on is one request to the host that was judged, and
// nothing else can be read into it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "launch/cage_proxy.h"

using namespace relay;

namespace {

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

void check_forwarded(std::string_view head) {
  if (!head.ends_with("\r\nConnection: close\r\n\r\n") || count(head, "\r\n\r\n") != 1) std::abort();
  if (count(head, "\n") != count(head, "\r\n") || count(head, "\r") != count(head, "\r\n")) std::abort();
  if (count(head, "\r\nHost: ") != 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request = launch::parse_proxy_request({reinterpret_cast<const char*>(data), size});
  if (!request) return 0;
  if (request->host.name.empty() || request->port == 0) std::abort();
  if (request->is_tunnel != request->forwarded.empty()) std::abort();
  if (!request->is_tunnel) check_forwarded(request->forwarded);
  return 0;
}
