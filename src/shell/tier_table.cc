#include "shell/tier_table.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/glob.h"
#include "shell/script_bytes.h"
#include "shell/wrappers.h"

namespace relay::shell {
namespace {

using authority::Tier;
constexpr Tier kStateful = Tier::stateful;
constexpr Tier kFinal = Tier::irreversible;

/// One line of the table. A rule without letters, options and words matches every use of its program. Of
/// several conditions one is enough; `with` must be there besides.
struct TierRule {
  std::string_view programs;  // separated by spaces
  Tier tier;
  std::string_view why;
  std::string_view letters = {};  // short options, alone or together with others
  std::string_view options = {};  // long options and other whole words, separated by spaces
  std::string_view with = {};     // words that must stand among the arguments, one of them
};

constexpr std::array kRules = std::to_array<TierRule>({
    // Files.
    {"rm", kFinal, "deletes recursively or without asking", "rRf", "--recursive --force --no-preserve-root"},
    {"find fd fdfind gfind", kFinal, "deletes what it finds", "", "-delete"},
    {"find gfind", kStateful, "writes files", "", "-fprint -fprint0 -fprintf -fls"},
    {"shred wipe srm scrub", kFinal, "destroys the content of files"},
    {"rsync", kFinal, "deletes what the source does not have", "",
     "--delete --delete-before --delete-after --delete-during --delete-excluded --delete-delay "
     "--remove-source-files --del"},
    {"truncate", kStateful, "cuts files"},
    {"chmod", kStateful, "changes permissions recursively", "R", "--recursive"},
    {"chown chgrp", kStateful, "changes who owns files"},
    {"chattr setfacl setcap", kStateful, "changes attributes of files"},
    {"ln", kStateful, "makes a symbolic link", "s", "--symbolic"},
    {"sed gsed", kStateful, "changes files in place", "i", "--in-place"},
    {"perl ruby", kStateful, "changes files in place", "i"},
    {"dd", kStateful, "copies blocks"},
    // Disks.
    {"mkfs mke2fs mkswap fdisk sfdisk cfdisk gdisk sgdisk parted partprobe wipefs blkdiscard mkdosfs mkntfs",
     kFinal, "changes what is on a disk"},
    {"lvremove vgremove pvremove lvreduce pvcreate vgcreate mdadm", kFinal, "changes volumes of a disk"},
    {"zfs zpool", kFinal, "destroys a file system", "", "", "destroy rollback labelclear"},
    {"btrfs", kFinal, "destroys a file system", "", "", "delete"},
    {"cryptsetup", kFinal, "destroys the keys of a disk", "", "",
     "luksFormat luksErase erase luksKillSlot luksRemoveKey reencrypt"},
    {"hdparm nvme", kFinal, "changes what is on a disk", "",
     "--security-erase --security-erase-enhanced format sanitize --trim-sector-ranges"},
    {"mount umount swapon swapoff losetup", kStateful, "changes what is mounted"},
    // The machine.
    {"shutdown reboot halt poweroff kexec", kFinal, "stops the machine"},
    {"init telinit", kFinal, "stops the machine", "", "", "0 6"},
    {"systemctl loginctl", kFinal, "stops the machine", "", "",
     "reboot poweroff halt kexec emergency rescue soft-reboot suspend hibernate"},
    {"systemctl", kStateful, "changes services", "", "",
     "start stop restart reload disable enable mask unmask kill isolate daemon-reload set-default edit "
     "revert try-restart link"},
    {"service rc-service invoke-rc.d", kStateful, "changes services", "", "",
     "start stop restart reload force-reload"},
    {"modprobe insmod rmmod depmod", kStateful, "changes the kernel"},
    {"sysctl", kStateful, "changes the kernel", "w", "--write --system -p --load"},
    {"killall pkill skill", kStateful, "ends processes by name"},
    {"hostnamectl timedatectl localectl update-alternatives update-rc.d chkconfig ldconfig", kStateful,
     "changes settings of the machine"},
    // Users.
    {"userdel deluser groupdel delgroup gpasswd passwd chpasswd", kFinal, "changes or removes accounts"},
    {"useradd adduser usermod groupadd addgroup groupmod chsh chfn visudo vipw vigr chage", kStateful,
     "changes accounts"},
    {"sudo doas pkexec su runas runuser sg newgrp", kStateful, "takes the rights of another user"},
    {"ssh-copy-id ssh-keygen ssh-add", kStateful, "changes keys"},
    {"gpg gpg2", kFinal, "deletes keys", "",
     "--delete-keys --delete-secret-keys --delete-secret-and-public-key"},
    // Network.
    {"iptables ip6tables", kFinal, "removes firewall rules", "FX", "--flush --delete-chain"},
    {"iptables ip6tables iptables-restore ip6tables-restore ebtables arptables", kStateful,
     "changes the firewall", "ADIRPNEZ", "--append --delete --insert --replace --policy --new-chain"},
    {"iptables-restore ip6tables-restore", kStateful, "changes the firewall"},
    {"nft", kFinal, "removes firewall rules", "", "", "flush"},
    {"nft", kStateful, "changes the firewall", "f", "--file", "add delete insert replace create destroy"},
    {"ip", kFinal, "takes the network down", "", "", "down flush"},
    {"ip", kStateful, "changes the network", "", "", "add del delete set change replace"},
    {"ifconfig ifdown", kFinal, "takes the network down", "", "", "down"},
    {"ifdown", kFinal, "takes the network down"},
    {"ufw firewall-cmd", kStateful, "changes the firewall"},
    {"nmcli netplan", kStateful, "changes the network", "", "", "down off delete modify apply add up"},
    {"scp sftp", kStateful, "copies files to or from another machine"},
    {"curl", kStateful, "sends data", "dFT",
     "--data --data-raw --data-binary --data-urlencode --form --upload-file --json -XPOST -XPUT -XDELETE "
     "-XPATCH"},
    {"curl", kStateful, "sends data", "", "", "POST PUT DELETE PATCH"},
    {"wget", kStateful, "sends data", "", "--post-data --post-file --method --body-data --body-file"},
    // Work that others see.
    {"git", kFinal, "rewrites what others have", "fd", "--force --force-with-lease --mirror --delete --prune",
     "push"},
    {"git", kFinal, "throws away changes", "", "--hard", "reset"},
    {"git", kFinal, "throws away files", "fdx", "--force", "clean"},
    {"git", kFinal, "deletes a branch", "D", "", "branch"},
    {"git", kFinal, "throws away changes", "", "", "filter-branch filter-repo"},
    {"git", kFinal, "throws away changes", "", "drop clear", "stash"},
    {"git", kFinal, "throws away history", "", "expire delete", "reflog"},
    {"git", kFinal, "throws away history", "", "-d --delete", "update-ref tag"},
    {"git", kFinal, "throws away changes", "", "--force -f -- . --worktree", "checkout restore"},
    {"git", kStateful, "changes a repository", "", "",
     "push commit merge rebase cherry-pick revert am pull reset config remote gc prune tag"},
    {"gh glab", kFinal, "deletes what others have", "", "", "delete"},
    {"gh glab", kStateful, "changes what others have", "", "",
     "create merge close edit comment review upload"},
    {"npm yarn pnpm", kFinal, "removes a published package", "", "", "unpublish"},
    {"npm yarn pnpm cargo twine gem poetry", kStateful, "publishes a package", "", "", "publish upload push"},
    // Packages.
    {"apt apt-get aptitude yum dnf microdnf zypper apk snap flatpak brew pip pip2 pip3 pipx npm pnpm yarn "
     "bun gem go cargo "
     "conda mamba uv opkg emerge port choco winget",
     kStateful, "installs or removes packages", "", "",
     "install remove purge upgrade dist-upgrade full-upgrade autoremove uninstall update add del erase "
     "reinstall i rm un ci "
     "downgrade groupinstall sync link get"},
    {"pacman", kStateful, "installs or removes packages", "SRU", "--sync --remove --upgrade"},
    {"dpkg rpm", kStateful, "installs or removes packages", "irPUeF",
     "--install --remove --purge --erase --upgrade --unpack"},
    {"make ninja cmake", kStateful, "installs what was built", "", "", "install uninstall --install"},
    // Containers and clusters.
    {"docker podman nerdctl docker-compose podman-compose", kFinal, "deletes data of containers", "", "",
     "prune"},
    {"docker podman nerdctl", kFinal, "deletes data of containers", "", "rm", "volume"},
    {"docker podman nerdctl docker-compose podman-compose", kStateful, "changes containers", "", "",
     "run rm stop kill compose build exec start restart rmi pull push create up down cp commit load import "
     "login tag swarm "
     "service stack network volume update rename pause unpause"},
    {"kubectl oc helm", kStateful, "changes a cluster", "", "",
     "apply delete scale rollout create patch replace edit exec drain cordon uncordon taint label annotate "
     "set run expose "
     "install upgrade uninstall rollback cp"},
    {"terraform tofu pulumi", kFinal, "destroys infrastructure", "", "", "destroy"},
    {"terraform tofu pulumi", kStateful, "changes infrastructure", "", "", "apply up import taint state"},
    {"vagrant", kFinal, "destroys a machine", "", "", "destroy"},
    {"virsh", kFinal, "destroys a machine", "", "", "destroy undefine vol-delete"},
    {"aws gcloud az", kFinal, "deletes what is in a cloud", "", "",
     "rb delete terminate-instances delete-bucket delete-stack delete-object delete-objects "
     "delete-db-instance purge"},
    {"aws", kFinal, "deletes what is in a cloud", "", "", "rm"},
    {"aws gcloud az", kStateful, "changes what is in a cloud", "", "",
     "cp mv sync mb create update put run start stop deploy"},
    // Databases.
    {"dropdb dropuser", kFinal, "removes a database"},
    {"redis-cli", kFinal, "empties a database", "", "", "flushall flushdb FLUSHALL FLUSHDB"},
    {"mysqladmin", kFinal, "removes a database", "", "", "drop shutdown"},
    // Timetables, history.
    {"crontab", kFinal, "removes the timetable", "r"},
    {"crontab at batch atrm", kStateful, "changes what runs later"},
    {"systemd-run", kStateful, "starts a service"},
    {"history", kStateful, "removes the history", "c"},
    {"chroot nsenter unshare", kStateful, "changes the view of the machine"},
});

bool has_item(std::string_view list, std::string_view item) {
  for (std::size_t at = list.find(item); at != std::string_view::npos && !item.empty();
       at = list.find(item, at + 1)) {
    const bool begins = at == 0 || list[at - 1] == ' ';
    const bool ends = at + item.size() == list.size() || list[at + item.size()] == ' ';
    if (begins && ends) return true;
  }
  return false;
}

bool is_cluster(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-';
}

bool has_letter(std::string_view word, std::string_view letters) {
  if (!is_cluster(word) || letters.empty()) return false;
  // A cluster is letters; "-name" of find or a value behind an option is not.
  return word.find_first_of(letters, 1) != std::string_view::npos;
}

// Long options may be cut short: --rec is --recursive.
bool is_option(std::string_view word, std::string_view options) {
  const std::string_view name =
      word.substr(0, word.starts_with("--") ? word.find('=') : std::string_view::npos);
  if (has_item(options, name)) return true;
  if (!name.starts_with("--") || name.size() < 4) return false;
  const std::size_t at = options.find(name);
  return at != std::string_view::npos && (at == 0 || options[at - 1] == ' ');
}

bool matches(const TierRule& rule, const CommandWords& words) {
  bool with = rule.with.empty(), condition = rule.letters.empty() && rule.options.empty();
  for (std::size_t i = 1; i < words.size(); ++i) {
    with = with || has_item(rule.with, words[i]);
    condition = condition || has_letter(words[i], rule.letters) || is_option(words[i], rule.options);
  }
  return with && condition;
}

bool is_rule_of(const TierRule& rule, std::string_view program) {
  if (has_item(rule.programs, program)) return true;
  return program.starts_with("mkfs.") && has_item(rule.programs, "mkfs");
}

void raise(TierFinding& finding, Tier tier, std::string_view why) {
  if (tier > finding.tier) finding = {tier, std::string(why)};
}

bool is_number(std::string_view word) {
  return word.size() >= 3 && word.size() <= 4 && std::ranges::all_of(word, is_digit);
}

bool is_block_device(std::string_view path) {
  for (const std::string_view prefix :
       {"/dev/sd", "/dev/hd", "/dev/nvme", "/dev/vd", "/dev/xvd", "/dev/mmcblk", "/dev/disk/", "/dev/mapper/",
        "/dev/md", "/dev/dm-", "/dev/loop", "/dev/mem", "/dev/kmem", "/dev/port"})
    if (path.starts_with(prefix)) return true;
  return false;
}

bool is_system_path(std::string_view path) {
  for (const std::string_view prefix :
       {"/etc", "/boot", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/var/spool/cron", "/sys", "/proc/sys",
        "/proc/sysrq-trigger", "/root", "/opt", "/var/lib", "/run", "/srv"})
    if (path == prefix || (path.starts_with(prefix) && path[prefix.size()] == '/')) return true;
  for (const std::string_view part :
       {".ssh/", ".bashrc", ".profile", ".bash_profile", ".zshrc", ".gitconfig", ".git/hooks/"})
    if (path.find(part) != std::string_view::npos) return true;
  return false;
}

// "//etc/./x" is "/etc/x": spellings of a path must not matter.
std::string plain_path(std::string_view path) {
  std::string out;
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part(path.substr(at, end - at));
    if (part == ".." && !parts.empty() && parts.back() != "..")
      parts.pop_back();
    else if (!part.empty() && part != "." && !(part == ".." && path.starts_with('/')))
      parts.push_back(part);
    at = end + 1;
  }
  for (const std::string& part : parts) out += (out.empty() && !path.starts_with('/') ? "" : "/") + part;
  return out.empty() ? std::string(path) : out;
}

// Rules that look at targets.
void judge_targets(std::string_view program, const CommandWords& words, TierFinding& finding) {
  const bool copies = has_item("cp mv install tee ln touch mkdir rsync unzip patch", program);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.starts_with("of=/dev/") && program == "dd" && word != "of=/dev/null" && word != "of=/dev/stdout")
      raise(finding, kFinal, "writes to a device");
    if (is_block_device(word) && !has_item("ls stat lsblk blkid smartctl file", program))
      raise(finding, kFinal, "touches a disk");
    if (copies && (word.starts_with('/') || word.find(".ssh/") != std::string_view::npos) &&
        is_system_path(plain_path(word)))
      raise(finding, kStateful, "changes files of the system");
    if (program == "chmod" && is_number(word) && i + 1 < words.size() && words.back().starts_with('/'))
      raise(finding, kStateful, "changes permissions outside the working directory");
    if (program == "mv" && word.starts_with('/'))
      raise(finding, kStateful, "moves files outside the working directory");
    if (program == "cp" && word.starts_with('-') && words.back().starts_with('/'))
      raise(finding, kStateful, "copies files outside the working directory");
    if (program == "git" && word.starts_with('+') && std::ranges::find(words, "push") != words.end())
      raise(finding, kFinal, "rewrites what others have");
    if (program == "git" && word.starts_with(':') && word.size() > 1 &&
        std::ranges::find(words, "push") != words.end())
      raise(finding, kFinal, "rewrites what others have");
  }
  if (program == "mv" && words.back() == "/dev/null") raise(finding, kFinal, "throws files away");
}

}  // namespace

