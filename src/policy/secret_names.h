// Which names announce a secret: `password`, `DB_PASS`, `STRIPE_KEY`, `x-api-key`, `Cookie`.
//
// A name is judged by its end, so that a prefix (`DB_`, `x-`, `my`) does not hide it. The words that also
// occur in other meanings (`key`, `pass`) count only after a `_` or `-` or as a new word of a camelCase name,
// and not after a qualifier that names something else (`primary_key`, `low_pass`).
#pragma once

#include <cstdint>
#include <string_view>

namespace relay::policy {

enum class NameKind : std::uint8_t {
  harmless,
  secret,         // the value is a secret, whatever it looks like
  key,            // likewise, but a flag of this name usually takes a file: --ssh-key ~/.ssh/id
  part,           // of a connection string: the value ends at `;`
  pass,           // `pass` alone also counts passed tests: the separator decides
  authorization,  // the rest of the header is the secret
  cookie,         // likewise, when it looks like a cookie
};

/// The last word before `end`: letters, digits, `_`, `-` and `.`; at most kNameBytes of it.
std::string_view word_before(std::string_view text, std::size_t end);

NameKind kind_of_name(std::string_view name);

}  // namespace relay::policy
