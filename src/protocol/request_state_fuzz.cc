// Any text: only what was signed is accepted.
#include <cstdlib>
#include <string>

#include "protocol/cursor.h"
#include "protocol/request_state.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace relay;
  using namespace relay::protocol;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const StateBinding binding{"alice", sha256("request")};
  const WallTime now{std::chrono::seconds(1)};
  const RequestState state{"call_1", 1, WallTime(std::chrono::seconds(2))};
  const std::string genuine = sign_request_state("key", state, binding);
  if (verify_request_state("key", text, binding, now).has_value() != (text == genuine)) std::abort();
  if (const auto offset = parse_cursor("key", "tools/list", text);
      offset && make_cursor("key", "tools/list", *offset) != text)
    std::abort();
  return 0;
}
