#include "shell/wrappers.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "shell/inline_code.h"
#include "shell/script_bytes.h"

namespace relay::shell {
namespace {

/// How a program passes on the rest of its arguments.
struct Wrapper {
  std::string_view name;
  std::string_view short_values;  // options that take a value: one letter each
  std::string_view long_values;   // likewise, each with a space before and behind
  std::size_t positionals = 0;    // arguments of its own before the command
  bool assignments = false;       // NAME=value may stand before the command
};

constexpr std::array kWrappers = std::to_array<Wrapper>({
    {"sudo", "ugpCchDRTrtUa",
     " user group prompt close-from host chdir chroot command-timeout role type other-user ", 0, true},
    {"doas", "uCa", ""},
    {"pkexec", "", " user "},
    {"env", "uCS", " unset chdir split-string ", 0, true},
    {"nice", "n", " adjustment "},
    {"ionice", "cnpPu", " class classdata pid pgid uid "},
    {"nohup", "", ""},
    {"setsid", "", ""},
    {"stdbuf", "ioe", " input output error "},
    {"timeout", "ks", " kill-after signal ", 1},
    {"time", "fo", " format output "},
    {"chrt", "TPD", " sched-runtime sched-period sched-deadline ", 1},
    {"taskset", "", "", 1},
    {"chroot", "", " userspec groups ", 1},
    {"unshare", "SGRwl",
     " setuid setgid root wd propagation setgroups map-user map-group map-users map-groups "},
    {"nsenter", "tSGrw", " target setuid setgid root wd "},
    {"setpriv", "", " reuid regid groups inh-caps ambient-caps bounding-set securebits pdeathsig "},
    {"strace", "eopsPuaIESObX", " trace output string-limit attach trace-path user "},
    {"ltrace", "eopsuaAFlnx", " output pid user "},
    {"valgrind", "", ""},
    {"command", "", ""},
    {"builtin", "", ""},
    {"exec", "a", ""},
    {"busybox", "", ""},
    {"toybox", "", ""},
    {"systemd-run", "pugMHtEdr",
     " unit property uid gid slice description setenv machine host nice working-directory on-active "
     "on-calendar "},
    {"systemd-inhibit", "", " what who why mode "},
    {"flock", "wE", " wait timeout conflict-exit-code ", 1},
    {"fakeroot", "ilsb", " lib faked "},
    {"faketime", "f", "", 1},
    {"firejail", "", ""},
    {"torsocks", "", ""},
    {"proxychains", "f", ""},
    {"proxychains4", "f", ""},
    {"rlwrap", "abcCDefgHlmMnNoOpPqrRsStTwWxz", ""},
    {"unbuffer", "", ""},
    {"eatmydata", "", ""},
    {"numactl", "Cmpi", " cpunodebind membind interleave preferred physcpubind "},
    {"cgexec", "g", ""},
    {"prlimit", "p", " pid "},
    {"dbus-run-session", "", " config-file dbus-daemon "},
    {"xvfb-run", "efnpsw", " error-file auth-file server-num server-args "},
    {"ssh-agent", "aEtP", ""},
    {"aa-exec", "pn", " profile namespace "},
    {"linux32", "", ""},
    {"linux64", "", ""},
    {"setarch", "", "", 1},
    {"catchsegv", "", ""},
    {"cpulimit", "lpe", " limit pid exe "},
    {"xargs", "adEILnPs",
     " arg-file delimiter eof replace max-lines max-args max-procs max-chars process-slot-var "},
    {"parallel", "jaILnNSPE", " jobs arg-file replace sshlogin max-args "},
    {"entr", "", ""},
    {"capsh", "", ""},
    {"bwrap", "", ""},
    {"runcon", "turl", " type user role range "},
    {"daemonize", "acepouUl", ""},
    {"start-stop-daemon", "xapuncgkN", " exec startas pidfile user name chuid group chdir nicelevel "},
    {"tsocks", "", ""},
    {"chpst", "ubeEmdnlL/CP012", ""},
    {"softlimit", "a", ""},
});

const Wrapper* find_wrapper(std::string_view name) {
  const auto found = std::ranges::find(kWrappers, name, &Wrapper::name);
  return found == kWrappers.end() ? nullptr : found;
}

bool is_shell(std::string_view name) {
  constexpr std::array kShells = std::to_array<std::string_view>(
      {"bash", "sh", "dash", "ash", "ksh", "ksh93", "mksh", "pdksh", "zsh", "fish", "rbash", "rksh", "yash",
       "csh", "tcsh", "elvish", "nu", "xonsh"});
  return std::ranges::find(kShells, name) != kShells.end();
}

// Their grammar is not bash's: what they are told is read as bash all the same, and said to be opaque.
bool is_other_shell(std::string_view name) {
  constexpr std::array kOther =
      std::to_array<std::string_view>({"zsh", "fish", "csh", "tcsh", "elvish", "nu", "xonsh"});
  return std::ranges::find(kOther, name) != kOther.end();
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || !is_name_start(word[0])) return false;
  return std::ranges::all_of(word.substr(0, equals), is_name_char);
}

Fields rest_of(const Fields& argv, std::size_t from) {
  return {argv.begin() + static_cast<std::ptrdiff_t>(std::min(from, argv.size())), argv.end()};
}

/// Arguments as the shell joins them: `eval a b`, `ssh host a b`.
ExpandedField joined(const Fields& argv, std::size_t from) {
  ExpandedField out;
  for (std::size_t i = from; i < argv.size(); ++i) {
    if (!out.text.empty()) {
      out.text.push_back(' ');
      out.guess.push_back(' ');
    }
    out.text += argv[i].text;
    out.guess += argv[i].guess;
    out.knowledge = std::max(out.knowledge, argv[i].knowledge);
  }
  return out;
}

void add_text(Unwrapped& out, ExpandedField text, std::string by) {
  out.texts.push_back({.text = std::move(text), .by = std::move(by), .any_dialect = true});
}

/// Walks over options. After it, `at` is the first argument that is none.
struct OptionWalk {
  std::size_t at = 1;
  std::size_t unsure = 0;  // options that are not in the table: each may have taken a value
};

bool takes_value(std::string_view list, std::string_view name) {
  return list.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

// How many arguments the option at `at` is.
std::size_t size_of_option(const Wrapper& wrapper, std::string_view option, OptionWalk& walk) {
  if (option.starts_with("--")) {
    const std::size_t equals = option.find('=');
    if (equals != std::string_view::npos) return 1;
    if (takes_value(wrapper.long_values, option.substr(2))) return 2;
    ++walk.unsure;
    return 1;
  }
  for (std::size_t i = 1; i < option.size(); ++i)
    if (wrapper.short_values.find(option[i]) != std::string_view::npos) return i + 1 == option.size() ? 2 : 1;
  ++walk.unsure;
  return 1;
}

OptionWalk skip_options(const Wrapper& wrapper, const Fields& argv) {
  OptionWalk walk;
  while (walk.at < argv.size()) {
    const std::string& word = argv[walk.at].guess;
    if (word == "--") {
      ++walk.at;
      break;
    }
    if (wrapper.assignments && is_assignment(word)) {
      ++walk.at;
      continue;
    }
    if (word.empty() || word[0] != '-') break;
    walk.at += size_of_option(wrapper, word, walk);
  }
  return walk;
}

bool has_option(const Fields& argv, char letter, std::string_view name, std::size_t end) {
  for (std::size_t i = 1; i < std::min(end, argv.size()); ++i) {
    const std::string& word = argv[i].guess;
    if (word == fmt::format("--{}", name) || word.starts_with(fmt::format("--{}=", name))) return true;
    if (word.size() > 1 && word[0] == '-' && word[1] != '-' && word.find(letter) != std::string::npos)
      return true;
  }
  return false;
}

/// The value of -c TEXT, -cTEXT, --name TEXT or --name=TEXT.
std::optional<ExpandedField> find_option(const Fields& argv, char letter, std::string_view name) {
  const std::string with_equals = fmt::format("--{}=", name);
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i].guess;
    if (word.starts_with(with_equals)) {
      ExpandedField value = argv[i];
      value.guess.erase(0, with_equals.size());
      value.text.erase(0, std::min(value.text.size(), with_equals.size()));
      return value;
    }
    const bool is_long = word == fmt::format("--{}", name);
    const bool is_short = word.size() > 1 && word[0] == '-' && word[1] != '-' && word.back() == letter;
    if ((is_long || is_short) && i + 1 < argv.size()) return argv[i + 1];
    if (word.size() > 2 && word[0] == '-' && word[1] == letter) {
      ExpandedField value = argv[i];
      value.guess.erase(0, 2);
      value.text.erase(0, std::min<std::size_t>(value.text.size(), 2));
      return value;
    }
  }
  return std::nullopt;
}

