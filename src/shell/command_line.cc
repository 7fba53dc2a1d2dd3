#include "shell/command_line.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "shell/environment_names.h"
#include "shell/script_bytes.h"
#include "shell/script_parser.h"
#include "shell/word_expansion.h"
#include "shell/wrappers.h"

namespace relay::shell {
namespace {

/// A subscript may hold a command even in single quotes: `let 'a[$(rm x)]'` runs it.
bool hides_subscript(std::string_view text) {
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return false;
  const std::string_view rest = text.substr(bracket);
  return rest.find("$(") != std::string_view::npos || rest.find('`') != std::string_view::npos;
}

CommandWords guesses_of(const Fields& fields) {
  CommandWords out;
  for (const ExpandedField& field : fields)
    if (!field.vanishes || !field.guess.empty()) out.push_back(field.guess);
  return out;
}

CommandWords texts_of(const Fields& fields) {
  CommandWords out;
  for (const ExpandedField& field : fields)
    out.push_back(field.knowledge == Knowledge::known ? field.guess : field.text);
  return out;
}

bool is_host_program(std::string_view name) {
  constexpr std::array kPrograms = std::to_array<std::string_view>(
      {"ssh",      "slogin", "mosh",        "autossh",     "ping",  "ping6", "telnet",     "nc",  "ncat",
       "netcat",   "curl",   "wget",        "ftp",         "sftp",  "nmap",  "traceroute", "dig", "host",
       "nslookup", "whois",  "ssh-keyscan", "ssh-copy-id", "mysql", "psql",  "redis-cli"});
  return std::ranges::find(kPrograms, name) != kPrograms.end();
}

bool looks_like_host(std::string_view word) {
  if (word.empty() || word[0] == '-' || word.size() > 253) return false;
  const bool allowed = std::ranges::all_of(word, [](char c) {
    return is_name_char(c) || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
  });
  return allowed && (word.find('.') != std::string_view::npos || word.find(':') != std::string_view::npos ||
                     word == "localhost" || std::ranges::all_of(word, is_digit) || word.starts_with("0x"));
}

class Understanding {
 public:
  Understanding(const CommandLineOptions& options, CommandLine& out) : input_(options.input), out_(out) {
    for (const std::string& each : options.environment) {
      const std::size_t equals = each.find('=');
      if (equals == std::string::npos) continue;
      add_value(each.substr(0, equals), each.substr(equals + 1));
      judge_variable(each.substr(0, equals), {.text = each, .guess = each.substr(equals + 1)});
    }
  }

  void read_text(std::string_view text, Dialect dialect, const std::string& inside);
  void read_words(const CommandWords& words);

 private:
  /// One command on its way through its wrappers.
  struct Reading {
    const ScriptCommand* command = nullptr;  // null: started without a shell
    const ShellScript* script = nullptr;
    ParsedCommand* parsed = nullptr;
    const WordExpander* expander = nullptr;
  };

  void add_opaque(std::string clause);
  /// False when the work for one text is used up; then it is opaque.
  bool spend(std::size_t bytes);
  void add_value(const std::string& name, const std::string& value);
  void learn_values(const ShellScript& script);
  void judge_variable(std::string_view name, const ExpandedField& value);
  void read_command(const ShellScript& script, const ScriptCommand& command, const std::string& inside);
  void read_redirections(const ScriptCommand& command, const WordExpander& expander);
  void read_argv(const Fields& argv, const Reading& reading, std::size_t depth);
  void check_name(const Fields& argv);
  void check_arguments(const Fields& argv);
  void follow(const Unwrapped& unwrapped, const Fields& argv, const Reading& reading, std::size_t depth);
  void follow_input(const Unwrapped& unwrapped, const Fields& argv, const Reading& reading);
  void follow_command(const InnerCommand& inner, const Reading& reading, std::size_t depth);
  void queue_text(const InnerText& text);
  [[nodiscard]] bool writes_file(std::string_view name) const;
  void note_hosts(const Fields& argv);
  void note_host(std::string host);

  struct QueuedText {
    std::string text;
    std::string by;
    bool any_dialect = false;
  };

