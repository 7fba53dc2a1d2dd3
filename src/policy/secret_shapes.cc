#include "policy/secret_shapes.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/bytes.h"
#include "policy/secret_names.h"
#include "policy/secret_text.h"
#include "policy/secret_tokens.h"
#include "policy/secret_values.h"

namespace relay::policy {

using namespace secret_text;

namespace {

constexpr std::size_t kPemBytes = 8192;  // a real private key block is shorter
constexpr std::size_t kFlagBytes = 64;   // name of a flag, and what may stand between a program and its flag
constexpr std::size_t kUserBytes = 512;  // the `user:password` of curl
constexpr std::size_t kCookieBytes = 256;    // a cookie's name, which is followed by `=`
constexpr std::size_t kCdataBytes = 1024;    // a password in a CDATA section
constexpr std::size_t kPipedBytes = 256;     // a quoted string before `| ConvertTo-SecureString`
constexpr std::size_t kUserTokenBytes = 20;  // a user name in a URL that is this long and random is a token

bool any_ignoring_case(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return equal_ignoring_case(text, word); });
}

// Behind the whole separator: `=`, `==`, `=>`, `:`, `:=`, `::`, `://`.
std::size_t after_separator(std::string_view text, std::size_t at) {
  if (has_at(text, at, "://")) return at + 3;
  std::size_t end = at + 1;
  while (end < text.size() && end < at + 3 && (text[end] == '=' || (text[at] == ':' && text[end] == ':')))
    ++end;
  return has_at(text, end - 1, "=>") ? end + 1 : end;
}

// `token::parse(` and `Secret::Kind::x` are names of a program.
bool is_scope(std::string_view text, std::size_t at) {
  if (!has_at(text, at, "::")) return false;
  const std::size_t end = run_end(text.substr(0, at + 2 + kFlagBytes), at + 2, token);
  return end > at + 2 && end < text.size() &&
         (text[end] == '(' || text[end] == '<' || text[end] == '{' || has_at(text, end, "::"));
}

// The end of a header's value, which goes on over blanks and commas: the signature of AWS and Digest schemes
// comes last. A header in quotes ends with them. One without ends with its line, at a shell operator, or at a
// quote that belongs to what is around it; `username="x"` belongs to the header.
std::size_t header_end(std::string_view text, const Opening& opening) {
  std::size_t escapes = 0;
  std::size_t i = opening.value;
  for (; i < text.size() && !is(text[i], line_break); ++i) {
    const bool at_quote = opening.quote ? text[i] == opening.quote : is(text[i], quote);
    if (at_quote && escapes <= opening.escapes + (opening.quote ? 0 : 1)) {
      const std::size_t closing =
          !opening.quote && i > opening.value && text[i - 1] == '=' ? text.find(text[i], i + 1) : kNone;
      if (closing == kNone || line_end(text.substr(0, closing), i) < closing) return i - escapes;
      i = closing;
    } else if (!opening.quote && text[i] == ' ' &&
               (has_at(text, i, " | ") || has_at(text, i, " && ") || has_at(text, i, " || "))) {
      return i;
    }
    escapes = text[i] == '\\' ? escapes + 1 : 0;
  }
  return i;
}

std::optional<SecretSpan> match_bearer(std::string_view text, std::size_t at) {
  if (!has_ignoring_case(text, at, "bearer") || !at_boundary(text, at)) return std::nullopt;
  const std::size_t value = run_end(text, at + 6, space);
  if (value == at + 6) return std::nullopt;
  std::size_t end = value;
  while (end < text.size() && (is(text[end], dotted) || std::string_view("~+/=").find(text[end]) != kNone))
    ++end;
  // Prose about the scheme, and the challenge `Bearer realm="x"`.
  if (any_ignoring_case(text.substr(value, end - value),
                        {"of", "is", "the", "and", "or", "auth", "authentication", "authorization", "token",
                         "tokens", "header", "scheme", "realm="}))
    return std::nullopt;
  return span(value, end);
}

