#include "shell/script_parser.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/limits.h"
#include "shell/script_bytes.h"

namespace relay::shell {
namespace {

constexpr std::array<std::string_view, 22> kReserved = {
    "if",  "then", "else", "elif", "fi", "do",       "done",   "case",   "esac", "while", "until",
    "for", "in",   "{",    "}",    "!",  "function", "select", "coproc", "time", "[[",    "]]"};
constexpr std::array<std::string_view, 6> kOnlyBash = {"function", "select", "coproc", "time", "[[", "]]"};
constexpr std::array<std::string_view, 10> kOpening = {"if",     "case", "while",  "until", "for",
                                                       "select", "{",    "coproc", "[[",    "function"};
// Their arguments are read as assignments, so that `declare a=(b c)` is one argument.
constexpr std::array<std::string_view, 8> kDeclaring = {"declare",  "typeset", "local", "export",
                                                        "readonly", "alias",   "eval",  "let"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

bool is_reserved(std::string_view word, Dialect dialect) {
  if (dialect == Dialect::posix && is_one_of(kOnlyBash, word)) return false;
  return is_one_of(kReserved, word);
}

bool is_name(std::string_view word) {
  return !word.empty() && is_name_start(word.front()) && std::ranges::all_of(word, is_name_char);
}

}  // namespace

class ScriptParser::Nested {
 public:
  explicit Nested(ScriptParser& parser) : parser_(parser) {
    if (++parser_.depth_ > limits::kShellNesting) parser_.fail("it is nested too deeply");
  }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  ~Nested() { --parser_.depth_; }