void unwrap_rest(const Wrapper& wrapper, const Fields& argv, Unwrapped& out) {
  const std::string_view name = wrapper.name;
  const OptionWalk walk = skip_options(wrapper, argv);
  if (name == "command" && (has_option(argv, 'v', "", walk.at) || has_option(argv, 'V', "", walk.at))) return;
  if (name == "env" && has_option(argv, 'S', "split-string", walk.at)) {
    if (auto text = find_option(argv, 'S', "split-string")) {
      const Fields rest = rest_of(argv, walk.at);
      for (const ExpandedField& field : rest) {
        text->guess += " " + field.guess;
        text->text += " " + field.text;
      }
      add_text(out, std::move(*text), "env -S");
    }
    return;
  }
  if (name == "flock")
    if (auto text = find_option(argv, 'c', "command")) return add_text(out, std::move(*text), "flock -c");
  std::size_t first = walk.at + wrapper.positionals;
  while (wrapper.assignments && first < argv.size() && is_assignment(argv[first].guess)) ++first;
  const bool starts_shell =
      (name == "sudo" &&
       (has_option(argv, 's', "shell", walk.at) || has_option(argv, 'i', "login", walk.at))) ||
      (name == "doas" && has_option(argv, 's', "", walk.at)) ||
      ((name == "unshare" || name == "nsenter" || name == "chroot") && first >= argv.size());
  if (starts_shell && first >= argv.size()) out.reads_program = true;
  if (starts_shell && first < argv.size()) add_text(out, joined(argv, first), std::string(name));
  const bool adds = name == "xargs" || name == "parallel";
  if (name == "parallel" && first < argv.size()) add_text(out, joined(argv, first), "parallel");
  if (name == "parallel" && first >= argv.size()) out.reads_program = true;
  // An option that is not in the table may have a value, and then the command begins later.
  for (std::size_t i = first; i <= first + walk.unsure && i < argv.size(); ++i)
    out.commands.push_back({rest_of(argv, i), adds});
}