  std::optional<std::string> input_;
  CommandLine& out_;
  VariableValues values_;
  std::vector<QueuedText> queue_;
  std::set<std::pair<std::string, Dialect>, std::less<>> read_;  // no text is read twice
  std::size_t read_bytes_ = 0;
  std::size_t work_ = 0;
  std::size_t depth_ = 0;
};

void Understanding::add_opaque(std::string clause) {
  if (clause.size() > limits::kShellClauseBytes) {
    clause.resize(limits::kShellClauseBytes);
    clause += "…";
  }
  if (out_.opaque.size() < limits::kShellOpaqueParts &&
      std::ranges::find(out_.opaque, clause) == out_.opaque.end())
    out_.opaque.push_back(std::move(clause));
}

bool Understanding::spend(std::size_t bytes) {
  work_ += bytes;
  if (work_ > limits::kShellWork) add_opaque("it takes too long to read");
  return work_ <= limits::kShellWork;
}

void Understanding::add_value(const std::string& name, const std::string& value) {
  std::vector<std::string>& values = values_[name];
  if (values.size() < limits::kShellGuesses && std::ranges::find(values, value) == values.end())
    values.push_back(value.substr(0, limits::kShellGuessBytes));
}

// Twice, so that a value made of another variable is known however they are ordered.
void Understanding::learn_values(const ShellScript& script) {
  for (int pass = 0; pass < 2; ++pass) {
    for (const ScriptCommand& command : script.commands) {
      const WordExpander expander(script, values_);
      for (const Assignment& assignment : command.assignments) {
        if (!spend(assignment.name.size())) return;
        std::string whole;
        for (const Word& value : assignment.values) {
          const ExpandedField field = expander.expand_whole(value);
          if (!spend(field.guess.size())) return;
          if (!whole.empty()) whole.push_back(' ');
          whole += field.guess;
          if (assignment.values.size() > 1) add_value(assignment.name, field.guess);
        }
        add_value(assignment.name, whole);
      }
      if (command.words.empty() || command.words[0].source != "set") continue;
      const Fields fields = expander.expand_all(command.words);
      std::string all;
      std::size_t position = 0;
      for (std::size_t i = 1; i < fields.size(); ++i) {
        if (fields[i].guess == "--" || (position == 0 && fields[i].guess.starts_with('-'))) continue;
        add_value(std::to_string(++position), fields[i].guess);
        all += (all.empty() ? "" : " ") + fields[i].guess;
      }
      if (!all.empty()) {
        add_value("@", all);
        add_value("*", all);
      }
    }
  }
}

/// Variables that make other programs run something.
void Understanding::judge_variable(std::string_view name, const ExpandedField& value) {
  switch (kind_of_variable(name)) {
    case VariableKind::harmless: return;
    case VariableKind::command:
      if (!value.guess.empty())
        queue_text({.text = value, .by = std::string(name) + "=", .any_dialect = true, .positional = {}});
      if (value.knowledge == Knowledge::unknown)
        add_opaque(fmt::format("the value of {} is run and not known", name));
      return;
    case VariableKind::code: add_opaque(fmt::format("{} makes other programs run code", name)); return;
    case VariableKind::lookup: add_opaque(fmt::format("{} changes which program a name means", name)); return;
  }
}

void Understanding::read_text(std::string_view text, Dialect dialect, const std::string& inside) {
  std::string clean;
  if (text.find('\0') != std::string_view::npos) {
    add_opaque("it contains NUL bytes, which shells drop");
    clean = text;
    std::erase(clean, '\0');
    text = clean;
  }
  if (!read_.emplace(text, dialect).second) return;
  read_bytes_ += text.size();
  if (read_bytes_ > limits::kShellTotalBytes) return add_opaque("the texts in it are too long to be read");
  const ShellScript script = parse_script(text, dialect);
  for (const std::string& unclear : script.unclear) add_opaque(unclear);
  learn_values(script);
  for (const ScriptCommand& command : script.commands) {
    if (out_.commands.size() >= limits::kShellCommands) {
      add_opaque("it has too many commands");
      break;
    }
    if (!spend(0)) break;
    read_command(script, command, inside);
  }
  // Texts that were found inside are read when this one is done, so that they know all its variables.
  const std::vector<QueuedText> queue = std::exchange(queue_, {});
  if (!queue.empty() && depth_ + 1 > limits::kShellInnerTexts)
    return add_opaque("texts in texts are nested too deeply");
  ++depth_;
  for (const QueuedText& each : queue) {
    read_text(each.text, Dialect::bash, each.by);
    if (each.any_dialect) read_text(each.text, Dialect::posix, each.by);
  }
  --depth_;
}

void Understanding::read_words(const CommandWords& words) {
  if (words.empty()) return;
  const ShellScript script;
  const WordExpander expander(script, values_);
  Fields argv;
  for (const std::string& word : words) argv.push_back({.text = word, .guess = word});
  ParsedCommand parsed{.words = words, .readings = {}, .inside = {}};
  read_argv(argv, {.parsed = &parsed, .expander = &expander}, 0);
  out_.commands.push_back(std::move(parsed));
  read_text({}, Dialect::bash, {});
}

void Understanding::read_command(const ShellScript& script, const ScriptCommand& command,
                                 const std::string& inside) {
  const WordExpander first(script, values_);
  for (const Assignment& assignment : command.assignments)
    for (const Word& value : assignment.values) {
      const ExpandedField field = first.expand_whole(value);
      judge_variable(assignment.name, field);
      if (hides_subscript(field.guess)) add_opaque("a subscript in quotes holds a command");
    }
  read_redirections(command, first);
  if (command.words.empty()) return;
  ParsedCommand parsed;
  parsed.inside = inside;
  for (std::size_t choice = 0; choice < limits::kShellGuesses; ++choice) {
    const WordExpander expander(script, values_, choice);
    const Fields argv = expander.expand_all(command.words);
    if (choice == 0) parsed.words = texts_of(argv);
    const CommandWords guess = guesses_of(argv);
    if (choice > 0 && std::ranges::find(parsed.readings, guess) != parsed.readings.end()) break;
    read_argv(argv, {&command, &script, &parsed, &expander}, 0);
  }
  if (parsed.words.empty()) return;
  if (std::ranges::find(out_.commands, parsed) == out_.commands.end() || out_.commands.size() > 64)
    out_.commands.push_back(std::move(parsed));
}

void Understanding::read_redirections(const ScriptCommand& command, const WordExpander& expander) {
  for (const Redirection& redirection : command.redirections) {
    if (redirection.kind == RedirectionKind::text || redirection.kind == RedirectionKind::duplicate) continue;
    const ExpandedField target = expander.expand_whole(redirection.target);
    for (const std::string_view prefix : {"/dev/tcp/", "/dev/udp/"})
      if (target.guess.starts_with(prefix))
        note_host(target.guess.substr(prefix.size(), target.guess.find('/', prefix.size()) - prefix.size()));
    if (redirection.kind != RedirectionKind::write || target.guess == "/dev/null") continue;
    const std::string& name = target.knowledge == Knowledge::unknown ? target.text : target.guess;
    if (std::ranges::find(out_.files_written, name) != out_.files_written.end()) continue;
    if (out_.files_written.size() >= limits::kShellFiles) return add_opaque("it writes too many files");
    out_.files_written.push_back(name);
  }
}

void Understanding::read_argv(const Fields& given, const Reading& reading, std::size_t depth) {
  Fields argv = given;
  while (!argv.empty() && argv[0].vanishes && argv[0].guess.empty() && argv.size() > 1) {
    add_opaque(fmt::format("the name of a command comes from {}", argv[0].text));
    argv.erase(argv.begin());
  }
  if (argv.empty()) return;
  CommandWords words = guesses_of(argv);
  if (words.empty()) return check_name(argv);
  std::size_t bytes = sizeof(ExpandedField);
  for (const std::string& word : words) bytes += word.size() + sizeof(std::string);
  if (!spend(bytes)) return;
  std::vector<CommandWords>& readings = reading.parsed->readings;
  if (std::ranges::find(readings, words) != readings.end()) return;
  if (readings.size() >= limits::kShellReadings) return add_opaque("a command has too many readings");
  readings.push_back(std::move(words));
  check_name(argv);
  check_arguments(argv);
  note_hosts(argv);
  if (depth >= limits::kShellInnerTexts) return add_opaque("wrappers are nested too deeply");
  follow(unwrap(argv), argv, reading, depth);
}

void Understanding::check_name(const Fields& argv) {
  const ExpandedField& name = argv[0];
  if (name.knowledge != Knowledge::known)
    add_opaque(fmt::format("the name of a command comes from {}", name.text));
  if (name.pattern && name.guess != "[" && name.guess != "[[")
    add_opaque(fmt::format("the name of a command is the pattern {}", name.text));
}

void Understanding::check_arguments(const Fields& argv) {
  const std::string_view name = program_name(argv[0].guess);
  constexpr std::array kEvaluating = std::to_array<std::string_view>(
      {"let", "test", "[", "[[", "printf", "unset", "read", "declare", "typeset", "local", "export",
       "readonly", "wait", "mapfile", "readarray"});
  const bool evaluates = std::ranges::find(kEvaluating, name) != kEvaluating.end();
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (evaluates && hides_subscript(argv[i].guess)) add_opaque("a subscript in quotes holds a command");
    const bool anything = argv[i].knowledge == Knowledge::unknown && argv[i].vanishes;
    if (anything && takes_dangerous_flags(name))
      add_opaque(fmt::format("the arguments of {} come from {}", name, argv[i].text));
  }
  const bool exports = name == "export" || name == "declare" || name == "typeset" || name == "readonly" ||
                       name == "env" || name == "sudo";
  for (std::size_t i = 1; exports && i < argv.size(); ++i) {
    const std::size_t equals = argv[i].guess.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    ExpandedField value = argv[i];
    value.guess.erase(0, equals + 1);
    judge_variable(std::string_view(argv[i].guess).substr(0, equals), value);
  }
}

void Understanding::follow(const Unwrapped& unwrapped, const Fields& argv, const Reading& reading,
                           std::size_t depth) {
  for (const std::string& clause : unwrapped.opaque) add_opaque(clause);
  for (const std::string& file : unwrapped.runs_files)
    if (writes_file(file)) add_opaque(fmt::format("{} is written and then run", file));
  if (writes_file(argv[0].guess)) add_opaque(fmt::format("{} is written and then run", argv[0].guess));
  for (const InnerText& text : unwrapped.texts) queue_text(text);
  follow_input(unwrapped, argv, reading);
  for (const InnerCommand& inner : unwrapped.commands) follow_command(inner, reading, depth);
}

void Understanding::follow_input(const Unwrapped& unwrapped, const Fields& argv, const Reading& reading) {
  if (!unwrapped.reads_program && !unwrapped.reads_foreign) return;
  const std::string_view name = program_name(argv[0].guess);
  const InputKind kind = reading.command ? reading.command->input : InputKind::inherited;
  std::optional<std::string> text =
      kind == InputKind::inherited ? input_ : reading.expander->find_input(*reading.command);
  if (kind == InputKind::inherited && !text) return;
  if (unwrapped.reads_program && text)
    queue_text({.text = {.text = *text, .guess = *text},
                .by = std::string(name),
                .any_dialect = name != "bash",
                .positional = {}});
  if (kind == InputKind::file) {
    // A file that somebody wrote is run like any other program, unless this text wrote it.
    for (const Redirection& redirection : reading.command->redirections) {
      const ExpandedField target = reading.expander->expand_whole(redirection.target);
      const bool written = writes_file(target.guess);
      if (redirection.kind == RedirectionKind::read &&
          (written || target.stream || target.knowledge != Knowledge::known))
        add_opaque(fmt::format("{} runs what {} holds", name, target.text));
      if (redirection.kind == RedirectionKind::read && !redirection.target.pieces.empty() &&
          redirection.target.pieces[0].kind == WordPiece::Kind::stream)
        add_opaque(fmt::format("{} runs what {} prints", name, target.text));
    }
    return;
  }
  if (!text && kind == InputKind::pipe)
    add_opaque(fmt::format("{} runs what comes out of a pipe", name));
  else if (unwrapped.reads_foreign)
    add_opaque(fmt::format("the code that {} gets is not read", name));
  else if (kind == InputKind::pipe)
    add_opaque(fmt::format("{} runs the output of other commands", name));
}

void Understanding::follow_command(const InnerCommand& inner, const Reading& reading, std::size_t depth) {
  if (inner.argv.empty()) return;
  Fields argv = inner.argv;
  if (inner.adds_arguments) {
    const auto text = reading.command ? reading.expander->find_input(*reading.command) : input_;
    const std::string_view name = program_name(argv[0].guess);
    const bool is_replaced = argv[0].guess.find("{}") != std::string::npos || name == "%";
    if (is_replaced) add_opaque("the name of a command comes from the input of xargs");
    if (!text && takes_dangerous_flags(name) && reading.command &&
        reading.command->input != InputKind::inherited)
      add_opaque(fmt::format("more arguments of {} come from a pipe", name));
    std::string word;
    for (const char c : text.value_or("") + "\n") {
      if (!is_blank(c) && c != '\n') {
        word.push_back(c);
      } else if (!word.empty() && argv.size() < limits::kShellWordFields) {
        if (is_replaced && argv[0].guess == "{}")
          argv[0].guess = word;
        else
          argv.push_back({.text = word, .guess = word, .knowledge = Knowledge::guessed});
        word.clear();
      }
    }
  }
  read_argv(argv, reading, depth + 1);
}

bool Understanding::writes_file(std::string_view name) const {
  const auto plain = [](std::string_view file) {
    while (file.starts_with("./")) file.remove_prefix(2);
    return file;
  };
  return std::ranges::any_of(out_.files_written,
                             [&](const std::string& file) { return plain(file) == plain(name); });
}

void Understanding::queue_text(const InnerText& text) {
  if (text.text.knowledge != Knowledge::known)
    add_opaque(fmt::format("the text that {} reads is not fixed: {}", text.by, text.text.text));
  std::string all;
  for (std::size_t i = 0; i < text.positional.size(); ++i) {
    add_value(std::to_string(i + 1), text.positional[i].guess);
    all += (all.empty() ? "" : " ") + text.positional[i].guess;
  }
  if (!all.empty()) {
    add_value("@", all);
    add_value("*", all);
  }
  if (queue_.size() < limits::kShellCommands) queue_.push_back({text.text.guess, text.by, text.any_dialect});
}

void Understanding::note_host(std::string host) {
  if (host.empty() || out_.hosts.size() >= limits::kShellWordFields) return;
  if (std::ranges::find(out_.hosts, host) == out_.hosts.end()) out_.hosts.push_back(std::move(host));
}

void Understanding::note_hosts(const Fields& argv) {
  const bool talks = is_host_program(program_name(argv[0].guess));
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i].guess;
    for (std::string& host : hosts_in(word)) note_host(std::move(host));
    if (!talks || word.find("://") != std::string::npos) continue;
    const std::string_view bare = std::string_view(word).substr(word.rfind('@') + 1);
    const std::string_view host = bare.substr(0, bare.find('/'));
    if (looks_like_host(host) ||
        (i == 1 && !word.starts_with('-') && host.find_first_of(" $/=") == std::string_view::npos))
      note_host(std::string(host));
  }
}

}  // namespace