// ConvertTo-SecureString [-AsPlainText] [-Force] [-String] "value", or "value" | ConvertTo-SecureString: `at`
// is the dash in the middle.
std::optional<SecretSpan> match_secure_string(std::string_view text, std::size_t at) {
  constexpr std::string_view kHead = "convertto";
  constexpr std::string_view kTail = "-securestring";
  if (!has_ignoring_case(text, at, kTail) || !ends_with_ignoring_case(text.substr(0, at), kHead))
    return std::nullopt;
  std::size_t before = at - kHead.size();
  while (before > 0 && text[before - 1] == ' ') --before;
  if (before > 1 && text[before - 1] == '|') {
    const std::size_t closing = skip_spaces_back(text, before - 1);
    if (closing > 0 && is(text[closing - 1], quote)) {
      const std::size_t stop = closing > kPipedBytes ? closing - kPipedBytes : 0;
      const std::size_t opening = text.substr(stop, closing - 1 - stop).rfind(text[closing - 1]);
      if (opening != kNone) return span(stop + opening + 1, closing - 1);
    }
  }
  std::size_t value = run_end(text, at + kTail.size(), space);
  for (int flags = 0; flags < 4 && value < text.size() && text[value] == '-'; ++flags)
    value = run_end(text, run_end_except(text, value, space), space);
  return find_argument(text, value);
}

// A dash that begins a word: `--password`, `-Token`, but not `x-api-key` or `Get-Secret`.
bool begins_flag(std::string_view text, std::size_t at) {
  return at == 0 || !is(text[at - 1], token) || (text[at - 1] != '-' && at_boundary(text, at));
}

std::string_view flag_name(std::string_view text, std::size_t at) {
  const std::size_t begin = at + (has_at(text, at, "--") ? 2 : 1);
  const std::size_t end = run_end(text.substr(0, begin + kFlagBytes), begin, token);
  return begin <= text.size() ? text.substr(begin, end - begin) : std::string_view();
}

bool is_flag_name(std::string_view name) {
  for (const std::string_view without_value : {"no-", "ask-", "prompt-"})
    if (has_ignoring_case(name, 0, without_value)) return false;
  const NameKind kind = kind_of_name(name);
  return kind == NameKind::secret || kind == NameKind::pass;
}

// From the end of a flag to its value: `=V`, `:V`, ` V`, over an escaped line break, and `", "V` in a list of
// arguments. Nothing when the flag is followed by something else.
std::optional<std::size_t> skip_to_argument(std::string_view text, std::size_t at) {
  if (at >= text.size()) return std::nullopt;
  if (is(text[at], quote) || has_at(text, at, "\\\"")) {
    std::size_t next = at;
    while (next < text.size() && (is(text[next], quote) || text[next] == '\\')) ++next;
    next = run_end(text, next, space);
    if (has_at(text, next, ",")) next = run_end(text, next + 1, space);
    const Opening opening = skip_opening(text, next);
    if (is(text[next - 1], quote) || !opening.quote) return std::nullopt;
    return next;
  }
  std::size_t value = at;
  while (value < text.size() && std::string_view(" \t=:").find(text[value]) != kNone) ++value;
  if (text[value - 1] == ':' && has_at(text, value, "//")) value += 2;
  if (text[value - 1] == '=' && has_at(text, value, ">")) value = run_end(text, value + 1, space);
  if (has_at(text, value, "\\\n")) value = run_end(text, value + 2, space);
  return value > at ? std::optional(value) : std::nullopt;
}

// The program that a flag belongs to, when only flags stand between them.
std::string_view program_before(std::string_view text, std::size_t at) {
  const std::size_t stop = at > kFlagBytes ? at - kFlagBytes : 0;
  while (at > stop) {
    const std::size_t end = skip_spaces_back(text, at);
    std::size_t begin = end;
    while (begin > stop && !is(text[begin - 1], space)) --begin;
    if (begin == end) break;
    if (text[begin] != '-') return text.substr(begin, end - begin);
    at = begin;
  }
  return {};
}

// `API key: V`, and the two halves of one setting: `name: DB_PASSWORD` before `value: V`.
NameKind kind_of_two_words(std::string_view text, std::string_view name, std::size_t begin) {
  if (equal_ignoring_case(name, "key")) {
    if (begin == 0 || text[begin - 1] != ' ') return NameKind::harmless;
    const bool secret = any_ignoring_case(word_before(text, begin - 1),
                                          {"api", "access", "secret", "private", "encryption", "signing"});
    return secret ? NameKind::key : NameKind::harmless;
  }
  if (!equal_ignoring_case(name, "value")) return NameKind::harmless;
  std::size_t end = begin;
  while (end > 0 && (is(text[end - 1], space | quote) || text[end - 1] == '\\' || text[end - 1] == ','))
    --end;
  return kind_of_name(word_before(text, end));
}