void unwrap_shell(std::string_view name, const Fields& argv, Unwrapped& out) {
  std::size_t at = 1;
  bool text = false, input = false;
  for (; at < argv.size(); ++at) {
    const std::string& word = argv[at].guess;
    if (word == "--" || word == "-") {
      ++at;
      break;
    }
    if (word.size() < 2 || (word[0] != '-' && word[0] != '+')) break;
    if (word.starts_with("--")) {
      if (word == "--rcfile" || word == "--init-file") ++at;
      if (word == "--command") text = true;
      continue;
    }
    text = text || word.find('c') != std::string::npos;
    input = input || word.find('s') != std::string::npos;
    if (word.back() == 'o' || word.back() == 'O') ++at;
  }
  if (text && at < argv.size()) {
    if (is_other_shell(name)) out.opaque.push_back(fmt::format("the language of {} is not read", name));
    out.texts.push_back({.text = argv[at],
                         .by = fmt::format("{} -c", name),
                         .any_dialect = name != "bash" && name != "rbash",
                         .positional = rest_of(argv, at + 2)});
    return;
  }
  if (text) return out.opaque.push_back(fmt::format("the text that {} -c reads comes from elsewhere", name));
  if (input || at >= argv.size()) {
    out.reads_program = true;
    return;
  }
  const ExpandedField& file = argv[at];
  if (file.stream)
    out.opaque.push_back(fmt::format("{} runs what {} prints", name, file.text));
  else if (file.guess == "/dev/stdin" || file.guess == "/dev/fd/0" || file.guess == "/proc/self/fd/0")
    out.reads_program = true;
  else
    out.runs_files.push_back(file.guess);
}

