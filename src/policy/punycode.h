// Internationalised host labels in ASCII (RFC 3492), and the mapping that comes first.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::policy {

/// "bücher" -> "xn--bcher-kva". ASCII stays, in lower case. Full-width forms and ideographic full stops
/// become ASCII; characters that cannot be seen are refused.
Result<std::string> to_ascii_host(std::string_view utf8);

}  // namespace relay::policy
