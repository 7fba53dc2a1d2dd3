// What secrets look like in text. One scan over the bytes: most bytes are passed over by a table look-up, a
// few
// (`:` `=` `-` `_` `.` `>` and four letters) wake a rule that looks back for a name or prefix and ahead for
// the value.
//
//   secret_names   which names announce a secret          secret_tokens   prefixes of bare tokens
//   secret_values  where a value begins and ends          secret_shapes   the scan, and the rules that need
//   both
//
// Linear time, whatever the input: a rule that succeeds consumes what it read, a rule that fails has read a
// bounded stretch or a stretch that no other trigger reads again (see the comments in the sources).
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
  struct Key;
  struct Programs {
    bool mysql = false;
    bool curl = false;
  };

  std::optional<SecretSpan> match_at(std::size_t at);
  std::optional<SecretSpan> match_separator(std::size_t at) const;
  std::optional<SecretSpan> match_named(const Key& key, std::size_t value) const;
  bool makes_value(const Key& key, std::size_t value) const;
  std::optional<SecretSpan> match_header(const Key& key, std::size_t value) const;
  std::optional<SecretSpan> match_cookie(const Key& key, std::size_t value) const;
  std::optional<SecretSpan> match_url(std::size_t colon) const;
  std::optional<SecretSpan> match_tag(std::size_t at) const;
  std::optional<SecretSpan> match_dash(std::size_t at);
  std::optional<SecretSpan> match_flag(std::size_t at) const;
  std::optional<SecretSpan> match_sshpass(std::size_t at) const;
  std::optional<SecretSpan> match_curl_user(std::size_t at);
  std::optional<SecretSpan> match_mysql_password(std::size_t at);
  std::optional<SecretSpan> match_private_key(std::size_t at);
  const Programs& programs();

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t pem_end_ = 0;           // the next "-----END", as far as it has been looked for
  std::optional<Programs> programs_;  // mentioned anywhere in the text; looked for when a rule first asks
};

/// True for names whose value is a secret by itself: "password", "GITHUB_TOKEN", "x-api-key",
/// "Authorization".
bool is_secret_name(std::string_view name);

/// True for an argument whose next argument is a secret: "--password", "-Token".
bool is_secret_flag(std::string_view argument);

}  // namespace relay::policy