void unwrap_ssh(const Fields& argv, Unwrapped& out) {
  constexpr Wrapper kSsh{"ssh", "BbcDEeFIiJLlmOopQRSWw", ""};
  const OptionWalk walk = skip_options(kSsh, argv);
  for (std::size_t i = 1; i < argv.size(); ++i)
    for (const std::string_view key : {"ProxyCommand=", "LocalCommand=", "KnownHostsCommand="})
      if (const std::size_t found = argv[i].guess.find(key); found != std::string::npos) {
        ExpandedField text = argv[i];
        text.guess.erase(0, found + key.size());
        add_text(out, std::move(text), "ssh -o");
      }
  if (walk.at >= argv.size()) return;
  std::size_t first = walk.at + 1;
  // Options may also follow the host.
  Fields after = rest_of(argv, walk.at);
  const OptionWalk more = skip_options(kSsh, after);
  if (more.at > 1) first = walk.at + more.at;
  if (first < argv.size())
    add_text(out, joined(argv, first), "ssh");
  else
    out.reads_program = true;
}

void unwrap_find(const Fields& argv, Unwrapped& out) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i].guess;
    const bool runs = word == "-exec" || word == "-execdir" || word == "-ok" || word == "-okdir" ||
                      word == "-x" || word == "-X" || word == "--exec" || word == "--exec-batch";
    if (!runs) continue;
    Fields command;
    for (++i; i < argv.size() && argv[i].guess != ";"; ++i) {
      if (argv[i].guess == "+" && !command.empty() && command.back().guess == "{}") break;
      command.push_back(argv[i]);
    }
    if (!command.empty()) out.commands.push_back({std::move(command), true});
  }
}

// Keys of git's configuration whose value is a command.
bool is_command_key(std::string_view key) {
  for (const std::string_view end :
       {"pager",       "editor",   "sshcommand", "askpass",    "fsmonitor",   "external", "textconv",
        "command",     "cmd",      "helper",     "clean",      "smudge",      "process",  "driver",
        "gpg.program", ".program", "hookspath",  "uploadpack", "receivepack", "proxy"})
    if (key.ends_with(end)) return true;
  return false;
}

void unwrap_git_setting(const ExpandedField& field, Unwrapped& out) {
  const std::size_t equals = field.guess.find('=');
  if (equals == std::string::npos) return;
  std::string key = field.guess.substr(0, equals);
  std::ranges::transform(key, key.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  ExpandedField text = field;
  text.guess = field.guess.substr(equals + 1);
  text.text = text.guess;
  if (key.starts_with("alias.")) {
    if (text.guess.starts_with('!')) {
      text.guess.erase(0, 1);
      return add_text(out, std::move(text), "git alias");
    }
    text.guess = "git " + text.guess;
    return add_text(out, std::move(text), "git alias");
  }
  if (is_command_key(key)) add_text(out, std::move(text), "git -c");
}

void unwrap_git(const Fields& argv, Unwrapped& out) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i].guess;
    if (word == "-c" && i + 1 < argv.size()) unwrap_git_setting(argv[i + 1], out);
    if (word.starts_with("-c") && word.find('=') != std::string::npos) {
      ExpandedField setting = argv[i];
      setting.guess.erase(0, 2);
      unwrap_git_setting(setting, out);
    }
    if (word == "config" && i + 2 < argv.size()) {
      ExpandedField setting = argv[i + 2];
      for (std::size_t k = i + 1; k + 1 < argv.size(); ++k)
        if (argv[k].guess.find('.') != std::string::npos) {
          setting.guess = argv[k].guess + "=" + argv[k + 1].guess;
          unwrap_git_setting(setting, out);
          break;
        }
    }
    if (word == "foreach" && i + 1 < argv.size()) add_text(out, joined(argv, i + 1), "git submodule foreach");
    if (word == "bisect" && i + 2 < argv.size() && argv[i + 1].guess == "run")
      out.commands.push_back({rest_of(argv, i + 2)});
    for (const std::string_view flag : {"--exec", "-x", "--extcmd", "--upload-pack", "--receive-pack", "-u",
                                        "--tree-filter", "--index-filter", "--msg-filter", "--env-filter",
                                        "--commit-filter", "--tag-name-filter", "--parent-filter"}) {
      if (word == flag && i + 1 < argv.size()) add_text(out, argv[i + 1], fmt::format("git {}", flag));
      if (word.starts_with(fmt::format("{}=", flag))) {
        ExpandedField text = argv[i];
        text.guess.erase(0, flag.size() + 1);
        add_text(out, std::move(text), fmt::format("git {}", flag));
      }
    }
    if (word.starts_with("ext::")) {
      ExpandedField text = argv[i];
      text.guess.erase(0, 5);
      add_text(out, std::move(text), "git ext::");
    }
  }
}

