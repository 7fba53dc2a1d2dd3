// Any text: parse_manifest must not crash, and what it takes must be canonical.
#include <cstdint>
#include <cstdlib>

#include "capsule/capsule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto manifest = relay::capsule::parse_manifest(text);
      manifest && relay::capsule::canonical_text(*manifest) != text)
    std::abort();
  (void)relay::capsule::split_document(text);
  return 0;
}
