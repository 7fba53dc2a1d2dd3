#include "base/glob.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/glob_parser.h"
#include "base/limits.h"

namespace relay {
namespace {

char fold(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

char32_t fold(char32_t c) {
  return c >= U'A' && c <= U'Z' ? c + 32 : c;
}

bool same(std::string_view a, std::string_view b, Case letters) {
  return letters == Case::sensitive ? a == b : equal_ignoring_case(a, b);
}

// Walks the parts of a path without copying them.
class PartCursor {
 public:
  explicit PartCursor(std::string_view path) : rest_(path), done_(path.empty()) { cut(); }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] std::string_view part() const { return rest_.substr(0, size_); }
  void next() {
    done_ = size_ == rest_.size();
    if (!done_) rest_.remove_prefix(size_ + 1);
    cut();
  }

 private:
  void cut() { size_ = std::min(rest_.find('/'), rest_.size()); }
  std::string_view rest_;
  std::size_t size_ = 0;
  bool done_;
};

// A globstar takes as few parts as it can; on a mismatch the last one takes one more. Only the last can
// matter: whatever an earlier one could give up, the last can take as well.
bool match_parts(const std::vector<GlobPart>& parts, std::string_view path) {
  std::size_t at = 0;
  PartCursor cursor(path);
  std::size_t star = parts.size();  // no globstar yet
  PartCursor star_cursor = cursor;
  while (!cursor.done()) {
    if (at < parts.size() && parts[at].is_globstar()) {
      if (at + 1 == parts.size()) return true;
      star = at++;
      star_cursor = cursor;
    } else if (at < parts.size() && parts[at].matches(cursor.part())) {
      ++at;
      cursor.next();
    } else if (star < parts.size()) {
      star_cursor.next();
      cursor = star_cursor;
      at = star + 1;
    } else {
      return false;
    }
  }
  // A globstar at the very end stands for at least one part, so it cannot be left over.
  return at == parts.size();
}

bool may_match_parts(const std::vector<GlobPart>& parts, std::string_view directory) {
  PartCursor cursor(directory);
  for (const GlobPart& part : parts) {
    if (part.is_globstar() || cursor.done()) return true;
    if (!part.matches(cursor.part())) return false;
    cursor.next();
  }
  return false;
}

}  // namespace

// One character; a byte that is no UTF-8 counts as a character of its own, outside of Unicode.
DecodedChar decode_char(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size || !is_valid_utf8(text.substr(0, size))) {
    return {0x110000 + lead, 1};
  }
  char32_t value = lead & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) value = value << 6 | (byte(i) & 0x3F);
  return {value, size};
}

void GlobPart::finish(Case letters) {
  case_ = letters;
  const auto is_byte = [](const Token& token) { return token.kind == Token::Kind::byte; };
  const auto is_run = [](const Token& token) { return token.kind == Token::Kind::any_run; };
  const auto bytes = std::count_if(tokens_.begin(), tokens_.end(), is_byte);
  const auto others = static_cast<std::ptrdiff_t>(tokens_.size()) - bytes;
  for (const Token& token : tokens_) {
    if (is_byte(token)) literal_ += token.byte;
  }
  if (others == 0) shape_ = Shape::literal;
  if (others == 1 && is_run(tokens_.front())) shape_ = Shape::suffix;
  if (others == 1 && bytes > 0 && is_run(tokens_.back())) shape_ = Shape::prefix;
}

bool GlobPart::matches(std::string_view name) const {
  const std::size_t size = literal_.size();
  switch (shape_) {
    case Shape::literal: return same(name, literal_, case_);
    case Shape::suffix: return name.size() >= size && same(name.substr(name.size() - size), literal_, case_);
    case Shape::prefix: return name.size() >= size && same(name.substr(0, size), literal_, case_);
    case Shape::general: return matches_general(name);
  }
  return false;
}

bool GlobPart::matches_general(std::string_view name) const {
  std::size_t token = 0, at = 0;
  std::size_t star = tokens_.size(), star_at = 0;
  while (at < name.size()) {
    if (token < tokens_.size() && tokens_[token].kind == Token::Kind::any_run) {
      star = token++;
      star_at = at;
      continue;
    }
    const std::size_t taken = token < tokens_.size() ? step(tokens_[token], name, at) : 0;
    if (taken > 0) {
      at += taken;
      ++token;
    } else if (star < tokens_.size()) {
      star_at += decode_char(name.substr(star_at)).size;
      at = star_at;
      token = star + 1;
    } else {
      return false;
    }
  }
  while (token < tokens_.size() && tokens_[token].kind == Token::Kind::any_run) ++token;
  return token == tokens_.size();
}

std::size_t GlobPart::step(const Token& token, std::string_view name, std::size_t at) const {
  switch (token.kind) {
    case Token::Kind::byte:
      return token.byte == name[at] || (case_ == Case::ignored && fold(token.byte) == fold(name[at])) ? 1 : 0;
    case Token::Kind::any_char: return decode_char(name.substr(at)).size;
    case Token::Kind::char_class: {
      const DecodedChar c = decode_char(name.substr(at));
      return class_has(classes_[token.char_class], c.value) ? c.size : 0;
    }
    case Token::Kind::any_run: return 0;
  }
  return 0;
}

bool GlobPart::class_has(const CharClass& set, char32_t c) const {
  const auto holds = [&](char32_t value) {
    return std::any_of(set.ranges.begin(), set.ranges.end(),
                       [&](const auto& range) { return range.first <= value && value <= range.last; });
  };
  bool found = holds(c);
  if (!found && case_ == Case::ignored) {
    const char32_t lower = fold(c);
    found = holds(lower) || (lower >= U'a' && lower <= U'z' && holds(lower - 32));
  }
  return found != set.negated;
}

Result<Glob> Glob::parse(std::string_view pattern, Case letters, Braces braces) {
  if (pattern.size() > limits::kGlobBytes) return fail(invalid("the glob pattern is too long"));
  std::vector<std::string> plain{std::string(pattern)};
  if (braces == Braces::expand) {
    RELAY_TRY(plain, expand_braces(pattern));
  }
  Glob glob;
  for (const std::string& alternative : plain) {
    RELAY_TRY(auto parts, GlobParser(letters).parse(alternative));
    glob.has_slash_ |= alternative.find('/') < alternative.size() - 1;
    glob.alternatives_.push_back(std::move(parts));
  }
  return glob;
}

bool Glob::matches(std::string_view path) const {
  return std::any_of(alternatives_.begin(), alternatives_.end(),
                     [&](const Parts& parts) { return match_parts(parts, path); });
}

bool Glob::may_match_beneath(std::string_view directory) const {
  return std::any_of(alternatives_.begin(), alternatives_.end(),
                     [&](const Parts& parts) { return may_match_parts(parts, directory); });
}

bool name_matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return true;
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;  // the last star seen, and how much of the name it has eaten
  std::size_t eaten = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      eaten = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++eaten;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace relay
