#include "policy/secret_shapes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"

namespace relay::policy {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kPemBytes = 8192;  // a real private key block is shorter

// Byte classes as bits of one table.
enum Class : std::uint8_t {
  space = 1,
  alnum = 2,
  token = 4,
  quote = 8,
  line_break = 16,
  trigger = 32,
  userinfo = 64,
  pem = 128
};

constexpr std::array<std::uint8_t, 256> make_table() {
  std::array<std::uint8_t, 256> table{};
  const auto add = [&](std::string_view chars, std::uint8_t bits) {
    for (const char c : chars) table[static_cast<unsigned char>(c)] |= bits;
  };
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) table[static_cast<std::size_t>(c)] |= alnum | token | pem;
    table[static_cast<std::size_t>(c)] |= userinfo;
  }
  add(" \t\r\n\f\v", space | pem);
  add("\r\n", line_break);
  add("_-", token);
  add("\"'", quote);
  add("+/=\\:,", pem);
  add(":=-_.AbB", trigger);
  for (const char c : std::string_view(" \t\r\n\f\v/?#\"'`<>\\"))
    table[static_cast<unsigned char>(c)] &= static_cast<std::uint8_t>(~userinfo);
  return table;
}
constexpr std::array<std::uint8_t, 256> kTable = make_table();

bool is(char c, std::uint8_t bits) {
  return (kTable[static_cast<unsigned char>(c)] & bits) != 0;
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
bool is_word(char c) {
  return is(c, alnum) || c == '_';
}

std::size_t run_end(std::string_view text, std::size_t from, std::uint8_t bits) {
  while (from < text.size() && is(text[from], bits)) ++from;
  return from;
}
std::size_t run_end_except(std::string_view text, std::size_t from, std::uint8_t bits) {
  while (from < text.size() && !is(text[from], bits)) ++from;
  return from;
}
std::size_t line_end(std::string_view text, std::size_t from) {
  return run_end_except(text, from, line_break);
}

bool has_at(std::string_view text, std::size_t at, std::string_view word) {
  return text.substr(at, word.size()) == word;
}
bool has_ignoring_case(std::string_view text, std::size_t at, std::string_view lower_word) {
  if (text.size() - at < lower_word.size()) return false;
  for (std::size_t i = 0; i < lower_word.size(); ++i)
    if (lower(text[at + i]) != lower_word[i]) return false;
  return true;
}
bool ends_with_ignoring_case(std::string_view text, std::string_view lower_word) {
  return text.size() >= lower_word.size() &&
         has_ignoring_case(text, text.size() - lower_word.size(), lower_word);
}

// A letter before a prefix normally means that it is part of a longer word ("task-..."), unless it belongs to
// an escape such as \n in text that was quoted once more.
bool at_boundary(std::string_view text, std::size_t begin) {
  if (begin == 0 || !is_word(text[begin - 1])) return true;
  return begin >= 2 && text[begin - 2] == '\\';
}

// The end of a quoted value that begins after the opening quote; an unterminated one ends with its line. An
// opening quote is never itself escaped, so a later one ends the search of an earlier one: no stretch is
// searched twice.
std::size_t quoted_end(std::string_view text, std::size_t from, char closing) {
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == closing) {
      return i;
    }
  }
  return line_end(text, from);
}

std::optional<SecretSpan> span(std::size_t begin, std::size_t end) {
  if (begin >= end) return std::nullopt;
  return SecretSpan{begin, end};
}

// Names that stand before `=` or `:`. Matched at the end of what precedes the separator: DB_PASSWORD is a
// password too.
constexpr std::array<std::string_view, 12> kNames{"password", "passwd",     "pwd",         "passphrase",
                                                  "secret",   "token",      "apikey",      "api_key",
                                                  "api-key",  "credential", "credentials", "access_key"};
constexpr std::array<std::string_view, 6> kAzureNames{"accountkey", "sharedaccesskey", "access-key",
                                                      "accesskey",  "private_key",     "private-key"};
