#include "upstream/offer.h"

#include <algorithm>

namespace relay::upstream {

const protocol::Tool* Offer::find_tool(std::string_view name) const {
  const auto found = std::ranges::find(*tools.items, name, &protocol::Tool::name);
  return found == tools.items->end() ? nullptr : &*found;
}

}  // namespace relay::upstream
