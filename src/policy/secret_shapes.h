// What secrets look like in text. One scan over the bytes: most bytes are passed over by a table look-up, a
// few
// (`:` `=` `-` `_` `.` `A` `b` `B`) wake a rule that looks back for a prefix and ahead for the value.
//
// Linear time, whatever the input: a rule that succeeds consumes what it read, a rule that fails has read a
// bounded stretch or a stretch that no other trigger reads again (see the comments in the source).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace relay::policy {

/// Bytes [begin, end) of the text are secret.
struct SecretSpan {
  std::size_t begin;
  std::size_t end;
};

class SecretScanner {
 public:
  explicit SecretScanner(std::string_view text) : text_(text) {}

  /// The next secret, left to right, never overlapping the one before.
  std::optional<SecretSpan> next();

 private:
  std::optional<SecretSpan> match_at(std::size_t at);
  std::optional<SecretSpan> match_separator(std::size_t at);
  std::optional<SecretSpan> match_url_password(std::size_t at) const;
  std::optional<SecretSpan> match_dash(std::size_t at);
  std::optional<SecretSpan> match_cli_flag(std::size_t at) const;
  std::optional<SecretSpan> match_mysql_password(std::size_t at);
  std::optional<SecretSpan> match_authorization(std::size_t value);
  std::optional<SecretSpan> match_private_key(std::size_t at);
  bool mentions_mysql();

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_run_end_ = 0;  // where the last run without quote or line break ended
  std::size_t pem_end_ = 0;       // the next "-----END", as far as it has been looked for
  enum class Mysql : unsigned char { unknown, absent, present } mysql_ = Mysql::unknown;
};

/// True for names whose value is a secret by itself: "password", "GITHUB_TOKEN", "x-api-key",
/// "Authorization".
bool is_secret_name(std::string_view name);

}  // namespace relay::policy