constexpr std::array<std::string_view, 3> kNamesOfMembers{"authorization", "cookie", "privatekey"};

bool ends_with_any(std::string_view text, std::span<const std::string_view> names) {
  return std::ranges::any_of(names,
                             [&](std::string_view name) { return ends_with_ignoring_case(text, name); });
}

// Most separators follow words that cannot end a name: one look at the last letter settles it.
bool may_end_name(char c) {
  const char l = lower(c);
  return l == 'd' || l == 'e' || l == 't' || l == 'n' || l == 'y' || l == 'l' || l == 's' || l == 'g';
}

std::size_t skip_spaces_back(std::string_view text, std::size_t end) {
  while (end > 0 && is(text[end - 1], space)) --end;
  return end;
}
std::size_t skip_quotes_back(std::string_view text, std::size_t end) {
  while (end > 0 && (is(text[end - 1], quote) || text[end - 1] == '\\')) --end;
  return end;
}

// `"`, `'`, or `\"` in text that was quoted once more: the kind of quote, and where the value begins.
struct Opening {
  std::size_t value;
  char quote = 0;
  bool escaped = false;
};
Opening skip_opening(std::string_view text, std::size_t at) {
  at = run_end(text, at, space);
  std::size_t after = at;
  while (after < text.size() && text[after] == '\\') ++after;
  if (after < text.size() && is(text[after], quote)) return {after + 1, text[after], after > at};
  return {at};
}

std::optional<SecretSpan> named_value(std::string_view text, const Opening& opening) {
  if (!opening.quote) return span(opening.value, run_end_except(text, opening.value, space | quote));
  if (opening.escaped) {  // ends at the next backslash-quote, or with the line
    const std::size_t closing = std::min(text.find(opening.quote, opening.value), text.size());
    const std::size_t line = line_end(text.substr(0, closing), opening.value);
    return span(opening.value, line < closing ? line : skip_quotes_back(text, closing));
  }
  return span(opening.value, quoted_end(text, opening.value, opening.quote));
}

std::optional<SecretSpan> body(std::string_view text, std::size_t begin, std::size_t from, std::size_t end,
                               std::size_t at_least) {
  if (end > text.size() || end - from < at_least) return std::nullopt;
  return SecretSpan{begin, end};
}

struct Prefix {
  std::string_view text;  // ends with the trigger byte
  std::uint8_t body_class;
  std::size_t at_least;
  bool needs_boundary = false;
};

constexpr std::array<Prefix, 17> kUnderscorePrefixes{{
    {"ghp_", alnum, 20},
    {"gho_", alnum, 20},
    {"ghu_", alnum, 20},
    {"ghs_", alnum, 20},
    {"ghr_", alnum, 20},
    {"github_pat_", token, 10},
    {"gith_pat_", token, 10},
    {"hf_", alnum, 34},
    {"npm_", alnum, 36},
    {"sk_live_", alnum, 10},
    {"sk_test_", alnum, 10},
    {"sk_prod_", alnum, 10},
    {"rk_live_", alnum, 10},
    {"rk_test_", alnum, 10},
    {"rk_prod_", alnum, 10},
    {"whsec_", alnum, 20},
    {"glpat_", token, 20},
}};
constexpr std::array<Prefix, 14> kDashPrefixes{{
    {"sk-ant-", token, 20},
    {"sk-proj-", token, 16},
    {"sk-svcacct-", token, 16},
    {"sk-admin-", token, 16},
    {"sk-", alnum, 16, true},
    {"glpat-", token, 20},
    {"pypi-", token, 24},
    {"xoxb-", token, 10},
    {"xoxa-", token, 10},
    {"xoxp-", token, 10},
    {"xoxr-", token, 10},
    {"xoxs-", token, 10},
    {"xoxe-", token, 10},
    {"xapp-", token, 20},
}};

