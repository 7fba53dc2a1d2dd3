// How the text of a glob becomes parts and tokens. Only glob.cc and its tests include this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"

namespace relay {

struct DecodedChar {
  char32_t value;
  std::size_t size;  // bytes; at least 1
};

/// The first character of a text that is not empty.
DecodedChar decode_char(std::string_view text);

/// "a{b,c{d,e}}" gives ab, acd, ace. A brace without its partner, or without a comma, is itself.
Result<std::vector<std::string>> expand_braces(std::string_view pattern);

class GlobParser {
 public:
  explicit GlobParser(Case letters) : case_(letters) {}

  Result<std::vector<GlobPart>> parse(std::string_view pattern);

 private:
  Result<GlobPart> parse_part(std::string_view text);
  /// at is behind the "["; on success it moves behind the "]". False when the class never ends.
  bool parse_class(std::string_view text, std::size_t& at, GlobPart& part);

  Case case_;
};

}  // namespace relay
