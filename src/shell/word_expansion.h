// What a word becomes when the shell expands it, as far as the script itself says.
//
// A value that is fixed in the text (a literal, a quoted string, braces) is known. The value of a variable
// that the same text assigns, or the output of `echo`, is a guess: it is used to judge a command more
// strictly, never to judge it more mildly.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/syntax.h"

namespace relay::shell {

enum class Knowledge : std::uint8_t { known, guessed, unknown };

/// One argument as a program would get it.
struct ExpandedField {
  std::string text;   // its value, or the way it is written where the value is not known
  std::string guess;  // its value; what is not known counts as empty
  Knowledge knowledge = Knowledge::known;
  bool pattern = false;   // has a wildcard that the shell replaces
  bool vanishes = false;  // not an argument at all when its value is empty
  bool stream = false;    // a process substitution
};

using Fields = std::vector<ExpandedField>;

/// Values that variables may have; several when the text assigns several.
using VariableValues = std::map<std::string, std::vector<std::string>, std::less<>>;

class WordExpander {
 public:
  /// Both outlive the expander, which is for one command: its work is bounded. `choice` says which of several
  /// values of a variable to take.
  WordExpander(const ShellScript& script, const VariableValues& values, std::size_t choice = 0)
      : script_(script), values_(values), choice_(choice) {}

  [[nodiscard]] Fields expand(const Word& word) const;
  [[nodiscard]] Fields expand_all(const std::vector<Word>& words) const;
  /// The word as one text: an assignment, a here-document.
  [[nodiscard]] ExpandedField expand_whole(const Word& word) const;

  /// What the commands of a span print, when that can be told: echo, printf, cat of a here-document, and
  /// base64, xxd, rev and tr -d behind them.
  [[nodiscard]] std::optional<std::string> find_output(const CommandSpan& span) const;
  /// What the command reads, when the script says so.
  [[nodiscard]] std::optional<std::string> find_input(const ScriptCommand& command) const;

 private:
  struct Atom {
    char byte = 0;
    bool quoted = false;
    const WordPiece* piece = nullptr;  // set: not a byte
  };
  using Atoms = std::vector<Atom>;

  static Atoms atoms_of(const Word& word);
  static std::vector<Atoms> expand_braces(const Atoms& atoms, std::size_t& budget);
  void append_fields(const Atoms& atoms, Fields& out) const;
  [[nodiscard]] ExpandedField value_of(const WordPiece& piece) const;
  [[nodiscard]] ExpandedField find_value(const WordPiece& piece) const;
  [[nodiscard]] std::optional<std::string> find_output(const ScriptCommand& command) const;

  const ShellScript& script_;
  const VariableValues& values_;
  std::size_t choice_;
  mutable std::size_t depth_ = 0;  // of outputs that are being worked out
  mutable std::size_t spent_ = 0;  // bytes of values
};

}  // namespace relay::shell