std::optional<SecretSpan> match_prefix(std::string_view text, std::size_t at,
                                       std::span<const Prefix> prefixes) {
  const std::string_view before = text.substr(0, at + 1);
  for (const Prefix& prefix : prefixes) {
    if (!before.ends_with(prefix.text)) continue;
    const std::size_t begin = before.size() - prefix.text.size();
    if (prefix.needs_boundary && !at_boundary(text, begin)) continue;
    if (prefix.text == "pypi-" && !has_at(text, at + 1, "AgE")) continue;
    // The body of a token may hold dashes, so a longer prefix further on ("sk-" of "sk-ant-") is found by its
    // own dash.
    if (auto found = body(text, begin, at + 1, run_end(text, at + 1, prefix.body_class), prefix.at_least))
      return found;
  }
  return std::nullopt;
}

std::optional<SecretSpan> match_dot(std::string_view text, std::size_t at) {
  if (at >= 4 && has_at(text, at - 4, "ya29")) {
    std::size_t end = at + 1;
    while (end < text.size() && (is(text[end], token) || text[end] == '.')) ++end;
    return body(text, at - 4, at + 1, end, 20);
  }
  // A JSON Web Token: header and payload both begin with `{"`, which is "ey" in base64. Runs before two dots
  // do not overlap.
  if (!has_at(text, at + 1, "ey")) return std::nullopt;
  std::size_t run = at;
  while (run > 0 && is(text[run - 1], token)) --run;
  const std::size_t head = text.substr(run, at - run).find("ey");
  if (head == kNone || at - (run + head) < 19) return std::nullopt;
  std::size_t end = run_end(text, at + 1, token);
  if (end - at < 11) return std::nullopt;
  if (end < text.size() && text[end] == '.') end = run_end(text, end + 1, token);
  return SecretSpan{run + head, end};
}

std::optional<SecretSpan> match_capital_a(std::string_view text, std::size_t at) {
  const auto is_id = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  if (has_at(text, at, "AIza")) return body(text, at, at + 4, run_end(text, at + 4, token), 35);
  if (!has_at(text, at, "AKIA") && !has_at(text, at, "ASIA")) return std::nullopt;
  std::size_t end = at + 4;
  while (end < text.size() && end < at + 20 && is_id(text[end])) ++end;
  if (end != at + 20 || (end < text.size() && is_word(text[end]))) return std::nullopt;
  return SecretSpan{at, end};
}

std::optional<SecretSpan> match_bearer(std::string_view text, std::size_t at) {
  if (!has_ignoring_case(text, at, "bearer") || !at_boundary(text, at)) return std::nullopt;
  const std::size_t value = run_end(text, at + 6, space);
  if (value == at + 6) return std::nullopt;
  std::size_t end = value;
  while (end < text.size() && (is(text[end], token) || std::string_view(".~+/=").find(text[end]) != kNone))
    ++end;
  return span(value, end);
}

std::optional<SecretSpan> match_slack_webhook(std::string_view text, std::size_t colon) {
  constexpr std::string_view kRest = "://hooks.slack.com/services/";
  if (!has_ignoring_case(text, colon, kRest)) return std::nullopt;
  std::size_t end = colon + kRest.size();
  while (end < text.size() && (is(text[end], token) || text[end] == '/')) ++end;
  const std::size_t begin = colon >= 5 && has_ignoring_case(text, colon - 5, "https") ? colon - 5 : colon;
  return SecretSpan{begin, end};
}

// A value after a command-line flag: quoted, or up to the next white space that is not escaped.
std::optional<SecretSpan> argument_value(std::string_view text, std::size_t value) {
  if (value >= text.size() || has_at(text, value, "--")) return std::nullopt;
  if (is(text[value], quote)) {
    const std::size_t end = quoted_end(text, value + 1, text[value]);
    return span(value, end < text.size() && text[end] == text[value] ? end + 1 : end);
  }
  std::size_t end = value;
  while (end < text.size() && !is(text[end], space))
    end += text[end] == '\\' && end + 1 < text.size() ? 2 : 1;
  return span(value, end);
}

