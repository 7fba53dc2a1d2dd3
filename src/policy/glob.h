// Names with wildcards: `*` is any run of characters, `?` any one byte. Linear in practice, quadratic at
// worst, on names.
#pragma once

#include <string_view>

namespace relay::policy {

/// The whole name must match. An empty pattern matches every name.
bool glob_matches(std::string_view pattern, std::string_view name);

}  // namespace relay::policy
