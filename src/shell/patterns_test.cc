#include "shell/patterns.h"

#include <re2/re2.h>

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace relay::shell {
namespace {

struct Example {
  std::string_view hit;
  std::string_view almost;
};

// Each pattern with a text that it matches and one that it nearly does.
const std::map<std::string_view, Example> kExamples = {
    {"rm-flags", {"rm x -rf", "rm x y"}},
    {"rm-long", {"rm --recursive x", "rm --interactive x"}},
    {"shred", {"shred x", "shredded x"}},
    {"mkfs", {"mkfs.ext4 x", "amkfs x"}},
    {"fdisk", {"fdisk -l", "fdisks"}},
    {"sgdisk", {"sgdisk x", "sgdisks x"}},
    {"wipefs", {"wipefs x", "wipefsx"}},
    {"dd-device", {"dd if=x of=/dev/y", "dd if=/dev/y of=x"}},
    {"redirect-disk", {"echo > /dev/sda", "echo > /dev/stdout"}},
    {"disk-name", {"cat /dev/sda", "cat /dev/shm"}},
    {"shutdown", {"shutdown now", "shutdowns"}},
    {"init", {"init 6", "init 3"}},
    {"sql-drop", {"DROP TABLE x", "drop index x"}},
    {"sql-truncate", {"truncate table x", "truncate tables"}},
    {"git-force", {"git push origin --force", "git push origin x"}},
    {"git-reset-hard", {"git reset --hard", "git reset --soft"}},
    {"userdel", {"userdel x", "userdelx"}},
    {"passwd", {"passwd x", "cat /etc/passwd.bak"}},
    {"iptables-flush", {"iptables -t nat -F x", "iptables -L"}},
    {"nft-flush", {"nft flush ruleset", "nft list ruleset"}},
    {"ip-link-down", {"ip link set a down", "ip link set a up"}},
    {"fork-bomb", {":(){ :|:& };:", ":(){ :; };:"}},
    {"rmtree", {"shutil.rmtree(x)", "shutil.copytree(x)"}},
    {"remove-item", {"Remove-Item x -Recurse", "Remove-Item x"}},
    {"clear-disk", {"Format-Volume x", "Format-Table x"}},
    {"stop-computer", {"Restart-Computer", "Rename-Computer"}},
    {"remove-service", {"Remove-LocalUser x", "Get-LocalUser x"}},
    {"clear-eventlog", {"Clear-EventLog x", "Get-EventLog x"}},
    {"del-flags", {"del x /s", "del x"}},
    {"format-drive", {"format C:", "format x"}},
    {"diskpart", {"diskpart", "diskparts"}},
    {"vssadmin", {"vssadmin delete shadows", "vssadmin list shadows"}},
    {"bcdedit", {"bcdedit /set", "bcdedits"}},
    {"cipher", {"cipher /w:C", "cipher /e"}},
    {"reg-delete", {"reg delete HKLM", "reg query HKLM"}},
    {"wevtutil", {"wevtutil cl x", "wevtutil qe x"}},
    {"sudo", {"sudo x", "sudoers"}},
    {"systemctl", {"systemctl --user stop x", "systemctl status x"}},
    {"service", {"service x restart", "service x status"}},
    {"packages", {"apt-get -y install x", "apt-get download x"}},
    {"docker", {"docker run x", "docker ps"}},
    {"kubectl", {"kubectl -n x delete y", "kubectl get y"}},
    {"chown", {"chown a b", "chowned"}},
    {"chmod-recursive", {"chmod -R a b", "chmod +x b"}},
    {"chmod-root", {"chmod 777 /x", "chmod 777 x"}},
    {"crontab", {"crontab -e", "crontabs"}},
    {"ln-symbolic", {"ln -sf a b", "ln a b"}},
    {"mv-root", {"mv a /b", "mv a b"}},
    {"cp-root", {"cp -r a /b", "cp a b"}},
    {"sed-in-place", {"sed -e x -i f", "sed -e x f"}},
    {"tee-etc", {"tee -a /etc/x", "tee /tmp/x"}},
    {"git-write", {"git commit -m x", "git status"}},
    {"ufw", {"ufw allow 1", "ufwx"}},
    {"ssh-copy-id", {"ssh-copy-id h", "ssh-copy h"}},
    {"redirect-etc", {"echo >> /etc/x", "cat < /etc/x"}},
    {"system-call", {"import subprocess", "import sub_process"}},
    {"windows-service", {"Stop-Service x", "Get-Service x"}},
    {"windows-package", {"Install-Module x", "Get-Module x"}},
    {"windows-firewall", {"New-NetFirewallRule x", "Get-NetFirewallRule x"}},
    {"windows-registry", {"Set-ItemProperty x", "Get-ItemProperty x"}},
    {"windows-task", {"schtasks /create", "Get-ScheduledTask"}},
    {"execution-policy", {"Set-ExecutionPolicy x", "Get-ExecutionPolicy"}},
};

bool matches(const TextPattern& pattern, std::string_view text) {
  const RE2 expression("(?i)(?:^|[^\\w])(?:" + std::string(pattern.expression) + ")");
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), expression);
}

TEST(Patterns, EachMatchesItsExampleAndNotTheOneBesideIt) {
  std::set<std::string_view> names;
  for (const TextPattern& pattern : text_patterns()) {
    ASSERT_TRUE(names.insert(pattern.name).second) << pattern.name;
    const auto found = kExamples.find(pattern.name);
    ASSERT_NE(found, kExamples.end()) << pattern.name << " has no example";
    EXPECT_TRUE(matches(pattern, found->second.hit)) << pattern.name;
    EXPECT_FALSE(matches(pattern, found->second.almost)) << pattern.name;
    EXPECT_GE(find_pattern(found->second.hit).tier, pattern.tier) << pattern.name;
  }
  EXPECT_EQ(names.size(), kExamples.size());
}

TEST(Patterns, DoNotMatchInsideAWord) {
  EXPECT_EQ(find_pattern("alarm -rf").tier, authority::Tier::reversible);
  EXPECT_EQ(find_pattern("x;rm -rf").tier, authority::Tier::irreversible);
}

TEST(Patterns, ReadAnyBytes) {
  EXPECT_EQ(find_pattern("\xff\xfe rm -rf x").tier, authority::Tier::irreversible);
}

}  // namespace
}  // namespace relay::shell
