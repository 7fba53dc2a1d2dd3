#include "shell/inline_code.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "shell/script_bytes.h"

namespace relay::shell {
namespace {

struct Interpreter {
  std::string_view name;     // also with a version behind it: python3.12
  std::string_view letters;  // short options whose value is code
  std::string_view words;    // other ways to pass code, each with a space before and behind
  bool reads_input = true;   // without a file it reads its program from standard input
};

constexpr std::array kInterpreters = std::to_array<Interpreter>({
    {"python", "c", ""},
    {"pypy", "c", ""},
    {"perl", "eE", ""},
    {"ruby", "e", ""},
    {"node", "ep", " --eval --print -pe "},
    {"nodejs", "ep", " --eval --print -pe "},
    {"deno", "", " eval repl "},
    {"bun", "e", " --eval --print "},
    {"tsx", "e", " --eval "},
    {"php", "rBRE", " --run "},
    {"lua", "e", ""},
    {"luajit", "e", ""},
    {"tclsh", "", ""},
    {"wish", "", ""},
    {"expect", "c", ""},
    {"osascript", "e", ""},
    {"R", "e", "", false},
    {"Rscript", "e", ""},
    {"julia", "eE", " --eval --print "},
    {"groovy", "e", ""},
    {"scala", "e", ""},
    {"erl", "", " -eval -run -s "},
    {"elixir", "e", " --eval "},
    {"ghc", "e", "", false},
    {"guile", "c", ""},
    {"racket", "e", " --eval "},
    {"sbcl", "", " --eval "},
    {"emacs", "", " --eval --execute -eval -f -l "},
    {"pwsh", "", " -c -Command -command -e -ec -EncodedCommand -encodedcommand -enc "},
    {"powershell", "", " -c -Command -command -e -ec -EncodedCommand -encodedcommand -enc "},
    {"vim", "cS", " --cmd ", false},
    {"vi", "cS", " --cmd ", false},
    {"nvim", "cS", " --cmd ", false},
    {"view", "cS", " --cmd ", false},
    {"ex", "cS", " --cmd "},
    {"ed", "", ""},
    {"gdb", "", " -ex -x --eval-command --command -eval-command ", false},
    {"lldb", "ob", " --one-line --batch ", false},
    {"make", "", " --eval ", false},
    {"gmake", "", " --eval ", false},
    {"sqlite3", "", " -cmd ", false},
    {"jshell", "", ""},
    {"dc", "", " -e --expression ", false},
    {"m4", "", ""},
    {"irb", "", ""},
    {"ipython", "c", ""},
    {"cscript", "", ""},
});

bool is_named(std::string_view program, std::string_view name) {
  if (!program.starts_with(name)) return false;
  return std::ranges::all_of(program.substr(name.size()),
                             [](char c) { return is_digit(c) || c == '.' || c == '-'; });
}

const Interpreter* find_interpreter(std::string_view program) {
  for (const Interpreter& each : kInterpreters)
    if (is_named(program, each.name)) return &each;
  return nullptr;
}

bool passes_code(const Interpreter& interpreter, std::string_view word) {
  if (word.size() < 2 || (word[0] != '-' && interpreter.words.empty())) return false;
  const std::string_view name = word.substr(0, word.find('='));
  if (interpreter.words.find(fmt::format(" {} ", name)) != std::string_view::npos) return true;
  if (word[0] != '-' || word[1] == '-') return false;
  return word.find_first_of(interpreter.letters, 1) != std::string_view::npos && !interpreter.letters.empty();
}

void read_interpreter(const Interpreter& interpreter, std::string_view program, const Fields& argv,
                      InlineCode& out) {
  if (program == "ed" || program == "ex") out.reads_program = true;  // also when they get a file
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i].guess;
    if (passes_code(interpreter, word)) {
      out.opaque.push_back(fmt::format("the code that {} gets is not read", program));
      return;
    }
    if (word == "-" || word == "/dev/stdin") out.reads_program = true;
    if (argv[i].stream) out.opaque.push_back(fmt::format("{} runs what {} prints", program, argv[i].text));
    if (word == "-m" && program.starts_with("py")) return;
    if (!word.empty() && word[0] != '-') {
      out.runs_files.push_back(word);
      return;
    }
  }
  if (interpreter.reads_input) out.reads_program = true;
}

bool is_awk(std::string_view program) {
  return program == "awk" || program == "gawk" || program == "mawk" || program == "nawk" ||
         program == "original-awk";
}

void read_awk(std::string_view program, const Fields& argv, InlineCode& out) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i].guess;
    if (word == "-F" || word == "-v" || word == "--assign" || word == "--field-separator") {
      ++i;
      continue;
    }
    if (word == "-f" || word == "--file" || word == "-i" || word == "--include" || word == "-l" ||
        word == "--load") {
      if (i + 1 < argv.size()) {
        if (argv[i + 1].stream || argv[i + 1].guess == "-" || argv[i + 1].guess.starts_with("/dev/"))
          out.opaque.push_back(fmt::format("the program that {} gets is not read", program));
        out.runs_files.push_back(argv[i + 1].guess);
      }
      if (word != "-f" && word != "--file")
        out.opaque.push_back(fmt::format("{} {} loads more than its program", program, word));
      return;
    }
    if (word == "-e" || word == "--source") {
      ++i;
      if (i < argv.size() && is_awk_program_active(argv[i].guess))
        out.opaque.push_back(
            fmt::format("the program that {} gets may run commands or write files", program));
      continue;
    }
    if (word.size() > 1 && word[0] == '-' && word != "--") continue;
    if (word == "--") continue;
    if (argv[i].knowledge == Knowledge::unknown || is_awk_program_active(word))
      out.opaque.push_back(fmt::format("the program that {} gets may run commands or write files", program));
    return;
  }
}

