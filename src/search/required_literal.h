// What text must every match of a regular expression contain? "int\s+main\(" cannot match where "main(" is
// not, and "cat|dog" only where one of the two is.
//
// The reader of the expression understands the plain cases and gives up on the rest: an answer that is too
// short costs time, a wrong one would lose matches. A property test holds it against RE2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"

namespace relay::search {

struct RequiredLiterals {
  std::vector<std::string> any;  // each match contains one of these; empty when nothing useful is known
  bool whole = false;            // and whatever is one of these is a match: no expression is needed
};

/// Ignoring case, the texts are in lower case.
RequiredLiterals required_literals(std::string_view regex, Case letters);

/// The same for a fixed text: all of it, or, ignoring case, a piece that folds as ASCII does.
RequiredLiterals required_literals_of_text(std::string_view text, Case letters);

}  // namespace relay::search
