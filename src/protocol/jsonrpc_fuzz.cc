// Any bytes: parsing never crashes, and what is accepted can be written and parsed again.
#include <cstdlib>
#include <string>

#include "protocol/jsonrpc.h"
#include "protocol/modern_envelope.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace relay::protocol;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto incoming = parse_incoming(text);
  if (!incoming) return 0;
  for (const auto& message : incoming->messages) {
    if (!message) continue;
    const auto* request = std::get_if<Request>(&*message);
    if (!request) continue;
    static_cast<void>(parse_envelope(request->params));
    const auto again = parse_message(write_request(request->id, request->method, request->params_text()));
    if (!again || std::get<Request>(*again).id != request->id) std::abort();
    if (!relay::json::parse(request->params_text())) std::abort();
  }
  return 0;
}
