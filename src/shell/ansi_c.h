// The escapes of $'…', of `echo -e` and of the format of printf.
#pragma once

#include <string>
#include <string_view>

namespace relay::shell {

/// "\x72\155" is "rm". Text after \0 is gone, as in bash; an unknown escape stays as it is.
std::string decode_ansi_c(std::string_view text);

}  // namespace relay::shell
