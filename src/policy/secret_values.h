// Where the value after a name begins and ends: quoted, quoted once more, bare, a YAML block, an argument of
// a command line. Each function consumes what it reads, or reads a stretch that no other separator reads
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/secret_shapes.h"

namespace relay::policy {

/// `"`, `'`, a backtick, or `\"` in text that was quoted once more.
struct Opening {
  std::size_t value;        // where the value begins
  char quote = 0;           // 0: not quoted
  std::size_t escapes = 0;  // backslashes before the quote
};
Opening skip_opening(std::string_view text, std::size_t at);

/// The end of a quoted value that begins after its opening quote. A quote that itself opens something
/// (`token="`) does not close; a value that is never closed ends with its line.
std::size_t quoted_end(std::string_view text, std::size_t from, char closing);

/// The end of a value without quotes: white space, the quote around the whole, the next member of a query
/// (`&user=`), of a connection string (`;User Id=`), or a closing tag. Commas and brackets at its end stay.
std::size_t bare_end(std::string_view text, std::size_t from);

/// The value of a name, after its separator; the indented lines where a YAML block (`|`, `>-`) begins.
std::optional<SecretSpan> find_named_value(std::string_view text, std::size_t at);

/// A word of a command line, with its quotes; nothing where the next flag begins.
std::optional<SecretSpan> find_argument(std::string_view text, std::size_t at);

/// True for `Get-Secret`, `(ConvertTo-SecureString`, `Read-Host`: a PowerShell command that makes the value,
/// in place of the value.
bool is_cmdlet_at(std::string_view text, std::size_t at);

}  // namespace relay::policy
