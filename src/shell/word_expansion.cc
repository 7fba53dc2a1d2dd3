#include "shell/word_expansion.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/limits.h"
#include "shell/ansi_c.h"
#include "shell/script_bytes.h"
#include "shell/wrappers.h"

namespace relay::shell {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n";

bool is_space(char c) {
  return kWhiteSpace.find(c) != std::string_view::npos;
}

std::string printed_words(const Fields& fields, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < fields.size(); ++i) {
    if (fields[i].vanishes && fields[i].guess.empty()) continue;
    if (!out.empty()) out.push_back(' ');
    out += fields[i].guess;
  }
  return out;
}

std::string print_like_echo(const Fields& fields) {
  std::size_t first = 1;
  bool escapes = false;
  while (first < fields.size() && fields[first].guess.size() > 1 && fields[first].guess[0] == '-' &&
         fields[first].guess.find_first_not_of("neE", 1) == std::string::npos)
    escapes = escapes || fields[first++].guess.find('e') != std::string::npos;
  const std::string text = printed_words(fields, first);
  return escapes ? decode_ansi_c(text) : text;
}

// The format is used once; %s, %b and %c are replaced in order, other conversions by their argument as it is.
std::string print_like_printf(const Fields& fields) {
  if (fields.size() < 2) return {};
  std::size_t next = fields[1].guess == "--" ? 3 : 2;
  if (next > fields.size()) return {};
  const std::string format = fields[next - 1].guess;
  std::string out;
  do {
    for (std::size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%' || i + 1 == format.size()) {
        out.push_back(format[i]);
        continue;
      }
      ++i;
      while (i < format.size() && (is_digit(format[i]) || format[i] == '-' || format[i] == '.')) ++i;
      if (i < format.size() && format[i] == '%') {
        out.push_back('%');
      } else if (next < fields.size()) {
        out += fields[next++].guess;
      }
    }
  } while (next < fields.size() && format.find('%') != std::string::npos &&
           out.size() < limits::kShellTextBytes);
  return decode_ansi_c(out);
}

std::string decode_hex(std::string_view text) {
  std::string out, digits;
  for (const char c : text)
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) digits.push_back(c);
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    out.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return out;
}

std::string reverse_lines(std::string text) {
  for (auto at = text.begin(); at != text.end();) {
    const auto end = std::find(at, text.end(), '\n');
    std::reverse(at, end);
    at = end == text.end() ? end : end + 1;
  }
  return text;
}

std::string without(std::string text, std::string_view dropped) {
  std::erase_if(text, [&](char c) { return dropped.find(c) != std::string_view::npos; });
  return text;
}

// {a..e}, {1..3}
std::vector<std::string> find_sequence(std::string_view inside) {
  const std::size_t dots = inside.find("..");
  if (dots == std::string_view::npos) return {};
  const std::string first(inside.substr(0, dots)), last(inside.substr(dots + 2));
  std::vector<std::string> out;
  const auto fill = [&](int from, int to, auto spell) {
    const int step = from <= to ? 1 : -1;
    for (int i = from;; i += step) {
      out.push_back(spell(i));
      if (i == to || out.size() >= limits::kShellWordFields) return;
    }
  };
  if (first.size() == 1 && last.size() == 1 && !is_digit(first[0]) && !is_digit(last[0])) {
    fill(first[0], last[0], [](int c) { return std::string(1, static_cast<char>(c)); });
  } else if (!first.empty() && !last.empty() && first.size() < 7 && last.size() < 7 &&
             std::ranges::all_of(first, is_digit) && std::ranges::all_of(last, is_digit)) {
    fill(std::stoi(first), std::stoi(last), [](int i) { return std::to_string(i); });
  }
  return out;
}

}  // namespace

Fields WordExpander::expand_all(const std::vector<Word>& words) const {
  Fields out;
  for (const Word& word : words) {
    Fields fields = expand(word);
    std::ranges::move(fields, std::back_inserter(out));
  }
  return out;
}

Fields WordExpander::expand(const Word& word) const {
  std::size_t budget = limits::kShellWordFields;
  Fields out;
  const Atoms whole = atoms_of(word);
  const bool has_braces = std::ranges::any_of(
      whole, [](const Atom& atom) { return !atom.piece && !atom.quoted && atom.byte == '{'; });
  if (!has_braces || whole.size() > limits::kShellBraceBytes || spent_ > limits::kShellGuessTotal) {
    append_fields(whole, out);
    for (ExpandedField& field : out)
      if (has_braces) field.knowledge = Knowledge::unknown;
    return out;
  }
  for (const Atoms& atoms : expand_braces(whole, budget)) {
    spent_ += atoms.size();
    append_fields(atoms, out);
  }
  return out;
}

