// A shell text as the parser gives it: every simple command that the text holds, wherever it stands, in the
// order of the text. The structure around the commands (lists, loops, branches) is not kept, because each
// branch may run. What is kept of it is what changes the meaning of a command: where its input comes from.
//
// Plain values. script_parser.h makes them, command_line.h reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relay::shell {

/// Which shell reads the text. They differ in what some characters mean: `((rm x))` is arithmetic in bash and
/// runs rm in dash.
enum class Dialect : std::uint8_t { bash, posix };

/// Some commands of a script: [first, last).
struct CommandSpan {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// A piece of a word, after quotes and escapes were taken away.
struct WordPiece {
  enum class Kind : std::uint8_t {
    literal,   // text
    variable,  // text is the name; fallback is what `${name:-fallback}` says
    output,    // of a command substitution; `commands` are those inside
    stream,    // a process substitution; `commands` are those inside
    unknown,   // anything else that only the shell can compute
  };
  Kind kind = Kind::literal;
  std::string text = {};
  bool quoted = false;  // not split, no pattern
  std::string fallback = {};
  CommandSpan commands = {};
};

struct Word {
  std::string source;  // as it was written
  std::vector<WordPiece> pieces;
};

/// NAME=value before a command or alone, or as an argument of `declare` and its like.
struct Assignment {
  std::string name;
  std::vector<Word> values;  // more than one for an array
};

enum class RedirectionKind : std::uint8_t {
  read,       // <
  write,      // > >> >| &> &>> <>
  duplicate,  // <& >&
  text,       // << <<- <<<: the input is part of the script
};

struct Redirection {
  RedirectionKind kind = RedirectionKind::read;
  int descriptor = 0;  // -1 for {name}>
  Word target;         // a file, a descriptor, or the text itself
};

/// Where standard input of a command comes from, as far as the script says.
enum class InputKind : std::uint8_t {
  inherited,  // from whoever runs the script
  pipe,       // from the commands of `input_from`; an empty span says that they are not known
  file,
  text,  // of the here-document or here-string that the command `input_from.first` has
};

struct ScriptCommand {
  std::vector<Assignment> assignments;
  std::vector<Word> words;  // empty: assignments or redirections alone
  std::vector<Redirection> redirections;
  InputKind input = InputKind::inherited;
  CommandSpan input_from = {};
  std::size_t level = 0;  // of substitutions around it
};

struct ShellScript {
  std::vector<ScriptCommand> commands;
  /// What was not understood, each a clause such as "a quote is never closed". Not empty: there may be
  /// commands that `commands` does not have.
  std::vector<std::string> unclear;
};

}  // namespace relay::shell