// The signature in the query of an Azure address: `?sig=`, `&sig=`.
std::optional<SecretSpan> match_shared_signature(std::string_view text, std::size_t at) {
  if (text[at] != '=' || at < 4 || !has_ignoring_case(text, at - 3, "sig")) return std::nullopt;
  if (text[at - 4] != '?' && text[at - 4] != '&') return std::nullopt;
  std::size_t end = at + 1;
  while (end < text.size() && (is(text[end], token) || std::string_view("%/+=").find(text[end]) != kNone))
    ++end;
  if (end - at <= 20) return std::nullopt;
  return SecretSpan{at + 1, end};
}

// Backslashes before a quote: how often its text was quoted.
std::size_t escapes_before(std::string_view text, std::size_t at) {
  return at - skip_escapes_back(text, at);
}

bool is_number(std::string_view text) {
  return std::ranges::all_of(text, is_digit);
}

// A user name in a URL that is a token: letters and digits, long, without the look of a name.
bool is_user_token(std::string_view user) {
  return user.size() >= kUserTokenBytes && std::ranges::all_of(user, is_word) &&
         std::ranges::any_of(user, is_digit);
}

// The quote that a URL stands in. One that is followed by more of a word is a part of the password.
char quote_around(std::string_view text, std::size_t colon) {
  std::size_t begin = colon;
  while (begin > 0 && colon - begin < kFlagBytes && (is(text[begin - 1], dotted) || text[begin - 1] == '+'))
    --begin;
  if (begin == 0) return 0;
  const char before = text[begin - 1];
  return is(before, quote) ? before : before == '<' ? '>' : '\0';
}

}  // namespace

// The name before a separator.
struct SecretScanner::Key {
  std::string_view name;
  NameKind kind;
  std::size_t begin;
  bool quoted;  // `"password": `
};

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
      if (auto found = find_token(text_, at)) return found;
      if (auto found = match_separator(at)) return found;
      return match_url(at);
    case '=': return match_separator(at);
    case '>': return match_tag(at);
    case '-': return match_dash(at);
    case 'b':
    case 'B': return match_bearer(text_, at);
    default: return find_token(text_, at);
  }
}

// Blanks before a separator belong to it alone, so looking back over them is linear in all.
std::optional<SecretSpan> SecretScanner::match_separator(std::size_t at) const {
  std::size_t end = at;
  if (text_[at] == '=' && end > 0 && std::string_view("?+!").find(text_[end - 1]) != kNone) --end;
  end = skip_spaces_back(text_, end);
  if (end > 0 && text_[end - 1] == ']') --end;
  const std::size_t name_end = skip_quotes_back(text_, end);
  Key key{.name = word_before(text_, name_end), .kind = {}, .begin = 0, .quoted = name_end < end};
  key.kind = kind_of_name(key.name);
  key.begin = name_end - key.name.size();
  if (key.kind == NameKind::harmless) key.kind = kind_of_two_words(text_, key.name, key.begin);
  if (key.kind == NameKind::harmless) return match_shared_signature(text_, at);
  if (is_scope(text_, at)) return std::nullopt;
  return match_named(key, after_separator(text_, at));
}

std::optional<SecretSpan> SecretScanner::match_named(const Key& key, std::size_t value) const {
  if (key.kind == NameKind::authorization) return match_header(key, value);
  if (key.kind == NameKind::cookie) return match_cookie(key, value);
  const Opening opening = skip_opening(text_, value);
  const bool adjacent = opening.value == value;
  if (key.kind == NameKind::pass && !key.quoted && !adjacent && !opening.quote) return std::nullopt;
  if (!opening.quote && is_cmdlet_at(text_, opening.value) && makes_value(key, opening.value))
    return std::nullopt;
  // The working directory of a shell.
  if ((key.name == "PWD" || key.name == "OLDPWD") && adjacent && has_at(text_, value, "/"))
    return std::nullopt;
  auto found = find_named_value(text_, value);
  if (found && key.kind == NameKind::part && !opening.quote)
    found->end = std::min(found->end, text_.substr(0, found->end).find(';', found->begin));
  return found && found->begin < found->end ? found : std::nullopt;
}

// `$password = Get-Secret x`: the command stays; `password=New-York` is no command.
bool SecretScanner::makes_value(const Key& key, std::size_t value) const {
  const char before = key.begin > 0 ? text_[key.begin - 1] : '\0';
  return before == '$' || before == ':' || text_[value] == '(' ||
         has_ignoring_case(text_, value, "convertto-securestring");
}

std::optional<SecretSpan> SecretScanner::match_header(const Key& key, std::size_t value) const {
  Opening opening = skip_opening(text_, value);
  if (!opening.quote && !key.quoted && key.begin > 0 && is(text_[key.begin - 1], quote)) {
    opening.quote = text_[key.begin - 1];
    opening.escapes = escapes_before(text_, key.begin - 1);
  }
  return span(opening.value, header_end(text_, opening));
}

