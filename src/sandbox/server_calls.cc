#include "sandbox/server_calls.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

#include <seccomp.h>

namespace relay::sandbox {
namespace {

// What builds or leaves namespaces, looks into other processes, loads code into the kernel, or is a wide door
// that Node and Python do not need. Refused, not killed: a program that tries and copes may go on.
constexpr int kRefused[] = {
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(open_tree),
    SCMP_SYS(move_mount),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    SCMP_SYS(bpf),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
    SCMP_SYS(syslog),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(vhangup),
    SCMP_SYS(move_pages),
    SCMP_SYS(migrate_pages),
    SCMP_SYS(lookup_dcookie),
    SCMP_SYS(nfsservctl),
#ifdef __x86_64__
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(modify_ldt),
    SCMP_SYS(uselib),
    SCMP_SYS(ustat),
    SCMP_SYS(sysfs),
    SCMP_SYS(_sysctl),
#endif
};

// As if the kernel were older: programs fall back to what the filter can look into.
constexpr int kUnknown[] = {SCMP_SYS(clone3), SCMP_SYS(openat2), SCMP_SYS(io_uring_setup),
                            SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register)};

// Mounts in the cage ignore set-uid bits, but a directory that it may write is there outside, too. A file
// made with such a bit would run as its owner, who is the user that relay runs as.
constexpr unsigned long kSetIdBits[] = {S_ISUID, S_ISGID};

struct ModeArgument {
  int call;
  unsigned argument;
};
constexpr int kFchmodat2 = 452;  // on every architecture; older headers do not name it
constexpr ModeArgument kModes[] = {{SCMP_SYS(chmod), 1},   {SCMP_SYS(fchmod), 1}, {SCMP_SYS(fchmodat), 2},
                                   {kFchmodat2, 2},        {SCMP_SYS(creat), 1},  {SCMP_SYS(mknod), 1},
                                   {SCMP_SYS(mknodat), 2}, {SCMP_SYS(mkdir), 1},  {SCMP_SYS(mkdirat), 2}};

// The mode of an open counts only when it makes a file; otherwise the register holds anything.
struct OpenArguments {
  int call;
  unsigned flags;
  unsigned mode;
};
constexpr OpenArguments kOpens[] = {{SCMP_SYS(open), 1, 2}, {SCMP_SYS(openat), 2, 3}};
constexpr unsigned long kMakingFlags[] = {O_CREAT, O_TMPFILE & ~static_cast<unsigned long>(O_DIRECTORY)};

constexpr unsigned long kNamespaceFlags[] = {CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS,    CLONE_NEWNET,
                                             CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};

// Terminal tricks that put words into somebody else's mouth.
constexpr unsigned long kTerminalTricks[] = {TIOCSTI, TIOCSCTTY, 0x541C /* TIOCLINUX */};

// Others are not kept apart by the network namespace (vsock reaches the host), or are rarely used and often
// broken.
bool is_family_allowed(int family) {
  return family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
}

constexpr int kFamiliesEnd = 64;

}  // namespace

Result<void> add_server_rules(void* context) {
  int result = 0;
  const auto refuse = [&](int call, int error, std::initializer_list<scmp_arg_cmp> arguments) {
    // A call that this architecture never had cannot be made.
    if (result == 0 && call >= 0)
      result = seccomp_rule_add_array(context, SCMP_ACT_ERRNO(error), call,
                                      static_cast<unsigned>(arguments.size()), arguments.begin());
  };
  for (const int call : kRefused) refuse(call, EPERM, {});
  for (const int call : kUnknown) refuse(call, ENOSYS, {});
  for (const unsigned long flag : kNamespaceFlags)
    refuse(SCMP_SYS(clone), EPERM, {{0, SCMP_CMP_MASKED_EQ, flag, flag}});
  for (const unsigned long trick : kTerminalTricks)
    refuse(SCMP_SYS(ioctl), EPERM, {{1, SCMP_CMP_MASKED_EQ, 0xffffffffUL, trick}});
  for (int family = 0; family < kFamiliesEnd; ++family)
    if (!is_family_allowed(family))
      refuse(SCMP_SYS(socket), EAFNOSUPPORT,
             {{0, SCMP_CMP_MASKED_EQ, 0xffffffffUL, static_cast<scmp_datum_t>(family)}});
  for (const unsigned long bit : kSetIdBits) {
    for (const ModeArgument& mode : kModes)
      refuse(mode.call, EPERM, {{mode.argument, SCMP_CMP_MASKED_EQ, bit, bit}});
    for (const OpenArguments& open : kOpens)
      for (const unsigned long flag : kMakingFlags)
        refuse(open.call, EPERM,
               {{open.flags, SCMP_CMP_MASKED_EQ, flag, flag}, {open.mode, SCMP_CMP_MASKED_EQ, bit, bit}});
  }
  if (result != 0) return fail(from_errno(-result, "wall system_call_filter: make the rules of a server"));
  return {};
}

}  // namespace relay::sandbox
