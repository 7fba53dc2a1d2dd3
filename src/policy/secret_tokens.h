// Tokens that are recognised by themselves, without a name before them: a prefix that an issuer chose and a
// body of the right alphabet and length. Every rule here reads a bounded stretch, or one that it consumes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "policy/secret_shapes.h"

namespace relay::policy {

/// The token whose prefix ends at (`_`, `-`, `.`), begins at (`A`, `S`) or is divided by (`:`) the byte `at`.
std::optional<SecretSpan> find_token(std::string_view text, std::size_t at);

/// The secret part of a webhook's address; `colon` is the one of "://".
std::optional<SecretSpan> find_webhook(std::string_view text, std::size_t colon);

}  // namespace relay::policy