void read_sed(std::string_view program, const Fields& argv, InlineCode& out) {
  bool has_script = false;
  const auto judge = [&](const ExpandedField& script) {
    has_script = true;
    if (script.knowledge == Knowledge::unknown || is_sed_script_active(script.guess))
      out.opaque.push_back(fmt::format("the script that {} gets may run commands or write files", program));
  };
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i].guess;
    if (word == "-e" || word == "--expression" ||
        (word.size() > 2 && word[0] == '-' && word[1] != '-' && word.back() == 'e' && word[1] != 'i')) {
      if (++i < argv.size()) judge(argv[i]);
    } else if (word.starts_with("--expression=")) {
      ExpandedField script = argv[i];
      script.guess.erase(0, 13);
      judge(script);
    } else if (word == "-f" || word == "--file") {
      if (++i < argv.size()) {
        has_script = true;
        out.runs_files.push_back(argv[i].guess);
        if (argv[i].stream || argv[i].guess.starts_with("/dev/") || argv[i].guess == "-")
          out.opaque.push_back(fmt::format("the script that {} gets is not read", program));
      }
    } else if (word.starts_with("-e")) {
      ExpandedField script = argv[i];
      script.guess.erase(0, 2);
      judge(script);
    } else if (word.size() > 1 && word[0] == '-') {
      continue;
    } else if (!has_script) {
      judge(argv[i]);
    }
  }
}

/// A cursor over a script of sed.
class SedReader {
 public:
  explicit SedReader(std::string_view script) : script_(script) {}

  bool is_active() {
    while (at_ < script_.size()) {
      if (std::string_view(" \t\n;{}").find(script_[at_]) != std::string_view::npos) {
        ++at_;
        continue;
      }
      if (!skip_addresses() || !skip_command()) return true;
    }
    return false;
  }

 private:
  bool skip_delimited(char delimiter) {
    for (; at_ < script_.size() && script_[at_] != delimiter; ++at_)
      if (script_[at_] == '\\') ++at_;
    if (at_ >= script_.size()) return false;
    ++at_;
    return true;
  }

  bool skip_addresses() {
    while (at_ < script_.size()) {
      const char c = script_[at_];
      if (is_digit(c) || std::string_view("$,~+! \t").find(c) != std::string_view::npos) {
        ++at_;
      } else if (c == '/') {
        ++at_;
        if (!skip_delimited('/')) return false;
        while (at_ < script_.size() && (script_[at_] == 'I' || script_[at_] == 'M')) ++at_;
      } else if (c == '\\' && at_ + 1 < script_.size()) {
        const char delimiter = script_[at_ + 1];
        at_ += 2;
        if (!skip_delimited(delimiter)) return false;
      } else {
        return true;
      }
    }
    return false;
  }

  bool skip_command() {
    const char c = script_[at_++];
    if (std::string_view("pdqDgGhHxnNP=lz{}").find(c) != std::string_view::npos) {
      if (c == 'q' || c == 'l')
        while (at_ < script_.size() && (is_digit(script_[at_]) || script_[at_] == ' ')) ++at_;
      return true;
    }
    if (c == ':' || c == 'b' || c == 't' || c == 'T') {
      while (at_ < script_.size() && script_[at_] != ';' && script_[at_] != '\n' && script_[at_] != '}')
        ++at_;
      return true;
    }
    if (c == '#' || c == 'a' || c == 'i' || c == 'c') {
      at_ = std::min(script_.find('\n', at_), script_.size());
      return true;
    }
    if ((c != 's' && c != 'y') || at_ >= script_.size()) return false;
    const char delimiter = script_[at_++];
    if (!skip_delimited(delimiter) || !skip_delimited(delimiter)) return false;
    while (
        at_ < script_.size() && c == 's' &&
        (is_digit(script_[at_]) || std::string_view("gIipmM").find(script_[at_]) != std::string_view::npos))
      ++at_;
    return at_ >= script_.size() || std::string_view(" \t\n;}").find(script_[at_]) != std::string_view::npos;
  }

  std::string_view script_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_sed_script_active(std::string_view script) {
  return SedReader(script).is_active();
}

bool is_awk_program_active(std::string_view program) {
  for (const std::string_view word :
       {"system", "getline", "@load", "@include", "ENVIRON", "printf >", "print >"})
    if (program.find(word) != std::string_view::npos) return true;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (program[i] == '|') {
      if (i + 1 < program.size() && program[i + 1] == '|')
        ++i;
      else
        return true;
    }
    if (program[i] == '>') {
      std::size_t next = i + 1;
      if (next < program.size() && program[next] == '>') return true;
      while (next < program.size() && is_blank(program[next])) ++next;
      if (next < program.size() && (program[next] == '"' || program[next] == '(')) return true;
    }
  }
  return false;
}

InlineCode find_inline_code(std::string_view program, const Fields& argv) {
  InlineCode out;
  if (is_awk(program)) read_awk(program, argv, out);
  if (program == "sed" || program == "gsed") read_sed(program, argv, out);
  if (const Interpreter* interpreter = find_interpreter(program))
    read_interpreter(*interpreter, program, argv, out);
  return out;
}

}  // namespace relay::shell