ExpandedField WordExpander::expand_whole(const Word& word) const {
  ExpandedField out;
  for (const WordPiece& piece : word.pieces) {
    ExpandedField value = value_of(piece);
    out.text += value.text;
    out.guess += value.guess;
    out.knowledge = std::max(out.knowledge, value.knowledge);
  }
  return out;
}

WordExpander::Atoms WordExpander::atoms_of(const Word& word) {
  Atoms out;
  for (const WordPiece& piece : word.pieces) {
    if (piece.kind != WordPiece::Kind::literal || (piece.quoted && piece.text.empty())) {
      out.push_back({.piece = &piece});
      continue;
    }
    for (const char c : piece.text) out.push_back({.byte = c, .quoted = piece.quoted});
  }
  return out;
}

/// "a{b,c}" is ab and ac. Braces without a comma or a sequence stay as they are.
std::vector<WordExpander::Atoms> WordExpander::expand_braces(const Atoms& atoms, std::size_t& budget) {
  const auto is = [&](std::size_t i, char c) {
    return !atoms[i].piece && !atoms[i].quoted && atoms[i].byte == c;
  };
  for (std::size_t open = 0; open < atoms.size() && budget > 0; ++open) {
    if (!is(open, '{')) continue;
    std::vector<std::size_t> cuts{open};
    std::size_t depth = 0, close = open + 1;
    for (; close < atoms.size(); ++close) {
      if (is(close, '{')) ++depth;
      if (is(close, ',') && depth == 0) cuts.push_back(close);
      if (is(close, '}') && depth-- == 0) break;
    }
    if (close == atoms.size()) continue;
    cuts.push_back(close);
    std::vector<Atoms> inner;
    for (std::size_t i = 0; i + 1 < cuts.size() && cuts.size() > 2; ++i)
      inner.emplace_back(atoms.begin() + static_cast<std::ptrdiff_t>(cuts[i]) + 1,
                         atoms.begin() + static_cast<std::ptrdiff_t>(cuts[i + 1]));
    if (inner.empty()) {
      std::string inside;
      for (std::size_t i = open + 1; i < close; ++i) inside.push_back(atoms[i].piece ? '?' : atoms[i].byte);
      for (const std::string& item : find_sequence(inside)) {
        Atoms spelled;
        for (const char c : item) spelled.push_back({.byte = c, .quoted = true});
        inner.push_back(std::move(spelled));
      }
    }
    if (inner.empty()) continue;
    std::vector<Atoms> out;
    for (const Atoms& middle : inner) {
      if (budget == 0) break;
      --budget;
      Atoms whole(atoms.begin(), atoms.begin() + static_cast<std::ptrdiff_t>(open));
      whole.insert(whole.end(), middle.begin(), middle.end());
      whole.insert(whole.end(), atoms.begin() + static_cast<std::ptrdiff_t>(close) + 1, atoms.end());
      std::vector<Atoms> rest = expand_braces(whole, budget);
      std::ranges::move(rest, std::back_inserter(out));
    }
    return out;
  }
  return {atoms};
}

void WordExpander::append_fields(const Atoms& atoms, Fields& out) const {
  ExpandedField field;
  bool only_expansions = true;
  const auto finish = [&] {
    field.vanishes = only_expansions;
    if (!field.vanishes || !field.text.empty()) out.push_back(std::move(field));
    field = {};
    only_expansions = true;
  };
  for (const Atom& atom : atoms) {
    if (!atom.piece) {
      field.text.push_back(atom.byte);
      field.guess.push_back(atom.byte);
      only_expansions = false;
      if (!atom.quoted && std::string_view("*?[").find(atom.byte) != std::string_view::npos)
        field.pattern = true;
      continue;
    }
    const ExpandedField value = value_of(*atom.piece);
    field.text += value.text;
    field.knowledge = std::max(field.knowledge, value.knowledge);
    field.stream = field.stream || value.stream;
    if (atom.piece->quoted && atom.piece->text != "@") {
      field.guess += value.guess;
      only_expansions = false;
      continue;
    }
    for (const char c : value.guess) {
      if (!is_space(c)) {
        field.guess.push_back(c);
        continue;
      }
      if (field.guess.empty()) continue;
      ExpandedField next;
      next.knowledge = field.knowledge;
      field.text = field.guess;
      out.push_back(std::move(field));
      field = std::move(next);
    }
  }
  if (!field.text.empty() || !field.guess.empty() || !only_expansions) finish();
}