// In prose and in programs `cookie` has other values: a header's has the shape `name=value`.
std::optional<SecretSpan> SecretScanner::match_cookie(const Key& key, std::size_t value) const {
  const Opening opening = skip_opening(text_, value);
  if (text_[value - 1] == '=' && opening.value != value && !opening.quote) return std::nullopt;
  const std::string_view window = text_.substr(0, opening.value + kCookieBytes);
  const std::size_t name = run_end_except(window, opening.value, space | quote);
  const bool is_pair = window.substr(0, name).find('=', opening.value) != kNone;
  if (text_[value - 1] == ':' && !key.quoted && !is_pair) return std::nullopt;
  return match_header(key, value);
}

// userinfo ends at a slash, so two "://" never read the same stretch. A password may hold every other byte,
// also the ones that should have been encoded.
std::optional<SecretSpan> SecretScanner::match_url(std::size_t colon) const {
  if (!has_at(text_, colon, "://")) return std::nullopt;
  if (auto webhook = find_webhook(text_, colon)) return webhook;
  const std::size_t begin = colon + 3;
  const char closing = quote_around(text_, colon);
  std::size_t end = begin;
  for (; end < text_.size() && !is(text_[end], space) && text_[end] != '/'; ++end) {
    const bool last = end + 1 == text_.size() || !is_word(text_[end + 1]);
    if (closing && text_[end] == closing && last) break;
  }
  const std::string_view authority = text_.substr(begin, end - begin);
  const std::size_t host = authority.rfind('@');
  if (host == kNone) return std::nullopt;
  const std::string_view user = authority.substr(0, std::min(host, authority.find(':')));
  if (user.find_first_of("?#@") != kNone) return std::nullopt;
  if (user.size() == host) return is_user_token(user) ? span(begin, begin + host) : std::nullopt;
  const std::string_view password = authority.substr(user.size() + 1, host - user.size() - 1);
  // `[` begins the placeholder: a second round must come to the same result.
  if (password == "x-oauth-basic" || (password.size() < 2 && (is_user_token(user) || user.starts_with('['))))
    return span(begin, begin + user.size());
  return span(begin + user.size() + 1, begin + host);
}

// `<password>V</password>` and `<entry key="db.password">V</entry>`. The way back ends at the tag before, so
// tags are read once.
std::optional<SecretSpan> SecretScanner::match_tag(std::size_t at) const {
  std::size_t begin = at;
  while (begin > 0 && text_[begin - 1] != '<' && text_[begin - 1] != '>') --begin;
  if (begin == 0 || text_[begin - 1] != '<' || begin == at || !is(text_[begin], alnum)) return std::nullopt;
  const std::size_t name_end = std::min(at, text_.substr(0, at).find_first_of(" \t\r\n/", begin));
  const bool named = kind_of_name(word_before(text_.substr(0, name_end), name_end)) != NameKind::harmless;
  const std::size_t last = skip_quotes_back(text_, at);
  if (!named && (last == at || kind_of_name(word_before(text_, last)) == NameKind::harmless))
    return std::nullopt;
  constexpr std::string_view kCdata = "<![CDATA[";
  if (has_at(text_, at + 1, kCdata)) {
    const std::size_t value = at + 1 + kCdata.size();
    const std::size_t end = text_.substr(0, value + kCdataBytes).find("]]>", value);
    return end == kNone ? std::nullopt : span(value, end);
  }
  const std::size_t end = text_.find('<', at + 1);
  if (end == kNone || !has_at(text_, end, "</")) return std::nullopt;
  return span(run_end(text_, at + 1, space), skip_spaces_back(text_, end));
}

std::optional<SecretSpan> SecretScanner::match_dash(std::size_t at) {
  if (has_at(text_, at, "-----BEGIN ")) return match_private_key(at);
  if (auto found = match_secure_string(text_, at)) return found;
  if (begins_flag(text_, at)) {
    if (auto found = match_flag(at)) return found;
    if (auto found = match_sshpass(at)) return found;
    if (auto found = match_curl_user(at)) return found;
    if (auto found = match_mysql_password(at)) return found;
  }
  return find_token(text_, at);
}

