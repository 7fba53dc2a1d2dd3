// Any bytes may stand in a log that is verified: no crash, and what is accepted has a canonical form that is
// its own.
#include <cstdint>
#include <cstdlib>

#include "audit/canonical.h"
#include "audit/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto canonical = relay::audit::canonical_json(text)) {
    const auto again = relay::audit::canonical_json(*canonical);
    if (!again || *again != *canonical) std::abort();
  }
  relay::audit::ChainVerifier verifier;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (!(end == std::string_view::npos ? verifier.feed_unterminated(text)
                                        : verifier.feed(text.substr(0, end))))
      break;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  verifier.finish();
  return 0;
}
