// Whatever stands in the file of a remembered offer: reading it ends, and what comes out is written and read
// back as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "upstream/offer_file.h"

using namespace relay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  upstream::ServerSpec spec;
  spec.deny = {"evil*"};
  const auto offer = upstream::read_offer({reinterpret_cast<const char*>(data), size}, spec, "f");
  if (!offer) return 0;
  const std::string text = upstream::write_offer(*offer, "f");
  const auto again = upstream::read_offer(text, spec, "f");
  if (!again || upstream::write_offer(*again, "f") != text) std::abort();
  for (const protocol::Tool& tool : *again->tools.items)
    if (tool.name.empty() || tool.name.starts_with("evil")) std::abort();
  return 0;
}