// Values are cut, because `a=$a$a` doubles one with each line.
ExpandedField WordExpander::value_of(const WordPiece& piece) const {
  ExpandedField out = find_value(piece);
  if (piece.kind == WordPiece::Kind::literal) return out;
  const std::size_t most = std::min(limits::kShellGuessBytes,
                                    limits::kShellGuessTotal - std::min(spent_, limits::kShellGuessTotal));
  if (out.guess.size() > most) {
    out.guess.resize(most);
    out.knowledge = Knowledge::unknown;
  }
  spent_ += out.guess.size();
  return out;
}

ExpandedField WordExpander::find_value(const WordPiece& piece) const {
  using Kind = WordPiece::Kind;
  ExpandedField out;
  switch (piece.kind) {
    case Kind::literal: out.text = out.guess = piece.text; return out;
    case Kind::variable: {
      out.text = "$" + piece.text;
      const auto found = values_.find(piece.text);
      out.knowledge = Knowledge::guessed;
      if (piece.text == "IFS")  // whatever it holds, it separates
        out.guess = kWhiteSpace;
      else if (found != values_.end() && !found->second.empty())
        out.guess = found->second[std::min(choice_, found->second.size() - 1)];
      else if (!piece.fallback.empty())
        out.guess = piece.fallback;
      else
        out.knowledge = Knowledge::unknown;
      return out;
    }
    case Kind::output: {
      out.text = piece.text;
      const auto printed = find_output(piece.commands);
      out.knowledge = printed ? Knowledge::guessed : Knowledge::unknown;
      out.guess = printed.value_or("");
      while (out.guess.ends_with('\n')) out.guess.pop_back();
      return out;
    }
    case Kind::stream:
      out.text = piece.text;
      out.guess = "/dev/fd/63";
      out.knowledge = Knowledge::guessed;
      out.stream = true;
      return out;
    case Kind::unknown:
      out.text = piece.text;
      out.knowledge = Knowledge::unknown;
      return out;
  }
  return out;
}

// The commands of the span's own level must be one pipeline: then the last one prints.
std::optional<std::string> WordExpander::find_output(const CommandSpan& span) const {
  const auto& commands = script_.commands;
  if (span.first >= span.last || span.last > commands.size()) return std::nullopt;
  if (depth_ >= limits::kShellOutputDepth) return std::nullopt;
  const std::size_t level = commands[span.first].level;
  const ScriptCommand* last = nullptr;
  for (std::size_t i = span.first; i < span.last; ++i) {
    if (commands[i].level != level) continue;
    const bool linked = last && commands[i].input == InputKind::pipe &&
                        last == &commands[std::min(commands[i].input_from.first, commands.size() - 1)];
    if (last && !linked) return std::nullopt;
    last = &commands[i];
  }
  ++depth_;
  std::optional<std::string> printed = find_output(*last);
  --depth_;
  return printed;
}

std::optional<std::string> WordExpander::find_output(const ScriptCommand& command) const {
  if (command.words.empty()) return std::nullopt;
  const Fields fields = expand_all(command.words);
  if (fields.empty()) return std::nullopt;
  const std::string_view program = program_name(fields[0].guess);
  const auto has = [&](std::string_view argument) {
    return std::ranges::any_of(fields, [&](const ExpandedField& field) { return field.guess == argument; });
  };
  if (program == "echo") return print_like_echo(fields);
  if (program == "printf" && !has("-v")) return print_like_printf(fields);
  const bool decodes = program == "base64" && (has("-d") || has("--decode") || has("-D") || has("-di"));
  const bool known = (program == "cat" && fields.size() == 1) || program == "rev" || decodes ||
                     (program == "xxd" && has("-r")) || (program == "tr" && fields.size() == 3 && has("-d"));
  if (!known) return std::nullopt;
  std::optional<std::string> input = find_input(command);
  if (!input || program == "cat") return input;
  if (program == "rev") return reverse_lines(std::move(*input));
  if (program == "xxd") return decode_hex(*input);
  if (program == "tr") return without(std::move(*input), fields[2].guess);
  const auto bytes = find_base64(without(std::move(*input), " \t\r\n"));
  if (!bytes) return std::nullopt;
  return *bytes;
}

std::optional<std::string> WordExpander::find_input(const ScriptCommand& command) const {
  if (command.input == InputKind::pipe) return find_output(command.input_from);
  if (command.input != InputKind::text || command.input_from.first >= script_.commands.size())
    return std::nullopt;
  const std::vector<Redirection>& redirections = script_.commands[command.input_from.first].redirections;
  for (auto at = redirections.rbegin(); at != redirections.rend(); ++at)
    if (at->kind == RedirectionKind::text && at->descriptor <= 0) return expand_whole(at->target).guess;
  return std::nullopt;
}

}  // namespace relay::shell