// ConvertTo-SecureString [-AsPlainText] [-Force] [-String] "value": `at` is the dash in the middle.
std::optional<SecretSpan> match_secure_string(std::string_view text, std::size_t at) {
  constexpr std::string_view kTail = "-securestring";
  if (!has_ignoring_case(text, at, kTail) || !ends_with_ignoring_case(text.substr(0, at), "convertto"))
    return std::nullopt;
  std::size_t value = run_end(text, at + kTail.size(), space);
  for (int flags = 0; flags < 4 && value < text.size() && text[value] == '-'; ++flags)
    value = run_end(text, run_end_except(text, value, space), space);
  return argument_value(text, value);
}

}  // namespace

std::optional<SecretSpan> SecretScanner::next() {
  for (std::size_t at = position_; at < text_.size(); ++at) {
    if (!is(text_[at], trigger)) continue;
    auto found = match_at(at);
    if (!found || found->end <= position_) continue;
    found->begin = std::max(found->begin, position_);
    position_ = found->end;
    return found;
  }
  position_ = text_.size();
  return std::nullopt;
}

std::optional<SecretSpan> SecretScanner::match_at(std::size_t at) {
  switch (text_[at]) {
    case ':':
      if (has_at(text_, at, "://")) {
        if (auto webhook = match_slack_webhook(text_, at)) return webhook;
        return match_url_password(at);
      }
      return match_separator(at);
    case '=': return match_separator(at);
    case '-': return match_dash(at);
    case '_': return match_prefix(text_, at, kUnderscorePrefixes);
    case '.': return match_dot(text_, at);
    case 'A': return match_capital_a(text_, at);
    default: return match_bearer(text_, at);
  }
}

// Blanks before a separator belong to it alone, so looking back over them is linear in all.
std::optional<SecretSpan> SecretScanner::match_separator(std::size_t at) {
  const std::string_view name = text_.substr(0, skip_quotes_back(text_, skip_spaces_back(text_, at)));
  if (name.empty() || !may_end_name(name.back())) return std::nullopt;
  if (ends_with_ignoring_case(name, "authorization"))
    return match_authorization(skip_opening(text_, at + 1).value);
  if (ends_with_any(name, kNames)) return named_value(text_, skip_opening(text_, at + 1));
  if (ends_with_any(name, kAzureNames)) {
    const Opening opening = skip_opening(text_, at + 1);
    if (opening.quote) return named_value(text_, opening);
    const std::size_t end = run_end_except(text_, opening.value, space | quote);
    const std::size_t semicolon = text_.substr(0, end).find(';', opening.value);
    return span(opening.value, std::min(end, semicolon));
  }
  if (text_[at] != '=' || at < 4 || !ends_with_ignoring_case(name, "sig")) return std::nullopt;
  if (text_[at - 4] != '?' && text_[at - 4] != '&') return std::nullopt;
  std::size_t end = at + 1;
  while (end < text_.size() && (is(text_[end], token) || std::string_view("%/+=").find(text_[end]) != kNone))
    ++end;
  return body(text_, at + 1, at + 1, end, 20);
}

// A header's value goes on over blanks and commas (the signature of AWS and Digest schemes comes last): to
// the closing quote, else to a shell operator or the end of the line. The run to that end is remembered:
// several headers on one line would otherwise each measure it again.
std::optional<SecretSpan> SecretScanner::match_authorization(std::size_t value) {
  if (value >= line_run_end_) line_run_end_ = run_end_except(text_, value, quote | line_break);
  if (line_run_end_ < text_.size() && is(text_[line_run_end_], quote))
    return span(value, skip_quotes_back(text_, line_run_end_));
  std::size_t end = line_run_end_;
  for (std::size_t i = value; i + 2 < end; ++i) {
    if (text_[i] != ' ' || (text_[i + 1] != '|' && text_[i + 1] != '&')) continue;
    if (has_at(text_, i, " | ") || has_at(text_, i, " && ") || has_at(text_, i, " || ")) end = i;
  }
  return span(value, end);
}

