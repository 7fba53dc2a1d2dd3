// The words of a script: quotes, expansions, substitutions, patterns, assignments.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "shell/ansi_c.h"
#include "shell/script_bytes.h"
#include "shell/script_parser.h"

namespace relay::shell {
namespace {

// ${…} that runs what a value says.
constexpr std::string_view kPromptExpansion = "@P";

bool is_special_parameter(char c) {
  return is_digit(c) || std::string_view("@*#?-$!").find(c) != std::string_view::npos;
}

void add_piece(Word& word, WordPiece piece) {
  word.pieces.push_back(std::move(piece));
}

bool ends_with_pattern_sign(const Word& word) {
  if (word.pieces.empty() || word.pieces.back().kind != WordPiece::Kind::literal || word.pieces.back().quoted)
    return false;
  const std::string& text = word.pieces.back().text;
  return !text.empty() && std::string_view("?*+@!").find(text.back()) != std::string_view::npos;
}

}  // namespace

void ScriptParser::add_literal(Word& word, char c, bool quoted) {
  if (word.pieces.empty() || word.pieces.back().kind != WordPiece::Kind::literal ||
      word.pieces.back().quoted != quoted)
    add_piece(word, {.quoted = quoted});
  word.pieces.back().text.push_back(c);
}

bool ScriptParser::at_word() const {
  if (at_end()) return false;
  if (dialect_ == Dialect::bash && (starts("<(") || starts(">("))) return true;
  return !is_meta(peek());
}

Word ScriptParser::parse_word() {
  Word word;
  const std::size_t began = at_;
  for (;;) {
    step();
    skip_continuations();
    if (failed_ || at_end()) break;
    const bool group = peek() == '(' && ends_with_pattern_sign(word) && dialect_ == Dialect::bash;
    if (!group && !at_word()) break;
    if (group)
      parse_pattern_group(word);
    else
      parse_word_piece(word);
  }
  word.source = std::string(text_.substr(began, std::min(at_, text_.size()) - began));
  return word;
}

void ScriptParser::parse_word_piece(Word& word) {
  switch (peek()) {
    case '\'': return parse_single_quotes(word);
    case '"': ++at_; return parse_double_quotes(word);
    case '`': return parse_backticks(word, false);
    case '$': return parse_dollar(word, false);
    case '<':
    case '>': return parse_stream(word);
    case '\\':
      ++at_;
      if (at_end()) return add_literal(word, '\\', true);
      add_literal(word, peek(), true);
      ++at_;
      return;
    default: add_literal(word, peek(), false); ++at_;
  }
}

void ScriptParser::parse_single_quotes(Word& word) {
  const std::size_t end = text_.find('\'', at_ + 1);
  if (end == std::string_view::npos) return fail("a quote is never closed");
  add_piece(word, {.text = std::string(text_.substr(at_ + 1, end - at_ - 1)), .quoted = true});
  at_ = end + 1;
}

void ScriptParser::parse_double_quotes(Word& word) {
  const std::size_t depth = depth_++;
  if (depth > limits::kShellNesting) fail("it is nested too deeply");
  add_piece(word, {.quoted = true});  // "" is a word too
  for (;;) {
    step();
    skip_continuations();
    if (failed_) break;
    if (at_end()) {
      fail("a quote is never closed");
      break;
    }
    const char c = peek();
    if (c == '"') {
      ++at_;
      break;
    }
    if (c == '`') {
      parse_backticks(word, true);
    } else if (c == '$') {
      parse_dollar(word, true);
    } else if (c == '\\' && at_ + 1 < text_.size() &&
               std::string_view("$`\"\\").find(peek(1)) != std::string_view::npos) {
      add_literal(word, peek(1), true);
      at_ += 2;
    } else {
      add_literal(word, c, true);
      ++at_;
    }
  }
  depth_ = depth;
}

// $'…'
void ScriptParser::parse_ansi_c(Word& word) {
  at_ += 2;
  std::string raw;
  for (;;) {
    if (at_end()) return fail("a quote is never closed");
    const char c = peek();
    if (c == '\'') break;
    raw.push_back(c);
    if (c == '\\' && at_ + 1 < text_.size()) raw.push_back(text_[++at_]);
    ++at_;
  }
  ++at_;
  add_piece(word, {.text = decode_ansi_c(raw), .quoted = true});
}

/// The text between backticks is a script of its own, after one level of backslashes was taken away. The
/// next backtick that has none ends it, whatever quotes stand around.
void ScriptParser::parse_backticks(Word& word, bool quoted) {
  ++at_;
  std::string inner;
  const std::string_view escaped = quoted ? "$`\\\"" : "$`\\";
  for (;; ++at_) {
    step();
    if (at_end()) return fail("a backtick is never closed");
    if (peek() == '`') break;
    if (peek() == '\\' && at_ + 1 < text_.size() && escaped.find(peek(1)) != std::string_view::npos) ++at_;
    inner.push_back(peek());
  }
  ++at_;
  if (depth_ + 1 > limits::kShellNesting) return fail("it is nested too deeply");
  const std::size_t first = shared_.script.commands.size();
  ScriptParser parser(inner, dialect_, shared_, depth_ + 1);
  ++shared_.level;
  parser.parse_all();
  --shared_.level;
  if (parser.failed_) {
    failed_ = true;
    at_ = text_.size();
  }
  add_piece(word, {.kind = WordPiece::Kind::output,
                   .text = "`" + inner + "`",
                   .quoted = quoted,
                   .commands = {first, shared_.script.commands.size()}});
}

void ScriptParser::parse_dollar(Word& word, bool quoted) {
  std::size_t next = at_ + 1;
  while (text_.substr(next).starts_with("\\\n")) next += 2;
  const char c = next < text_.size() ? text_[next] : '\0';
  if (c == '(') return parse_command_output(word, quoted);
  if (c == '{') return parse_braces(word, quoted);
  if (c == '[' && dialect_ == Dialect::bash) return parse_old_arithmetic(word);
  if (c == '\'' && !quoted && dialect_ == Dialect::bash) return parse_ansi_c(word);
  if (c == '"' && !quoted && dialect_ == Dialect::bash) {
    at_ = next + 1;
    return parse_double_quotes(word);
  }
  if (is_name_start(c)) {
    std::string name;
    for (at_ = next; !at_end(); ++at_) {
      skip_continuations();
      if (!is_name_char(peek()) || at_end()) break;
      name.push_back(peek());
    }
    return add_piece(word, {.kind = WordPiece::Kind::variable, .text = std::move(name), .quoted = quoted});
  }
  if (next < text_.size() && is_special_parameter(c)) {
    at_ = next + 1;
    return add_piece(word, {.kind = WordPiece::Kind::variable, .text = std::string(1, c), .quoted = quoted});
  }
  add_literal(word, '$', quoted);
  ++at_;
}

/// $(…), or $((…)) when the parentheses close together.
void ScriptParser::parse_command_output(Word& word, bool quoted) {
  const std::size_t began = at_;
  take("$(");
  if (starts("(") && !not_arithmetic_.contains({at_, Arithmetic::expansion})) {
    const std::size_t inner = at_;
    ++at_;
    Word ignored;
    if (parse_arithmetic(ignored))
      return add_piece(word, {.kind = WordPiece::Kind::unknown,
                              .text = std::string(text_.substr(began, at_ - began)),
                              .quoted = quoted});
    if (failed_) return;
    not_arithmetic_.insert({inner, Arithmetic::expansion});
    at_ = inner;
  }
  const CommandSpan commands = parse_inner_commands();
  if (failed_) return;
  add_piece(word, {.kind = WordPiece::Kind::output,
                   .text = std::string(text_.substr(began, at_ - began)),
                   .quoted = quoted,
                   .commands = commands});
}

/// Commands up to the closing parenthesis. Here-documents that they announce end inside.
CommandSpan ScriptParser::parse_inner_commands() {
  const std::size_t first = shared_.script.commands.size();
  std::vector<PendingText> outer = std::exchange(pending_, {});
  ++shared_.level;
  parse_list({}, ')');
  --shared_.level;
  if (!failed_ && !take(")")) fail("a parenthesis is never closed");
  if (!failed_ && !pending_.empty()) fail("a here-document inside a substitution never ends");
  pending_ = std::move(outer);
  return {first, shared_.script.commands.size()};
}

// <(…) and >(…): a file that stands for the output or input of commands.
void ScriptParser::parse_stream(Word& word) {
  const std::size_t began = at_;
  const bool writes = peek() == '>';
  at_ += 2;
  const CommandSpan commands = parse_inner_commands();
  if (failed_) return;
  if (writes) {
    ScriptCommand from;
    from.input = InputKind::pipe;
    set_input(commands.first, from);
  }
  add_piece(word, {.kind = WordPiece::Kind::stream,
                   .text = std::string(text_.substr(began, at_ - began)),
                   .commands = commands});
}

/// ${…}. The name and the fallback of the simplest forms are kept; of the others only the commands inside.
void ScriptParser::parse_braces(Word& word, bool quoted) {
  const std::size_t began = at_;
  take("${");
  skip_continuations();
  if (at_end() || is_blank(peek()) || peek() == '\n' || peek() == '|' || peek() == '(')
    return fail("'${' with commands inside is not understood");
  if (++depth_ > limits::kShellNesting) return fail("it is nested too deeply");
  Word content;
  parse_brace_content(content, quoted);
  --depth_;
  if (failed_) return;
  std::string source(text_.substr(began, at_ - began));
  const std::string_view inside = std::string_view(source).substr(2, source.size() - 3);
  if (inside.ends_with(kPromptExpansion))
    shared_.script.unclear.emplace_back("'${…@P}' runs the commands that a value holds");
  std::size_t name_end = 0;
  while (name_end < inside.size() && is_name_char(inside[name_end])) ++name_end;
  if (name_end == 0 && !inside.empty() && is_special_parameter(inside[0]) && inside.size() == 1) name_end = 1;
  const std::string_view after = inside.substr(name_end);
  const std::size_t operator_size = after.starts_with(":-") || after.starts_with(":=") ? 2
                                    : after.starts_with("-") || after.starts_with("=") ? 1
                                                                                       : 0;
  if (name_end > 0 && (after.empty() || operator_size > 0)) {
    std::string fallback;
    for (const WordPiece& piece : content.pieces)
      if (piece.kind == WordPiece::Kind::literal) fallback += piece.text;
    fallback.erase(0, std::min(fallback.size(), name_end + operator_size));
    return add_piece(word, {.kind = WordPiece::Kind::variable,
                            .text = std::string(inside.substr(0, name_end)),
                            .quoted = quoted,
                            .fallback = std::move(fallback)});
  }
  add_piece(word, {.kind = WordPiece::Kind::unknown, .text = std::move(source), .quoted = quoted});
}

// Up to the brace that closes, which is taken. Inside double quotes shells disagree about single quotes: bash
// pairs them when it looks for the end and expands what is in them all the same.
void ScriptParser::parse_brace_content(Word& content, bool quoted) {
  for (;;) {
    step();
    skip_continuations();
    if (failed_) return;
    if (at_end()) return fail("'${' is never closed");
    const char c = peek();
    if (c == '}') {
      ++at_;
      return;
    }
    if (c == '\'' && quoted) return fail("a single quote inside \"${…}\" means different things to shells");
    if (c == '\\') {
      if (at_ + 1 >= text_.size()) return fail("'${' is never closed");
      add_literal(content, peek(1), true);
      at_ += 2;
    } else if (c == '\'') {
      parse_single_quotes(content);
    } else if (c == '"') {
      ++at_;
      parse_double_quotes(content);
    } else if (c == '`') {
      parse_backticks(content, quoted);
    } else if (c == '$') {
      parse_dollar(content, quoted);
    } else if (dialect_ == Dialect::bash && (starts("<(") || starts(">("))) {
      parse_stream(content);
    } else {
      add_literal(content, c, quoted);
      ++at_;
    }
  }
}

// $[…]
void ScriptParser::parse_old_arithmetic(Word& word) {
  const std::size_t began = at_;
  at_ += 2;
  Word inner;
  for (std::size_t open = 1; open > 0;) {
    step();
    if (failed_) return;
    if (at_end()) return fail("'$[' is never closed");
    if (peek() == '[' || peek() == ']') {
      open = peek() == '[' ? open + 1 : open - 1;
      ++at_;
      continue;
    }
    parse_arithmetic_piece(inner);
  }
  add_piece(word, {.kind = WordPiece::Kind::unknown, .text = std::string(text_.substr(began, at_ - began))});
}

/// After `((`, up to and with `))`. False: it failed, or the parentheses do not close together, so it is no
/// arithmetic and the caller goes back. What was found in vain is forgotten.
bool ScriptParser::parse_arithmetic(Word& word) {
  const std::size_t commands = shared_.script.commands.size();
  std::vector<PendingText> pending = pending_;
  if (++depth_ > limits::kShellNesting) fail("it is nested too deeply");
  bool is_arithmetic = false;
  for (std::size_t open = 0; !failed_ && !at_end();) {
    step();
    skip_continuations();
    if (peek() == '(') ++open;
    if (peek() == ')' && open == 0) {
      is_arithmetic = take("))");
      break;
    }
    if (peek() == ')') --open;
    if (peek() == '(' || peek() == ')')
      ++at_;
    else
      parse_arithmetic_piece(word);
  }
  --depth_;
  if (is_arithmetic) return true;
  if (failed_) return false;
  shared_.script.commands.resize(commands);
  pending_ = std::move(pending);
  return false;
}

void ScriptParser::parse_arithmetic_piece(Word& inner) {
  const char c = peek();
  if (c == '$') return parse_dollar(inner, true);
  if (c == '`') return parse_backticks(inner, true);
  // Quotes are not special here, but they may hide where the expression ends.
  if (c == '\'' || c == '"' || c == '\\') return fail("a quote in arithmetic is not understood");
  ++at_;
}

// Of bash's extended patterns: @(a|b), !(c).
void ScriptParser::parse_pattern_group(Word& word) {
  if (++depth_ > limits::kShellNesting) return fail("it is nested too deeply");
  add_literal(word, '(', false);
  ++at_;
  const std::size_t began = at_;
  for (;;) {
    step();
    skip_continuations();
    if (failed_) return;
    if (at_end()) return fail("a parenthesis is never closed");
    if (peek() == ')') break;
    if (peek() == '(' && ends_with_pattern_sign(word)) {
      parse_pattern_group(word);
    } else if (peek() == '|') {
      add_literal(word, '|', false);
      ++at_;
    } else if (is_meta(peek()) && !starts("<(") && !starts(">(")) {
      return fail("a pattern with parentheses is not understood");
    } else {
      parse_word_piece(word);
    }
  }
  if (at_ == began) return fail("a pattern with parentheses is not understood");
  add_literal(word, ')', false);
  ++at_;
  --depth_;
}

/// The body of a here-document: quotes mean nothing.
Word ScriptParser::parse_body() {
  Word word;
  word.source = std::string(text_);
  add_piece(word, {.quoted = true});
  while (!failed_ && !at_end()) {
    step();
    skip_continuations();
    if (at_end()) break;
    const char c = peek();
    if (c == '$') {
      parse_dollar(word, true);
    } else if (c == '`') {
      parse_backticks(word, true);
    } else if (c == '\\' && at_ + 1 < text_.size() &&
               std::string_view("$`\\").find(peek(1)) != std::string_view::npos) {
      add_literal(word, peek(1), true);
      at_ += 2;
    } else {
      add_literal(word, c, true);
      ++at_;
    }
  }
  return word;
}

// Assignments -----------------------------------------------------------------------------------------------

/// Where the value of NAME=, NAME+= begins, or the subscript of NAME[; 0 when the word is no assignment.
std::size_t ScriptParser::find_assignment(std::size_t& name_end) const {
  std::size_t at = at_;
  const auto skip = [&] {
    while (text_.substr(at).starts_with("\\\n")) at += 2;
  };
  if (at >= text_.size() || !is_name_start(text_[at])) return 0;
  for (; at < text_.size() && is_name_char(text_[at]); skip()) ++at;
  name_end = at;
  const std::string_view rest = text_.substr(at);
  if (rest.starts_with("[") && dialect_ == Dialect::bash) return at;
  if (rest.starts_with("+=") && dialect_ == Dialect::bash) return at + 2;
  return rest.starts_with("=") ? at + 1 : 0;
}

Assignment ScriptParser::parse_assignment() {
  std::size_t name_end = 0;
  const std::size_t value = find_assignment(name_end);
  Assignment assignment;
  assignment.name = std::string(text_.substr(at_, name_end - at_));
  std::erase_if(assignment.name, [](char c) { return !is_name_char(c); });
  at_ = value;
  if (peek() == '[' && !at_end() && value == name_end) {
    Word subscript;
    parse_subscript(subscript);
    if (failed_) return assignment;
    if (!take("+=") && !take("=")) {
      fail("a subscript stands where none can");
      return assignment;
    }
  }
  skip_continuations();
  if (peek() == '(' && !at_end() && dialect_ == Dialect::bash)
    parse_array(assignment);
  else if (at_word())
    assignment.values.push_back(parse_word());
  return assignment;
}

void ScriptParser::parse_subscript(Word& word) {
  ++at_;
  for (std::size_t open = 1; open > 0;) {
    step();
    if (failed_) return;
    if (at_end()) return fail("a subscript is never closed");
    const char c = peek();
    if (c == '[' || c == ']') {
      open = c == '[' ? open + 1 : open - 1;
      ++at_;
    } else if (c == '#' || (is_meta(c) && !is_blank(c))) {
      return fail("a subscript is not understood");
    } else if (is_blank(c)) {
      ++at_;
    } else {
      parse_word_piece(word);
    }
  }
}

void ScriptParser::parse_array(Assignment& assignment) {
  take("(");
  for (skip_line_breaks(); !failed_ && !take(")"); skip_line_breaks()) {
    if (!at_word()) return fail("an array is not understood");
    assignment.values.push_back(parse_word());
  }
}

}  // namespace relay::shell
