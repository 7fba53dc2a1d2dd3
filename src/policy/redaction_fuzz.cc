// Redaction of any text: no crash, stable after a second time, and JSON stays JSON.
#include <cstdint>
#include <cstdlib>

#include "base/bytes.h"
#include "policy/redaction.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string once = relay::policy::redact(text);
  if (relay::policy::redact(once) != once) std::abort();
  if (!relay::is_valid_utf8(text)) return 0;
  if (!relay::is_valid_utf8(once)) std::abort();
  std::string json;
  relay::policy::append_redacted_json(json,
                                      relay::json::value(boost::json::string_view(text.data(), text.size())));
  if (!relay::json::parse(json)) std::abort();
  if (const auto value = relay::json::parse(text)) {
    json.clear();
    relay::policy::append_redacted_json(json, *value);
    if (!relay::json::parse(json, {.depth = 128})) std::abort();
  }
  return 0;
}