std::optional<SecretSpan> SecretScanner::match_flag(std::size_t at) const {
  const std::string_view name = flag_name(text_, at);
  const bool cookie = equal_ignoring_case(name, "cookie");
  if (!cookie && !is_flag_name(name)) return std::nullopt;
  const std::size_t end = static_cast<std::size_t>(name.data() - text_.data()) + name.size();
  const auto value = skip_to_argument(text_, end);
  if (!value || has_at(text_, skip_opening(text_, *value).value, "--")) return std::nullopt;
  if (is(text_[end], quote)) return find_named_value(text_, *value);
  auto found = find_argument(text_, *value);
  // Without `=` it is the name of a file.
  if (found && cookie && text_.substr(0, found->end).find('=', found->begin) == kNone) return std::nullopt;
  return found;
}

std::optional<SecretSpan> SecretScanner::match_sshpass(std::size_t at) const {
  if (!has_at(text_, at, "-p") || !program_before(text_, at).ends_with("sshpass")) return std::nullopt;
  return find_argument(text_, run_end(text_, at + 2, space));
}

// `-u user:V`, `-su user:V`, `-uuser:V`, `--user user:V`, `--proxy-user=user:V`. The user stays.
std::optional<SecretSpan> SecretScanner::match_curl_user(std::size_t at) {
  const std::string_view name = flag_name(text_, at);
  const bool is_long = has_at(text_, at, "--");
  if (name.empty() || (is_long ? name != "user" && name != "proxy-user" : name.find_first_of("uU") == kNone))
    return std::nullopt;
  if (!programs().curl) return std::nullopt;
  const std::size_t end = static_cast<std::size_t>(name.data() - text_.data()) + name.size();
  const std::string_view window = text_.substr(0, end + kUserBytes);
  std::optional<std::size_t> value = skip_to_argument(window, end);
  if (!is_long && lower(name.back()) != 'u')
    value = lower(name.front()) == 'u' ? std::optional(at + 2) : std::nullopt;
  if (!value) return std::nullopt;
  const auto word = find_named_value(window, *value);
  if (!word) return std::nullopt;
  const std::string_view pair = window.substr(word->begin, word->end - word->begin);
  const std::size_t colon = pair.find(':');
  // `docker run -u 1000:1000`
  if (colon == kNone || (is_number(pair.substr(0, colon)) && is_number(pair.substr(colon + 1))))
    return std::nullopt;
  return span(word->begin + colon + 1, word->end);
}

std::optional<SecretSpan> SecretScanner::match_mysql_password(std::size_t at) {
  if (!has_at(text_, at, "-p") || at + 2 >= text_.size()) return std::nullopt;
  const char first = text_[at + 2];
  if (is(first, space) || first == '=' || first == '-' || !programs().mysql) return std::nullopt;
  return find_argument(text_, at + 2);
}

const SecretScanner::Programs& SecretScanner::programs() {
  if (!programs_) {
    const std::string lowered = to_lower_ascii(text_);
    const auto has = [&](std::string_view name) { return lowered.find(name) != kNone; };
    programs_ = Programs{.mysql = has("mysql") || has("mariadb") || has("mycli"), .curl = has("curl")};
  }
  return *programs_;
}

// An END that is too far away, or missing because the text was cut, leaves the key without a frame: then
// whatever looks like its body goes. The next END is searched once for all BEGINs before it.
std::optional<SecretSpan> SecretScanner::match_private_key(std::size_t at) {
  const std::size_t title = at + 11;
  const std::size_t title_end = text_.substr(0, title + 64).find("PRIVATE KEY", title);
  if (title_end == kNone || text_.substr(title, title_end - title).find('-') != kNone) return std::nullopt;
  const std::size_t dashes = title_end + 11;
  const std::size_t key = dashes + (has_at(text_, dashes, " BLOCK-----") ? 11 : 5);
  if (!has_at(text_, key - 5, "-----")) return std::nullopt;
  if (pem_end_ < key) pem_end_ = text_.find("-----END ", key);
  const std::size_t closing =
      pem_end_ == kNone ? kNone : text_.substr(0, pem_end_ + 80).find("-----", pem_end_ + 9);
  if (closing != kNone && closing - key <= kPemBytes) return SecretSpan{at, closing + 5};
  return SecretSpan{at, std::min(run_end(text_, key, pem), key + kPemBytes)};
}

bool is_secret_name(std::string_view name) {
  return kind_of_name(name) != NameKind::harmless;
}

bool is_secret_flag(std::string_view argument) {
  if (argument.empty() || argument.front() != '-') return false;
  const std::string_view name = flag_name(argument, 0);
  return argument.ends_with(name) && is_flag_name(name);
}

}  // namespace relay::policy