std::vector<std::string> hosts_in(std::string_view word) {
  std::vector<std::string> out;
  for (std::size_t at = word.find("://"); at != std::string_view::npos; at = word.find("://", at + 3)) {
    std::string_view authority = word.substr(at + 3);
    authority = authority.substr(0, authority.find_first_of("/?# \"'\\"));
    authority = authority.substr(authority.rfind('@') + 1);
    if (!authority.starts_with('[')) authority = authority.substr(0, authority.find(':'));
    if (!authority.empty()) out.emplace_back(authority);
  }
  if (!out.empty()) return out;
  // user@host:path
  const std::size_t name_end = word.find('@'), colon = word.find(':');
  if (name_end != std::string_view::npos && name_end > 0 && word[0] != '-' &&
      word.find_first_of("/ ") > name_end) {
    const std::string_view host =
        word.substr(name_end + 1, colon == std::string_view::npos ? colon : colon - name_end - 1);
    if (looks_like_host(host) || (colon != std::string_view::npos && !host.empty())) out.emplace_back(host);
  }
  return out;
}

std::string canonical_text(const CommandWords& words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out.push_back(' ');
    out += word;
  }
  return out;
}

CommandLine understand(std::string_view text, const CommandLineOptions& options) {
  CommandLine out;
  Understanding(options, out).read_text(text, options.dialect, {});
  return out;
}

CommandLine understand_words(const CommandWords& words, const CommandLineOptions& options) {
  CommandLine out;
  Understanding(options, out).read_words(words);
  return out;
}

}  // namespace relay::shell
