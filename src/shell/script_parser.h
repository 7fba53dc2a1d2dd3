// ScriptParser: finds every simple command in a text for bash or a POSIX shell. Pure: text in, value out.
//
// It fails closed. A construct that it does not know, or that shells read differently, becomes a sentence in
// ShellScript::unclear, and the commands found so far stay. It never decides that something is not a command
// by guessing where a quote or a bracket ends.
//
// Recursive descent over the bytes, without a separate lexer, because in a shell the grammar decides what a
// token is. Nesting is bounded by limits::kShellNesting and work by limits::kShellParseSteps, so that neither
// stack nor time depends on what an attacker writes.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/syntax.h"

namespace relay::shell {

ShellScript parse_script(std::string_view text, Dialect dialect);

/// The class behind parse_script. Its parts are in script_parser.cc (commands) and script_words.cc (words).
class ScriptParser {
 public:
  struct Shared {
    ShellScript script;
    std::size_t steps = 0;
    std::size_t level = 0;  // of substitutions around what is being read
  };
  ScriptParser(std::string_view text, Dialect dialect, Shared& shared, std::size_t depth)
      : text_(text), dialect_(dialect), shared_(shared), depth_(depth) {}

  /// The whole text is a script.
  void parse_all();
  /// The whole text is the body of a here-document or of arithmetic: only `$` and backticks mean something.
  Word parse_body();

 private:
  using Closers = std::initializer_list<std::string_view>;
  /// A here-document whose lines come after the line that announces it.
  struct PendingText {
    std::string delimiter;
    bool quoted = false;
    bool strip_tabs = false;
    std::size_t command = std::string::npos;  // which command has it; not known while that is being read
    std::size_t redirection = 0;
  };
  enum class Arithmetic : std::uint8_t { command, expansion };
  /// Counts nesting; too deep is a failure.
  class Nested;

  // Bytes.
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const;
  [[nodiscard]] bool starts(std::string_view token) const { return text_.substr(at_).starts_with(token); }
  bool take(std::string_view token);
  void skip_continuations();
  void skip_blanks();
  void skip_line_breaks();
  void fail(std::string why);
  void step();

  // Commands.
  void parse_list(Closers closers, char closing);
  [[nodiscard]] bool at_list_end(Closers closers, char closing);
  bool parse_separator(Closers closers, char closing);
  void parse_and_or();
  void parse_pipeline();
  void skip_pipeline_words();
  void parse_command();
  bool parse_compound(std::string_view word);
  void parse_reserved(std::string_view word);
  void parse_group();
  void parse_subshell();
  void parse_if();
  void parse_loop();
  void parse_for();
  void parse_for_items();
  void parse_case();
  void parse_case_item();
  void parse_test();
  void parse_function();
  void parse_function_body();
  void parse_coproc();
  bool parse_arithmetic_command();
  void parse_compound_redirections(std::size_t first);
  void parse_simple();
  bool parse_simple_part(ScriptCommand& command);
  bool at_function_parens(const ScriptCommand& command);
  [[nodiscard]] std::string find_bare_word(std::size_t from, std::size_t& end) const;
  [[nodiscard]] std::string bare_word() const;
  bool take_bare(std::string_view word);
  void expect_bare(std::string_view word);
  [[nodiscard]] bool opens_compound(std::string_view word) const;
  void set_input(std::size_t first, const ScriptCommand& from);

  // Redirections.
  [[nodiscard]] std::size_t find_redirection(int& descriptor) const;
  bool parse_redirection(ScriptCommand& command);
  void parse_text_redirection(ScriptCommand& command, int descriptor, bool strip_tabs);
  void read_pending_texts();
  std::string read_text_lines(const PendingText& pending);

  // Words.
  [[nodiscard]] bool at_word() const;
  Word parse_word();
  void parse_word_piece(Word& word);
  void parse_single_quotes(Word& word);
  void parse_double_quotes(Word& word);
  void parse_ansi_c(Word& word);
  void parse_backticks(Word& word, bool quoted);
  void parse_dollar(Word& word, bool quoted);
  void parse_braces(Word& word, bool quoted);
  void parse_brace_content(Word& content, bool quoted);
  void parse_command_output(Word& word, bool quoted);
  void parse_stream(Word& word);
  void parse_old_arithmetic(Word& word);
  bool parse_arithmetic(Word& word);
  void parse_arithmetic_piece(Word& inner);
  void parse_pattern_group(Word& word);
  [[nodiscard]] std::size_t find_assignment(std::size_t& name_end) const;
  Assignment parse_assignment();
  void parse_subscript(Word& word);
  void parse_array(Assignment& assignment);
  CommandSpan parse_inner_commands();
  /// A place for a command that is being read, before those in its substitutions.
  std::size_t reserve_command();
  void store_command(std::size_t index, ScriptCommand command);
  void add_literal(Word& word, char c, bool quoted);

  std::string_view text_;
  std::size_t at_ = 0;
  Dialect dialect_;
  Shared& shared_;
  std::size_t depth_;
  bool failed_ = false;
  std::vector<PendingText> pending_;
  std::set<std::pair<std::size_t, Arithmetic>> not_arithmetic_;  // where it was tried in vain
};

}  // namespace relay::shell