// userinfo ends at a slash, so two "://" never read the same stretch.
std::optional<SecretSpan> SecretScanner::match_url_password(std::size_t at) const {
  const std::size_t begin = at + 3;
  const std::size_t end = run_end(text_, begin, userinfo);
  const std::string_view authority = text_.substr(begin, end - begin);
  const std::size_t host = authority.rfind('@');
  const std::size_t colon = authority.find(':');
  if (host == kNone || colon == kNone || colon > host) return std::nullopt;
  return span(begin + colon + 1, begin + host);
}

std::optional<SecretSpan> SecretScanner::match_dash(std::size_t at) {
  if (has_at(text_, at, "-----BEGIN ")) return match_private_key(at);
  if (auto found = match_cli_flag(at)) return found;
  if (auto found = match_secure_string(text_, at)) return found;
  if (auto found = match_prefix(text_, at, kDashPrefixes)) return found;
  return match_mysql_password(at);
}

std::optional<SecretSpan> SecretScanner::match_cli_flag(std::size_t at) const {
  const std::size_t name_begin = at + 1;
  // Cut off: a long row of dashes must not be measured again from each of them.
  const std::size_t name_end = run_end(text_.substr(0, name_begin + 16), name_begin, token);
  const std::string_view name = text_.substr(name_begin, name_end - name_begin);
  const bool known =
      std::ranges::any_of(kNames, [&](std::string_view word) { return equal_ignoring_case(name, word); });
  if (!known) return std::nullopt;
  std::size_t value = name_end;
  while (value < text_.size() && (text_[value] == '=' || text_[value] == ' ' || text_[value] == '\t'))
    ++value;
  if (value == name_end) return std::nullopt;
  return argument_value(text_, value);
}

std::optional<SecretSpan> SecretScanner::match_mysql_password(std::size_t at) {
  if (!has_at(text_, at, "-p") || at + 2 >= text_.size()) return std::nullopt;
  if (at > 0 && (is(text_[at - 1], alnum) || text_[at - 1] == '-')) return std::nullopt;
  const char first = text_[at + 2];
  if (is(first, space) || first == '=' || first == '-' || !mentions_mysql()) return std::nullopt;
  return argument_value(text_, at + 2);
}

bool SecretScanner::mentions_mysql() {
  if (mysql_ == Mysql::unknown) {
    const std::string lowered = to_lower_ascii(text_);
    const bool present =
        lowered.find("mysql") != kNone || lowered.find("mariadb") != kNone || lowered.find("mycli") != kNone;
    mysql_ = present ? Mysql::present : Mysql::absent;
  }
  return mysql_ == Mysql::present;
}

// An END that is too far away, or missing because the text was cut, leaves the key without a frame: then
// whatever looks like its body goes. The next END is searched once for all BEGINs before it.
std::optional<SecretSpan> SecretScanner::match_private_key(std::size_t at) {
  const std::size_t title = at + 11;
  const std::size_t title_end = text_.substr(0, title + 64).find("PRIVATE KEY-----", title);
  if (title_end == kNone || text_.substr(title, title_end - title).find('-') != kNone) return std::nullopt;
  const std::size_t key = title_end + 16;
  if (pem_end_ < key) pem_end_ = text_.find("-----END ", key);
  const std::size_t closing =
      pem_end_ == kNone ? kNone : text_.substr(0, pem_end_ + 80).find("PRIVATE KEY-----", pem_end_);
  if (closing != kNone && closing - key <= kPemBytes) return SecretSpan{at, closing + 16};
  return SecretSpan{at, std::min(run_end(text_, key, pem), key + kPemBytes)};
}

bool is_secret_name(std::string_view name) {
  if (name.empty() || !may_end_name(name.back())) return false;
  return ends_with_any(name, kNames) || ends_with_any(name, kAzureNames) ||
         ends_with_any(name, kNamesOfMembers);
}

}  // namespace relay::policy
