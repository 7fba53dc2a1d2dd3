// What text must every match of a regular expression contain? "int\s+main\(" cannot match where "main(" is not.
//
// The reader of the expression understands the plain cases and gives up on the rest: an answer that is too short
// costs time, a wrong one would lose matches. A property test holds it against RE2.
#pragma once

#include <string>
#include <string_view>

#include "vfs/glob.h"

namespace relay::vfs {

struct RequiredLiteral {
  std::string text;    // "" when nothing useful is known; lower case when case is ignored
  bool whole = false;  // the expression is exactly this text and nothing else
};

RequiredLiteral required_literal(std::string_view regex, Case letters);

/// The same for a fixed text: all of it, or, ignoring case, a piece that folds as ASCII does.
RequiredLiteral required_literal_of_text(std::string_view text, Case letters);

}  // namespace relay::vfs