 private:
  ScriptParser& parser_;
};

ShellScript parse_script(std::string_view text, Dialect dialect) {
  ScriptParser::Shared shared;
  if (text.size() > limits::kShellTextBytes) {
    shared.script.unclear.emplace_back("it is too long to be read");
    return std::move(shared.script);
  }
  ScriptParser(text, dialect, shared, 0).parse_all();
  return std::move(shared.script);
}

// Bytes -----------------------------------------------------------------------------------------------------

char ScriptParser::peek(std::size_t ahead) const {
  return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
}

// The first failure explains; what follows it is a consequence. The rest of the text is given up.
void ScriptParser::fail(std::string why) {
  if (!failed_) shared_.script.unclear.push_back(std::move(why));
  failed_ = true;
  at_ = text_.size();
}

void ScriptParser::step() {
  if (++shared_.steps > limits::kShellParseSteps) fail("it takes too long to read");
}

// A backslash before a line break joins two lines, everywhere but in single quotes.
void ScriptParser::skip_continuations() {
  while (starts("\\\n")) at_ += 2;
}

bool ScriptParser::take(std::string_view token) {
  std::size_t at = at_;
  for (const char c : token) {
    while (text_.substr(at).starts_with("\\\n")) at += 2;
    if (at >= text_.size() || text_[at] != c) return false;
    ++at;
  }
  at_ = at;
  return true;
}

void ScriptParser::skip_blanks() {
  for (;;) {
    step();
    skip_continuations();
    if (is_blank(peek()) && !at_end()) {
      ++at_;
      continue;
    }
    if (peek() != '#' || at_end()) return;
    while (!at_end() && peek() != '\n') ++at_;
    return;
  }
}

void ScriptParser::skip_line_breaks() {
  for (;;) {
    skip_blanks();
    if (at_end() || peek() != '\n') return;
    ++at_;
    read_pending_texts();
  }
}

// Lists -----------------------------------------------------------------------------------------------------

void ScriptParser::parse_all() {
  parse_list({}, '\0');
  if (!failed_ && !at_end()) fail(fmt::format("'{}' stands where no command can", peek()));
  if (!failed_ && !pending_.empty()) fail("a here-document has no text");
}

/// The word at `from` when it has no quotes, escapes or expansions: only such a word can be reserved.
std::string ScriptParser::find_bare_word(std::size_t from, std::size_t& end) const {
  std::string word;
  for (end = from; end < text_.size(); ++end) {
    const char c = text_[end];
    if (c == '\\' && text_.substr(end).starts_with("\\\n")) {
      ++end;
      continue;
    }
    if (is_meta(c)) break;
    if (c == '\'' || c == '"' || c == '\\' || c == '$' || c == '`') return {};
    word.push_back(c);
    if (word.size() > 64) return {};
  }
  return word;
}

std::string ScriptParser::bare_word() const {
  std::size_t end = 0;
  return find_bare_word(at_, end);
}

bool ScriptParser::take_bare(std::string_view word) {
  std::size_t end = 0;
  if (find_bare_word(at_, end) != word) return false;
  at_ = end;
  return true;
}

void ScriptParser::expect_bare(std::string_view word) {
  skip_line_breaks();
  if (!failed_ && !take_bare(word)) fail(fmt::format("'{}' is missing", word));
}

bool ScriptParser::at_list_end(Closers closers, char closing) {
  if (at_end()) return true;
  if (closing != '\0' && peek() == closing) return true;
  if (closing == ';' && starts(";")) return true;
  const std::string word = bare_word();
  return !word.empty() && std::ranges::find(closers, word) != closers.end();
}

/// Commands until a closing word or character, which is left. `closing` is ')' or, in a branch of `case`,
/// ';' for ";;" and its like.
void ScriptParser::parse_list(Closers closers, char closing) {
  const Nested nested(*this);
  skip_line_breaks();
  while (!failed_ && !at_list_end(closers, closing)) {
    parse_and_or();
    if (failed_ || !parse_separator(closers, closing)) return;
  }
}

// False: the list ends here.
bool ScriptParser::parse_separator(Closers closers, char closing) {
  skip_blanks();
  if (at_end()) return false;
  if (closing == ';' && (starts(";;") || starts(";&"))) return false;
  if (peek() == '\n') {
    skip_line_breaks();
    return true;
  }
  if (take(";") || take("&")) {
    skip_line_breaks();
    return true;
  }
  if (!at_list_end(closers, closing)) fail(fmt::format("'{}' stands where no command can", peek()));
  return false;
}

void ScriptParser::parse_and_or() {
  parse_pipeline();
  for (;;) {
    skip_blanks();
    if (failed_ || (!take("&&") && !take("||"))) return;
    skip_line_breaks();
    parse_pipeline();
  }
}

void ScriptParser::skip_pipeline_words() {
  for (;;) {
    skip_blanks();
    if (take_bare("!")) continue;
    if (dialect_ != Dialect::bash || !take_bare("time")) return;
    skip_blanks();
    while (take_bare("-p") || take_bare("--")) skip_blanks();
  }
}

void ScriptParser::parse_pipeline() {
  const std::size_t began = at_;
  skip_pipeline_words();
  const bool ends_here = at_end() || std::string_view("\n;)").find(peek()) != std::string_view::npos;
  if (at_ != began && ends_here) return;  // `time` and `!` may stand alone
  std::vector<ScriptCommand>& commands = shared_.script.commands;
  CommandSpan before{commands.size(), commands.size()};
  bool piped = false;
  for (;;) {
    step();
    const std::size_t first = commands.size();
    parse_command();
    if (piped) {
      ScriptCommand from;
      from.input = InputKind::pipe;
      from.input_from = before;
      set_input(first, from);
    }
    before = {first, commands.size()};
    skip_blanks();
    if (failed_ || starts("||") || (!take("|&") && !take("|"))) return;
    piped = true;
    skip_line_breaks();
  }
}

/// Commands from `first` on that nothing inside gave another input read what `from` reads.
void ScriptParser::set_input(std::size_t first, const ScriptCommand& from) {
  std::vector<ScriptCommand>& commands = shared_.script.commands;
  for (std::size_t i = first; i < commands.size(); ++i) {
    if (commands[i].input != InputKind::inherited) continue;
    commands[i].input = from.input;
    commands[i].input_from = from.input_from;
  }
}

std::size_t ScriptParser::reserve_command() {
  shared_.script.commands.emplace_back().level = shared_.level;
  return shared_.script.commands.size() - 1;
}

void ScriptParser::store_command(std::size_t index, ScriptCommand command) {
  command.level = shared_.level;
  if (command.input == InputKind::text) command.input_from = {index, index + 1};
  for (PendingText& pending : pending_)
    if (pending.command == std::string::npos) pending.command = index;
  shared_.script.commands[index] = std::move(command);
}

// Compound commands -----------------------------------------------------------------------------------------

bool ScriptParser::opens_compound(std::string_view word) const {
  return is_reserved(word, dialect_) && is_one_of(kOpening, word);
}

void ScriptParser::parse_command() {
  const Nested nested(*this);
  skip_blanks();
  if (failed_) return;
  const std::size_t first = shared_.script.commands.size();
  if (parse_compound(bare_word())) return parse_compound_redirections(first);
  parse_simple();
}

bool ScriptParser::parse_compound(std::string_view word) {
  if (peek() == '(' && !at_end()) {
    if (!parse_arithmetic_command()) parse_subshell();
    return true;
  }
  if (word.empty() || !is_reserved(word, dialect_)) return false;
  if (!opens_compound(word)) {
    fail(fmt::format("'{}' stands where no command can", word));
    return true;
  }
  parse_reserved(word);
  return true;
}

void ScriptParser::parse_reserved(std::string_view word) {
  take_bare(word);
  if (word == "{") return parse_group();
  if (word == "if") return parse_if();
  if (word == "while" || word == "until") return parse_loop();
  if (word == "for" || word == "select") return parse_for();
  if (word == "case") return parse_case();
  if (word == "[[") return parse_test();
  if (word == "function") return parse_function();
  parse_coproc();
}

void ScriptParser::parse_group() {
  parse_list({"}"}, '\0');
  expect_bare("}");
}

void ScriptParser::parse_subshell() {
  take("(");
  parse_list({}, ')');
  if (!failed_ && !take(")")) fail("a parenthesis is never closed");
}

void ScriptParser::parse_if() {
  parse_list({"then"}, '\0');
  expect_bare("then");
  parse_list({"elif", "else", "fi"}, '\0');
  if (failed_) return;
  if (take_bare("elif")) return parse_if();
  if (take_bare("else")) parse_list({"fi"}, '\0');
  expect_bare("fi");
}

void ScriptParser::parse_loop() {
  parse_list({"do"}, '\0');
  expect_bare("do");
  parse_list({"done"}, '\0');
  expect_bare("done");
}

void ScriptParser::parse_for() {
  skip_blanks();
  if (starts("((") && dialect_ == Dialect::bash) {
    Word header;
    take("((");
    if (!parse_arithmetic(header)) return fail("the header of a loop is not understood");
    skip_blanks();
    take(";");
  } else {
    parse_for_items();
  }
  skip_line_breaks();
  if (take_bare("{")) return parse_group();
  expect_bare("do");
  parse_list({"done"}, '\0');
  expect_bare("done");
}

// The items are values of the variable: kept as an assignment without a command.
void ScriptParser::parse_for_items() {
  const std::size_t index = reserve_command();
  Assignment items;
  items.name = bare_word();
  if (!is_name(items.name)) return fail("a loop has no variable");
  take_bare(items.name);
  skip_line_breaks();
  if (take_bare("in")) {
    for (skip_blanks(); !failed_ && at_word(); skip_blanks()) items.values.push_back(parse_word());
    if (!failed_ && !at_end() && peek() != ';' && peek() != '\n') return fail("a loop is not understood");
  }
  if (take(";")) skip_line_breaks();
  ScriptCommand command;
  command.assignments.push_back(std::move(items));
  store_command(index, std::move(command));
}

void ScriptParser::parse_case() {
  skip_blanks();
  if (!at_word()) return fail("'case' has no word");
  parse_word();
  expect_bare("in");
  for (skip_line_breaks(); !failed_ && !take_bare("esac"); skip_line_breaks()) {
    if (at_end()) return fail("'esac' is missing");
    parse_case_item();
  }
}

void ScriptParser::parse_case_item() {
  take("(");
  for (skip_blanks(); !failed_; skip_blanks()) {
    if (!at_word()) return fail("a pattern of 'case' is not understood");
    parse_word();
    skip_blanks();
    if (take(")")) break;
    if (!take("|")) return fail("a pattern of 'case' is not understood");
  }
  parse_list({"esac"}, ';');
  if (failed_ || take(";;&") || take(";;") || take(";&")) return;
  if (bare_word() != "esac") fail("';;' is missing");
}

/// [[ … ]]: words and operators. Only the substitutions in them run something.
void ScriptParser::parse_test() {
  const std::size_t index = reserve_command();
  ScriptCommand command;
  command.words.push_back({"[[", {{.text = "[["}}});
  for (;;) {
    step();
    skip_continuations();
    while (!at_end() && (is_blank(peek()) || peek() == '\n')) ++at_;
    if (failed_ || at_end()) return fail("']]' is missing");
    if (take_bare("]]")) break;
    if (peek() == '#') return fail("a comment inside [[ ]] is not understood");
    if (take("&&") || take("||") || take("(") || take(")") || take("|")) continue;
    if (!starts("<(") && !starts(">(") && (take("<") || take(">"))) continue;
    if (!at_word()) return fail("a test in [[ ]] is not understood");
    command.words.push_back(parse_word());
  }
  store_command(index, std::move(command));
}

void ScriptParser::parse_function() {
  skip_blanks();
  if (!at_word()) return fail("a function has no name");
  parse_word();
  skip_blanks();
  if (take("(")) {
    skip_blanks();
    if (!take(")")) return fail("a function is not understood");
  }
  parse_function_body();
}

void ScriptParser::parse_function_body() {
  skip_line_breaks();
  const std::string word = bare_word();
  if (peek() != '(' && !opens_compound(word)) return fail("a function has no body");
  parse_command();
}

void ScriptParser::parse_coproc() {
  skip_blanks();
  std::size_t end = 0;
  const std::string word = find_bare_word(at_, end);
  if (is_name(word) && !is_reserved(word, dialect_)) {
    std::size_t next = end;
    while (next < text_.size() && is_blank(text_[next])) ++next;
    std::size_t ignored = 0;
    const std::string after = find_bare_word(next, ignored);
    if (next < text_.size() && (text_[next] == '(' || opens_compound(after))) at_ = next;
  }
  const std::size_t first = shared_.script.commands.size();
  parse_command();
  ScriptCommand from;
  from.input = InputKind::pipe;  // from whoever writes to the coprocess
  set_input(first, from);
}

/// ((…)). False, and nothing was read: it is two subshells.
bool ScriptParser::parse_arithmetic_command() {
  const std::size_t began = at_;
  if (dialect_ != Dialect::bash || !starts("((") || not_arithmetic_.contains({began, Arithmetic::command}))
    return false;
  Word ignored;
  take("((");
  if (parse_arithmetic(ignored) || failed_) return true;
  not_arithmetic_.insert({began, Arithmetic::command});
  at_ = began;
  return false;
}

/// The redirections behind a compound command are those of all commands in it.
void ScriptParser::parse_compound_redirections(std::size_t first) {
  std::size_t index = 0;
  ScriptCommand command;
  for (skip_blanks(); !failed_; skip_blanks()) {
    int descriptor = 0;
    if (find_redirection(descriptor) == 0) break;
    if (command.redirections.empty()) index = reserve_command();
    parse_redirection(command);
  }
  if (command.redirections.empty()) return;
  store_command(index, std::move(command));
  const ScriptCommand stored = shared_.script.commands[index];
  if (stored.input != InputKind::inherited) set_input(first, stored);
}

// Simple commands -------------------------------------------------------------------------------------------

void ScriptParser::parse_simple() {
  const std::size_t index = reserve_command();
  ScriptCommand command;
  do {
    skip_blanks();
    step();
  } while (!failed_ && parse_simple_part(command));
  const bool empty = command.words.empty() && command.assignments.empty() && command.redirections.empty();
  const bool is_function = !failed_ && at_function_parens(command);
  if (is_function) command.words.clear();
  store_command(index, std::move(command));
  if (failed_) return;
  if (is_function) return parse_function_body();
  if (empty) fail("a command is missing");
}

// f ()
bool ScriptParser::at_function_parens(const ScriptCommand& command) {
  if (peek() != '(' || at_end()) return false;
  const bool alone = command.words.size() == 1 && command.assignments.empty() && command.redirections.empty();
  if (alone && take("(")) {
    skip_blanks();
    if (take(")")) return true;
  }
  fail("a parenthesis stands where none can");
  return false;
}

// False: the command ends here.
bool ScriptParser::parse_simple_part(ScriptCommand& command) {
  if (at_end()) return false;
  int descriptor = 0;
  if (find_redirection(descriptor) != 0) return parse_redirection(command);
  if (!at_word()) return false;
  const bool declares = !command.words.empty() && is_one_of(kDeclaring, command.words.front().source);
  std::size_t name_end = 0;
  if ((command.words.empty() || declares) && find_assignment(name_end) != 0) {
    const std::size_t began = at_;
    Assignment assignment = parse_assignment();
    if (declares) {
      Word word{std::string(text_.substr(began, at_ - began)), {{.text = assignment.name + "="}}};
      for (const Word& value : assignment.values)
        word.pieces.insert(word.pieces.end(), value.pieces.begin(), value.pieces.end());
      command.words.push_back(std::move(word));
    }
    command.assignments.push_back(std::move(assignment));
    return true;
  }
  command.words.push_back(parse_word());
  return true;
}

// Redirections ----------------------------------------------------------------------------------------------

/// How many bytes stand before the operator of a redirection, plus one; 0 when there is none here.
std::size_t ScriptParser::find_redirection(int& descriptor) const {
  std::size_t at = at_;
  descriptor = -2;
  if (at < text_.size() && text_[at] == '{' && dialect_ == Dialect::bash) {
    std::size_t end = at + 1;
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    if (end == at + 1 || end >= text_.size() || text_[end] != '}') return 0;
    at = end + 1;
    descriptor = -1;
  } else {
    while (at < text_.size() && is_digit(text_[at])) ++at;
    if (at > at_) descriptor = at - at_ > 4 ? -1 : std::stoi(std::string(text_.substr(at_, at - at_)));
  }
  while (text_.substr(at).starts_with("\\\n")) at += 2;
  const std::string_view rest = text_.substr(at);
  if (descriptor == -2 && dialect_ == Dialect::bash && rest.starts_with("&>")) return at - at_ + 1;
  if (rest.empty() || (rest[0] != '<' && rest[0] != '>')) return 0;
  if (rest.size() > 1 && rest[1] == '(' && dialect_ == Dialect::bash) return 0;  // a process substitution
  return at - at_ + 1;
}

bool ScriptParser::parse_redirection(ScriptCommand& command) {
  int descriptor = 0;
  at_ += find_redirection(descriptor) - 1;
  Redirection redirection;
  const auto is = [&](std::string_view token, RedirectionKind kind, int standard) {
    if (!take(token)) return false;
    redirection.kind = kind;
    redirection.descriptor = descriptor == -2 ? standard : descriptor;
    return true;
  };
  using enum RedirectionKind;
  if (dialect_ == Dialect::bash && is("<<<", text, 0)) {
    // the word is the text
  } else if (take("<<-")) {
    parse_text_redirection(command, descriptor, true);
    return !failed_;
  } else if (take("<<")) {
    parse_text_redirection(command, descriptor, false);
    return !failed_;
  } else if (!is("&>>", write, 1) && !is("&>", write, 1) && !is("<>", write, 0) && !is("<&", duplicate, 0) &&
             !is("<", read, 0) && !is(">>", write, 1) && !is(">|", write, 1) && !is(">&", duplicate, 1)) {
    is(">", write, 1);
  }
  skip_blanks();
  if (!at_word()) {
    fail("a redirection has no target");
    return false;
  }
  redirection.target = parse_word();
  // `>& file` writes both outputs to a file.
  const std::string& target = redirection.target.source;
  if (redirection.kind == duplicate && !target.empty() && target != "-" &&
      !std::ranges::all_of(target, [](char c) { return is_digit(c) || c == '-'; }) && target[0] != '$')
    redirection.kind = redirection.descriptor == 0 ? read : write;
  if (redirection.descriptor <= 0 && redirection.kind != write) {
    command.input = redirection.kind == text ? InputKind::text : InputKind::file;
  }
  command.redirections.push_back(std::move(redirection));
  return true;
}

// The delimiter is not expanded; quoting any part of it makes the lines literal.
void ScriptParser::parse_text_redirection(ScriptCommand& command, int descriptor, bool strip_tabs) {
  skip_blanks();
  if (!at_word()) return fail("a here-document has no delimiter");
  const Word word = parse_word();
  if (failed_) return;
  PendingText pending;
  pending.strip_tabs = strip_tabs;
  for (const WordPiece& piece : word.pieces) {
    if (piece.kind != WordPiece::Kind::literal) return fail("the delimiter of a here-document is not plain");
    pending.delimiter += piece.text;
  }
  pending.quoted = word.source.find_first_of("'\"\\") != std::string::npos;
  if (pending.delimiter.find('\n') != std::string::npos)
    return fail("the delimiter of a here-document is not plain");
  pending.redirection = command.redirections.size();
  const int input = descriptor == -2 ? 0 : descriptor;
  if (input <= 0) command.input = InputKind::text;
  command.redirections.push_back({.kind = RedirectionKind::text, .descriptor = input, .target = {}});
  pending_.push_back(std::move(pending));
}

// After a line break: the lines of the here-documents that the line announced.
void ScriptParser::read_pending_texts() {
  const std::vector<PendingText> pending = std::exchange(pending_, {});
  for (const PendingText& each : pending) {
    if (failed_) return;
    const std::string lines = read_text_lines(each);
    Word body;
    body.source = lines;
    if (each.quoted) {
      body.pieces.push_back({.text = lines, .quoted = true});
    } else {
      ScriptParser inner(lines, dialect_, shared_, depth_ + 1);
      body = inner.parse_body();
      if (inner.failed_) failed_ = true, at_ = text_.size();
    }
    if (each.command < shared_.script.commands.size() &&
        each.redirection < shared_.script.commands[each.command].redirections.size())
      shared_.script.commands[each.command].redirections[each.redirection].target = std::move(body);
  }
}

std::string ScriptParser::read_text_lines(const PendingText& pending) {
  std::string body;
  while (!at_end()) {
    std::string line;
    for (;;) {
      step();
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      line += text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      // An odd number of backslashes at the end joins the next line, unless the lines are literal.
      std::size_t slashes = 0;
      while (slashes < line.size() && line[line.size() - 1 - slashes] == '\\') ++slashes;
      if (pending.quoted || slashes % 2 == 0 || at_end()) break;
      line.pop_back();
    }
    if (pending.strip_tabs) line.erase(0, std::min(line.find_first_not_of('\t'), line.size()));
    if (line == pending.delimiter) return body;
    body += line;
    body += '\n';
  }
  fail("a here-document never ends");
  return body;
}

}  // namespace relay::shell
