#include "shell/environment_names.h"

#include <algorithm>
#include <array>

namespace relay::shell {
namespace {

constexpr std::array kCommands = std::to_array<std::string_view>({"PAGER",
                                                                  "EDITOR",
                                                                  "VISUAL",
                                                                  "BROWSER",
                                                                  "MANPAGER",
                                                                  "GIT_PAGER",
                                                                  "GIT_EDITOR",
                                                                  "GIT_SEQUENCE_EDITOR",
                                                                  "GIT_SSH_COMMAND",
                                                                  "GIT_SSH",
                                                                  "GIT_ASKPASS",
                                                                  "GIT_EXTERNAL_DIFF",
                                                                  "GIT_PROXY_COMMAND",
                                                                  "SSH_ASKPASS",
                                                                  "SUDO_ASKPASS",
                                                                  "SUDO_EDITOR",
                                                                  "LESSOPEN",
                                                                  "LESSCLOSE",
                                                                  "PROMPT_COMMAND",
                                                                  "PS0",
                                                                  "PS1",
                                                                  "PS2",
                                                                  "PS4",
                                                                  "RSYNC_RSH",
                                                                  "CVS_RSH",
                                                                  "TAR_RSH",
                                                                  "SYSTEMD_PAGER",
                                                                  "SYSTEMD_EDITOR",
                                                                  "FCEDIT",
                                                                  "MAKEFLAGS",
                                                                  "KUBE_EDITOR",
                                                                  "HGEDITOR",
                                                                  "SVN_EDITOR",
                                                                  "SVN_SSH",
                                                                  "CARGO_BUILD_RUSTC_WRAPPER",
                                                                  "RUSTC_WRAPPER",
                                                                  "CC",
                                                                  "CXX",
                                                                  "SHELL",
                                                                  "TERMINAL"});

constexpr std::array kCode = std::to_array<std::string_view>({"LD_PRELOAD",
                                                              "LD_LIBRARY_PATH",
                                                              "LD_AUDIT",
                                                              "BASH_ENV",
                                                              "ENV",
                                                              "ZDOTDIR",
                                                              "PYTHONPATH",
                                                              "PYTHONSTARTUP",
                                                              "PYTHONHOME",
                                                              "PYTHONINSPECT",
                                                              "PERL5OPT",
                                                              "PERL5LIB",
                                                              "PERL5DB",
                                                              "RUBYOPT",
                                                              "RUBYLIB",
                                                              "NODE_OPTIONS",
                                                              "NODE_PATH",
                                                              "JAVA_TOOL_OPTIONS",
                                                              "_JAVA_OPTIONS",
                                                              "JDK_JAVA_OPTIONS",
                                                              "PHPRC",
                                                              "PHP_INI_SCAN_DIR",
                                                              "LUA_INIT",
                                                              "LUA_PATH",
                                                              "GIT_CONFIG",
                                                              "GIT_CONFIG_GLOBAL",
                                                              "GIT_CONFIG_SYSTEM",
                                                              "GIT_CONFIG_COUNT",
                                                              "GIT_CONFIG_PARAMETERS",
                                                              "GIT_EXEC_PATH",
                                                              "GIT_TEMPLATE_DIR",
                                                              "GCONV_PATH",
                                                              "SHELLOPTS",
                                                              "BASHOPTS",
                                                              "IFS",
                                                              "VIMINIT",
                                                              "EXINIT",
                                                              "AWKPATH",
                                                              "AWKLIBPATH",
                                                              "R_PROFILE",
                                                              "DYLD_INSERT_LIBRARIES",
                                                              "DYLD_LIBRARY_PATH",
                                                              "OPENSSL_CONF",
                                                              "TERMINFO",
                                                              "INPUTRC",
                                                              "DOTNET_STARTUP_HOOKS",
                                                              "HOME",
                                                              "GEM_PATH"});

constexpr std::array kDangerous = std::to_array<std::string_view>(
    {"rm",        "git",      "dd",     "chmod",    "chown",  "chgrp",   "find",      "mv",      "cp",
     "tee",       "tar",      "rsync",  "docker",   "podman", "kubectl", "systemctl", "service", "apt",
     "apt-get",   "dnf",      "yum",    "pacman",   "npm",    "pip",     "pip3",      "sed",     "iptables",
     "ip6tables", "nft",      "ip",     "mount",    "umount", "kill",    "sudo",      "env",     "xargs",
     "bash",      "sh",       "python", "python3",  "perl",   "ssh",     "curl",      "wget",    "crontab",
     "init",      "truncate", "parted", "lvremove", "zfs",    "btrfs",   "install",   "ln",      "eval"});

template <std::size_t N>
bool has(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

}  // namespace

VariableKind kind_of_variable(std::string_view name) {
  if (has(kCommands, name)) return VariableKind::command;
  if (has(kCode, name) || name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("BASH_FUNC_"))
    return VariableKind::code;
  if (name == "PATH" || name == "CDPATH" || name == "EXECIGNORE" || name == "FIGNORE")
    return VariableKind::lookup;
  return VariableKind::harmless;
}

bool takes_dangerous_flags(std::string_view program) {
  return has(kDangerous, program);
}

}  // namespace relay::shell
