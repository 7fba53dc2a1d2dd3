#include "shell/patterns.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"

namespace relay::shell {

using authority::Tier;

namespace {

constexpr std::array kPatterns = std::to_array<TextPattern>({
    // Irreversible, POSIX.
    {"rm-flags", Tier::irreversible, R"(rm\s+(?:[^\s;|&]+\s+){0,16}?-[a-z]*[rf])", "rm with -r or -f"},
    {"rm-long", Tier::irreversible, R"(rm\s+(?:[^\s;|&]+\s+){0,16}?--(?:recursive|force|no-preserve-root))",
     "rm with --recursive or --force"},
    {"shred", Tier::irreversible, R"(shred\b)", "shred"},
    {"mkfs", Tier::irreversible, R"(mkfs\b)", "mkfs"},
    {"fdisk", Tier::irreversible, R"(fdisk\b)", "fdisk"},
    {"sgdisk", Tier::irreversible, R"(sgdisk\b)", "sgdisk"},
    {"wipefs", Tier::irreversible, R"(wipefs\b)", "wipefs"},
    {"dd-device", Tier::irreversible, R"(dd\b[^\n;|&]*\bof=["']?/dev/)", "dd to a device"},
    {"redirect-disk", Tier::irreversible, R"(>\s*["']?/dev/(?:sd|hd|nvme|vd|xvd|mmcblk))",
     "output to a disk"},
    {"disk-name", Tier::irreversible, R"(/dev/(?:sd[a-z]|hd[a-z]|nvme\d|vd[a-z]|xvd[a-z]))", "a disk"},
    {"shutdown", Tier::irreversible, R"((?:shutdown|reboot|halt|poweroff)\b)", "stops the machine"},
    {"init", Tier::irreversible, R"(init\s+[06]\b)", "init 0 or 6"},
    {"sql-drop", Tier::irreversible, R"(drop\s+(?:database|table|schema)\b)", "drops a table or database"},
    {"sql-truncate", Tier::irreversible, R"(truncate\s+table\b)", "empties a table"},
    {"git-force", Tier::irreversible, R"(git\b[^\n;|&]*\bpush\b[^\n;|&]*\s(?:--force|-[a-z]*f))",
     "git push --force"},
    {"git-reset-hard", Tier::irreversible, R"(git\b[^\n;|&]*\breset\b[^\n;|&]*\s--hard\b)",
     "git reset --hard"},
    {"userdel", Tier::irreversible, R"((?:userdel|deluser|gpasswd)\b)", "removes an account"},
    {"passwd", Tier::irreversible, R"(passwd(?:\s|$))", "changes a password"},
    {"iptables-flush", Tier::irreversible, R"(ip6?tables\b[^\n;|&]*\s(?:-F|--flush)\b)",
     "removes firewall rules"},
    {"nft-flush", Tier::irreversible, R"(nft\b[^\n;|&]*\bflush\b)", "removes firewall rules"},
    {"ip-link-down", Tier::irreversible, R"(ip\s+link\b[^\n;|&]*\bdown\b)", "takes the network down"},
    {"fork-bomb", Tier::irreversible, R"(:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\})", "a fork bomb"},
    {"rmtree", Tier::irreversible, R"((?:rmtree|remove_tree|rm_rf|rimraf|rmSync|removeAll)\b)",
     "deletes a tree from code"},
    // Irreversible, Windows.
    {"remove-item", Tier::irreversible, R"(remove-item\b[^\n;|]*\s-(?:recurse|force|r|fo)\b)",
     "Remove-Item -Recurse or -Force"},
    {"clear-disk", Tier::irreversible, R"((?:clear-disk|format-volume|initialize-disk)\b)", "changes a disk"},
    {"stop-computer", Tier::irreversible, R"((?:stop-computer|restart-computer)\b)", "stops the machine"},
    {"remove-service", Tier::irreversible, R"(remove-(?:service|localuser|localgroup)\b)",
     "removes a service or account"},
    {"clear-eventlog", Tier::irreversible, R"(clear-eventlog\b)", "empties the event log"},
    {"del-flags", Tier::irreversible, R"((?:del|erase|rd|rmdir)\b[^\n;|&]*\s/[sq]\b)",
     "deletes with /s or /q"},
    {"format-drive", Tier::irreversible, R"(format(?:\.com)?\s+[a-z]:)", "formats a drive"},
    {"diskpart", Tier::irreversible, R"(diskpart\b)", "diskpart"},
    {"vssadmin", Tier::irreversible, R"(vssadmin\b[^\n;|&]*\bdelete\s+shadows\b)", "deletes shadow copies"},
    {"bcdedit", Tier::irreversible, R"(bcdedit\b)", "changes how the machine starts"},
    {"cipher", Tier::irreversible, R"(cipher\b[^\n;|&]*\s/w)", "overwrites free space"},
    {"reg-delete", Tier::irreversible, R"((?:reg|sc)(?:\.exe)?\s+delete\b)",
     "deletes from the registry or a service"},
    {"wevtutil", Tier::irreversible, R"(wevtutil\b[^\n;|&]*\bcl\b)", "empties the event log"},
    // Stateful, POSIX.
    {"sudo", Tier::stateful, R"((?:sudo|doas|pkexec|runas)\b)", "takes the rights of another user"},
    {"systemctl", Tier::stateful, R"(systemctl\b[^\n;|&]*\b(?:stop|restart|disable|mask|kill)\b)",
     "changes services"},
    {"service", Tier::stateful, R"(service\s+\S+\s+(?:stop|restart)\b)", "changes services"},
    {"packages", Tier::stateful,
     R"((?:apt(?:-get)?|yum|dnf|pip3?|npm)\b[^\n;|&]*\b(?:install|remove|purge|uninstall)\b)",
     "installs or removes packages"},
    {"docker", Tier::stateful, R"(docker\b[^\n;|&]*\b(?:run|rm|stop|kill|compose|build)\b)",
     "changes containers"},
    {"kubectl", Tier::stateful, R"(kubectl\b[^\n;|&]*\b(?:apply|delete|scale|rollout)\b)",
     "changes a cluster"},
    {"chown", Tier::stateful, R"(chown\b)", "changes who owns files"},
    {"chmod-recursive", Tier::stateful, R"(chmod\s+(?:\S+\s+)?-[a-z]*r)", "changes permissions recursively"},
    {"chmod-root", Tier::stateful, R"(chmod\s+[0-7]{3,4}\s+/)",
     "changes permissions outside the working directory"},
    {"crontab", Tier::stateful, R"(crontab\b)", "changes what runs later"},
    {"ln-symbolic", Tier::stateful, R"(ln\s+-[a-z]*s)", "makes a symbolic link"},
    {"mv-root", Tier::stateful, R"(mv\s+(?:\S+\s+)*/)", "moves files outside the working directory"},
    {"cp-root", Tier::stateful, R"(cp\s+-\S+\s+(?:\S+\s+)*/)", "copies files outside the working directory"},
    {"sed-in-place", Tier::stateful, R"(sed\b[^\n;|&]*\s(?:-[a-z]*i|--in-place))", "changes files in place"},
    {"tee-etc", Tier::stateful, R"(tee\b[^\n;|&]*\s/etc/)", "changes files of the system"},
    {"git-write", Tier::stateful, R"(git\b[^\n;|&]*\b(?:push|commit|merge|rebase)\b)",
     "changes a repository"},
    {"ufw", Tier::stateful, R"(ufw\b)", "changes the firewall"},
    {"ssh-copy-id", Tier::stateful, R"(ssh-copy-id\b)", "changes keys"},
    {"redirect-etc", Tier::stateful, R"(>\s*["']?/etc/)", "changes files of the system"},
    {"system-call", Tier::stateful, R"((?:os\.system|subprocess|child_process|execSync|shell_exec|popen)\b)",
     "runs commands from code"},
    // Stateful, Windows.
    {"windows-service", Tier::stateful, R"((?:stop|start|restart|set|new|suspend)-service\b)",
     "changes services"},
    {"windows-package", Tier::stateful, R"((?:install|uninstall|update)-(?:package|module|windowsfeature)\b)",
     "installs or removes packages"},
    {"windows-firewall", Tier::stateful,
     R"((?:new|set|remove|disable|enable)-netfirewall\w*|netsh\s+advfirewall\b)", "changes the firewall"},
    {"windows-registry", Tier::stateful, R"((?:set|new|remove)-itemproperty\b|reg(?:\.exe)?\s+add\b)",
     "changes the registry"},
    {"windows-task", Tier::stateful, R"((?:register|unregister)-scheduledtask\b|schtasks\b)",
     "changes what runs later"},
    {"execution-policy", Tier::stateful, R"(set-executionpolicy\b)", "changes what may run"},
});

/// All expressions as one automaton. Compiled once; it is never changed.
class PatternSet {
 public:
  PatternSet() : set_(options(), RE2::UNANCHORED) {
    for (const TextPattern& pattern : kPatterns) set_.Add(wrapped(pattern.expression), nullptr);
    compiled_ = set_.Compile();
  }

  [[nodiscard]] TierFinding find(std::string_view text) const {
    std::vector<int> found;
    // A table that cannot be searched must not make a text look harmless.
    RE2::Set::ErrorInfo error{};
    if (!compiled_) return {Tier::irreversible, "the pattern table cannot be searched"};
    if (!set_.Match(re2::StringPiece(text.data(), text.size()), &found, &error) &&
        error.kind != RE2::Set::kNoError)
      return {Tier::irreversible, "the pattern table cannot be searched"};
    TierFinding finding;
    for (const int index : found) {
      const TextPattern& pattern = kPatterns[static_cast<std::size_t>(index)];
      if (pattern.tier > finding.tier) finding = {pattern.tier, std::string(pattern.why)};
    }
    return finding;
  }

 private:
  static RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_case_sensitive(false);
    options.set_encoding(RE2::Options::EncodingLatin1);  // any bytes
    options.set_max_mem(static_cast<std::int64_t>(limits::kShellPatternMemoryBytes));
    return options;
  }
  static std::string wrapped(std::string_view expression) {
    return "(?:^|[^\\w])(?:" + std::string(expression) + ")";
  }

  RE2::Set set_;
  bool compiled_ = false;
};

}  // namespace

std::span<const TextPattern> text_patterns() {
  return kPatterns;
}

TierFinding find_pattern(std::string_view text) {
  static const PatternSet kSet;
  return kSet.find(text);
}

}  // namespace relay::shell