// Options of other programs whose value is a command.
struct CommandOption {
  std::string_view program;
  char letter;
  std::string_view name;
};
constexpr std::array kCommandOptions = std::to_array<CommandOption>({
    {"su", 'c', "command"},
    {"runuser", 'c', "command"},
    {"sg", 'c', "command"},
    {"script", 'c', "command"},
    {"rsync", 'e', "rsh"},
    {"rsync", 0, "rsync-path"},
    {"scp", 'S', ""},
    {"sftp", 'S', ""},
    {"tar", 'I', "use-compress-program"},
    {"tar", 0, "to-command"},
    {"tar", 'F', "info-script"},
    {"tar", 0, "rsh-command"},
    {"newgrp", 'c', ""},
    {"machinectl", 0, "command"},
    {"capsh", 'c', ""},
    {"man", 'P', "pager"},
    {"less", 0, "lesskey-content"},
    {"sort", 0, "compress-program"},
    {"split", 0, "filter"},
    {"dpkg", 0, "pre-invoke"},
    {"crash", 0, "eval"},
    {"zip", 0, "unzip-command"},
    {"complete", 'C', ""},
    {"compgen", 'C', ""},
    {"mapfile", 'C', ""},
    {"readarray", 'C', ""},
    {"ncat", 'c', "sh-exec"},
    {"ncat", 'e', "exec"},
    {"nc", 'e', ""},
    {"nc", 'c', ""},
    {"netcat", 'e', ""},
    {"nc.traditional", 'e', ""},
    {"xterm", 'e', ""},
    {"bind", 'x', ""},
    {"fc", 'e', ""},
    {"tcpdump", 'z', ""},
});

void unwrap_command_options(std::string_view name, const Fields& argv, Unwrapped& out) {
  for (const CommandOption& option : kCommandOptions) {
    if (option.program != name) continue;
    if (auto text = find_option(argv, option.letter, option.name))
      add_text(out, std::move(*text),
               fmt::format("{} -{}", name,
                           option.letter ? std::string(1, option.letter) : "-" + std::string(option.name)));
  }
  if (name != "tar") return;
  for (const ExpandedField& field : argv)
    if (const std::size_t at = field.guess.find("exec="); at != std::string::npos) {
      ExpandedField text = field;
      text.guess.erase(0, at + 5);
      add_text(out, std::move(text), "tar --checkpoint-action");
    }
}

void unwrap_socat(const Fields& argv, Unwrapped& out) {
  for (const ExpandedField& field : argv)
    for (const std::string_view key : {"EXEC:", "SYSTEM:", "exec:", "system:"})
      if (field.guess.starts_with(key)) {
        ExpandedField text = field;
        text.guess = text.guess.substr(key.size(), text.guess.find(',') - key.size());
        add_text(out, std::move(text), "socat");
      }
}

// Containers: the options are many, so everything behind a word that is no option may be the command.
void unwrap_container(const Fields& argv, Unwrapped& out) {
  constexpr std::size_t kSuffixes = 12;
  bool runs = false;
  std::size_t tried = 0;
  for (std::size_t i = 1; i < argv.size() && tried < kSuffixes; ++i) {
    const std::string& word = argv[i].guess;
    if (runs && !word.starts_with('-')) {
      out.commands.push_back({rest_of(argv, i + 1)});
      ++tried;
    }
    if (word == "exec" || word == "run" || word == "shell" || word == "compose") runs = true;
  }
  std::erase_if(out.commands, [](const InnerCommand& command) { return command.argv.empty(); });
}

