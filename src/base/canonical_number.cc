#include "base/canonical_number.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace relay {

// fmt's shortest form changes to an exponent where Python's repr does, and writes it with the same digits.
// It only leaves out the fraction of a whole number.
void append_canonical_number(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  const std::size_t begin = out.size();
  fmt::format_to(std::back_inserter(out), "{}", number);
  if (std::string_view(out).substr(begin).find_first_of(".e") == std::string_view::npos) out += ".0";
}

}  // namespace relay
