// UTF-16 text with a byte order mark, as some editors still write it.
#pragma once

#include <string>
#include <string_view>

namespace relay::search {

/// Precondition: text starts with FF FE or FE FF. Lone surrogates and a last odd byte become U+FFFD.
std::string utf16_to_utf8(std::string_view text);

}  // namespace relay::search