// Builtins that keep a text and run it later, or at once.
bool unwrap_builtin(std::string_view name, const Fields& argv, Unwrapped& out) {
  if (name == "eval") {
    if (argv.size() > 1)
      out.texts.push_back({.text = joined(argv, argv[1].guess == "--" ? 2 : 1), .by = "eval"});
    return true;
  }
  if (name == "trap") {
    std::size_t at = 1;
    while (at < argv.size() && (argv[at].guess == "--" || argv[at].guess == "-p" || argv[at].guess == "-l"))
      ++at;
    if (at + 1 < argv.size() && argv[at].guess != "-") out.texts.push_back({.text = argv[at], .by = "trap"});
    return true;
  }
  if (name == "alias") {
    for (std::size_t i = 1; i < argv.size(); ++i) {
      const std::size_t equals = argv[i].guess.find('=');
      if (equals == std::string::npos) continue;
      ExpandedField text = argv[i];
      text.guess.erase(0, equals + 1);
      out.texts.push_back({.text = std::move(text), .by = "alias"});
    }
    return true;
  }
  if (name == "source" || name == ".") {
    if (argv.size() < 2) return true;
    const ExpandedField& file = argv[1];
    if (file.stream)
      out.opaque.push_back(fmt::format("{} runs what {} prints", name, file.text));
    else if (file.guess.starts_with("/dev/stdin") || file.guess.starts_with("/dev/fd") ||
             file.guess.starts_with("/proc/"))
      out.reads_program = true;
    else
      out.runs_files.push_back(file.guess);
    return true;
  }
  if (name == "enable" && has_option(argv, 'f', "", argv.size()))
    out.opaque.emplace_back("enable -f loads code into the shell");
  return false;
}

void unwrap_watch(const Fields& argv, Unwrapped& out) {
  constexpr Wrapper kWatch{"watch", "nq", " interval equexit "};
  const OptionWalk walk = skip_options(kWatch, argv);
  if (walk.at < argv.size()) add_text(out, joined(argv, walk.at), "watch");
}

}  // namespace

std::string_view program_name(std::string_view program) {
  return program.substr(program.rfind('/') + 1);
}

Unwrapped unwrap(const Fields& argv) {
  Unwrapped out;
  const std::string_view name = program_name(argv[0].guess);
  if (unwrap_builtin(name, argv, out)) return out;
  if (const Wrapper* wrapper = find_wrapper(name)) unwrap_rest(*wrapper, argv, out);
  unwrap_command_options(name, argv, out);
  if (is_shell(name)) unwrap_shell(name, argv, out);
  if (name == "ssh" || name == "rsh" || name == "slogin" || name == "mosh" || name == "autossh")
    unwrap_ssh(argv, out);
  if (name == "find" || name == "fd" || name == "fdfind" || name == "gfind") unwrap_find(argv, out);
  if (name == "git") unwrap_git(argv, out);
  if (name == "watch") unwrap_watch(argv, out);
  if (name == "socat") unwrap_socat(argv, out);
  if (name == "docker" || name == "podman" || name == "kubectl" || name == "nerdctl" || name == "lxc" ||
      name == "oc" || name == "crictl" || name == "docker-compose")
    unwrap_container(argv, out);
  if ((name == "su" || name == "runuser" || name == "at" || name == "batch" || name == "newgrp") &&
      out.texts.empty())
    out.reads_program = true;
  if (name == "crontab" && (argv.size() == 1 || argv.back().guess == "-")) out.reads_foreign = true;
  InlineCode code = find_inline_code(name, argv);
  std::ranges::move(code.opaque, std::back_inserter(out.opaque));
  out.reads_foreign = out.reads_foreign || code.reads_program;
  std::ranges::move(code.runs_files, std::back_inserter(out.runs_files));
  return out;
}

}  // namespace relay::shell
