// First line a header value, the rest a schema: decoding is the inverse of encoding, and no schema breaks the
// walk.
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "protocol/modern_headers.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace relay;
  using namespace relay::protocol;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view line = text.substr(0, text.find('\n'));
  static_cast<void>(find_decoded_header_value(line));
  if (is_valid_utf8(line) && find_decoded_header_value(encode_header_value(line)) != line) std::abort();
  if (line.size() == text.size()) return 0;
  const auto schema = json::parse(text.substr(line.size() + 1));
  if (!schema) return 0;
  const auto params = parse_header_params(*schema);
  if (!params || !schema->is_object()) return 0;
  const FindHeader find = [&](std::string_view) { return std::optional(line); };
  static_cast<void>(check_param_headers(schema->get_object(), *params, find));
  return 0;
}