TierFinding find_tier_of(const CommandWords& words) {
  TierFinding finding;
  const std::string_view program = program_name(words[0]);
  for (const TierRule& rule : kRules)
    if (rule.tier > finding.tier && is_rule_of(rule, program) && matches(rule, words))
      finding = {rule.tier, std::string(rule.why)};
  judge_targets(program, words, finding);
  return finding;
}

TierFinding find_tier_of_pattern(std::string_view pattern, const CommandWords& words) {
  TierFinding finding;
  const auto glob = Glob::parse(program_name(pattern));
  if (!glob) return finding;
  for (const TierRule& rule : kRules) {
    std::size_t at = 0;
    while (at < rule.programs.size()) {
      const std::size_t end = std::min(rule.programs.find(' ', at), rule.programs.size());
      const std::string_view program = rule.programs.substr(at, end - at);
      at = end + 1;
      if (program.empty() || !glob->matches(program)) continue;
      CommandWords candidate = words;
      candidate[0] = std::string(program);
      if (TierFinding found = find_tier_of(candidate); found.tier > finding.tier) finding = std::move(found);
    }
  }
  return finding;
}

TierFinding find_tier_of_write(std::string_view path) {
  const std::string plain = plain_path(path);
  if (is_block_device(plain)) return {kFinal, "writes to a disk"};
  if (plain == "/proc/sysrq-trigger") return {kFinal, "stops the machine"};
  if (is_system_path(plain)) return {kStateful, "changes files of the system"};
  return {};
}

}  // namespace relay::shell
