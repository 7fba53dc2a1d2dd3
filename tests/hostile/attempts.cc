#include "attempts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace relay::hostile {
namespace {

std::string verdict(long result) {
  return result < 0 ? std::string("refused ") + strerrorname_np(errno) : "ok " + std::to_string(result);
}

std::string opens(const char* path, int flags = O_RDONLY) {
  return verdict(::open(path, flags | O_CLOEXEC, 0600));
}

std::string connects_to(const char* address) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return verdict(fd);
  sockaddr_in target{};
  target.sin_family = AF_INET;
  target.sin_port = htons(80);
  ::inet_pton(AF_INET, address, &target.sin_addr);
  return verdict(::connect(fd, reinterpret_cast<sockaddr*>(&target), sizeof target));
}

std::string listens_on_abstract_socket() {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) return verdict(fd);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, "\0probe", 6);
  return verdict(::bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof(sa_family_t) + 6));
}

std::string forks() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  return verdict(pid);
}

std::string executes() {
  char* const argv[] = {const_cast<char*>("/bin/sh"), nullptr};
  return verdict(::execve("/bin/sh", argv, nullptr));
}

std::string executes_memory() {
  const auto fd = static_cast<int>(::syscall(SYS_memfd_create, "program", 0U));
  if (fd < 0) return verdict(fd);
  char* const argv[] = {const_cast<char*>("program"), nullptr};
  return verdict(::syscall(SYS_execveat, fd, "", argv, nullptr, AT_EMPTY_PATH));
}

// Every process that the probe can name but itself: siblings in its pid namespace, and everybody when there
// is none.
std::string kills_others() {
  return verdict(::kill(-1, SIGTERM));
}

std::string writes_into_sibling() {
  long secret = 1;
  iovec local{&secret, sizeof secret};
  iovec remote{&secret, sizeof secret};
  return verdict(::process_vm_writev(1, &local, 1, &remote, 1, 0));
}

std::string maps_writable_code() {
  void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? verdict(-1) : "ok";
}

std::string makes_data_executable_and_writable() {
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return "no page";
  return verdict(::mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC));
}

std::string shares_memory() {
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? verdict(-1) : "ok";
}

// Touches what it gets, so that a machine without the limit would notice.
std::string exhausts_memory() {
  constexpr std::size_t kStep = 8 << 20;
  for (std::size_t got = 0; got < (std::size_t{4} << 30); got += kStep) {
    void* const block = ::mmap(nullptr, kStep, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
      return verdict(-1) + (got <= (std::size_t{64} << 20) ? " within its limit" : " too late");
    std::memset(block, 1, kStep);
  }
  return "ok";
}

// Shared pages are nobody's data: RLIMIT_DATA does not count them.
std::string exhausts_shared_memory() {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  void* const block = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return verdict(-1);
  std::memset(block, 1, kBytes);
  return "ok";
}

// Reading costs no page of one's own, but the kernel needs a table for every 2 MiB that are looked at.
std::string exhausts_page_tables() {
  constexpr std::size_t kTable = 2 << 20;
  constexpr std::size_t kStep = std::size_t{1} << 30;
  for (std::size_t got = 0; got < (std::size_t{256} << 30); got += kStep) {
    const auto* const block = static_cast<const volatile char*>(
        ::mmap(nullptr, kStep, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (block == MAP_FAILED)
      return verdict(-1) + (got <= (std::size_t{6} << 30) ? " within its limit" : " too late");
    for (std::size_t at = 0; at < kStep; at += kTable) (void)block[at];
  }
  return "ok";
}

std::string exhausts_descriptors() {
  for (int copies = 0; copies < 100'000; ++copies)
    if (::dup(0) < 0) return verdict(-1) + (copies == 0 ? " at once" : " after some");
  return "ok";
}

std::string spins() {
  for (volatile unsigned turn = 0;; turn = turn + 1) {
  }
}

std::string raises_its_limits() {
  const rlimit more{RLIM_INFINITY, RLIM_INFINITY};
  return verdict(::setrlimit(RLIMIT_DATA, &more));
}

std::string limits_another() {
  const rlimit none{0, 0};
  return verdict(::prlimit(1, RLIMIT_CPU, &none, nullptr));
}

std::string loads_a_program_into_the_kernel() {
  union bpf_attr attributes{};
  return verdict(::syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}

std::string sends_a_descriptor() {
  char byte = 0;
  iovec piece{&byte, 0};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int));
  const int other = 2;  // closed long ago
  std::memcpy(CMSG_DATA(part), &other, sizeof other);
  return verdict(::sendmsg(0, &message, MSG_DONTWAIT));
}

std::string counts_descriptors() {
  int open = 0;
  for (int fd = 0; fd < 256; ++fd) {
    char byte = 0;
    errno = 0;
    if (::recv(fd, &byte, 0, MSG_DONTWAIT | MSG_PEEK) >= 0 || errno != EBADF) ++open;
  }
  return "ok " + std::to_string(open);
}

}  // namespace

const std::map<std::string, Attempt>& attempts() {
  static const std::map<std::string, Attempt> all = {
      {"open_passwd", [] { return opens("/etc/passwd"); }},
      {"open_proc_self", [] { return opens("/proc/self/maps"); }},
      {"open_proc_1", [] { return opens("/proc/1/environ"); }},
      {"open_root_directory", [] { return opens("/", O_RDONLY | O_DIRECTORY); }},
      {"create_in_root", [] { return opens("/x", O_CREAT | O_RDWR); }},
      {"open_device", [] { return opens("/dev/mem"); }},
      {"read_link",
       [] {
         char text[64];
         return verdict(::readlink("/proc/self/exe", text, sizeof text));
       }},
      {"connect_loopback", [] { return connects_to("127.0.0.1"); }},
      {"connect_internet", [] { return connects_to("1.1.1.1"); }},
      {"bind_abstract_socket", listens_on_abstract_socket},
      {"raw_socket", [] { return verdict(::socket(AF_PACKET, SOCK_RAW, 0)); }},
      {"socket_pair",
       [] {
         int ends[2];
         return verdict(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
       }},
      {"fork", forks},
      {"clone_thread",
       [] {
         return verdict(
             ::syscall(SYS_clone, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, nullptr, nullptr, nullptr, 0));
       }},
      {"execute", executes},
      {"execute_from_memory", executes_memory},
      {"kill_everybody", kills_others},
      {"kill_zygote", [] { return verdict(::kill(1, SIGKILL)); }},
      {"queue_signal", [] { return verdict(::syscall(SYS_tgkill, 1, 1, SIGKILL)); }},
      {"open_pidfd", [] { return verdict(::syscall(SYS_pidfd_open, 1, 0)); }},
      {"ptrace_zygote", [] { return verdict(::ptrace(PTRACE_ATTACH, 1, nullptr, nullptr)); }},
      {"write_into_zygote", writes_into_sibling},
      {"map_writable_code", maps_writable_code},
      {"make_data_executable", makes_data_executable_and_writable},
      {"share_memory", shares_memory},
      {"new_user_namespace", [] { return verdict(::unshare(CLONE_NEWUSER)); }},
      {"new_mount_namespace", [] { return verdict(::unshare(CLONE_NEWNS)); }},
      {"enter_namespace", [] { return verdict(::setns(0, 0)); }},
      {"mount", [] { return verdict(::mount("none", "/", "tmpfs", 0, nullptr)); }},
      {"unmount", [] { return verdict(::umount2("/", MNT_DETACH)); }},
      {"change_root", [] { return verdict(::chroot("/")); }},
      // EPERM where root is mapped into the namespace, EINVAL where it is not.
      {"become_root", [] { return std::string(::setuid(0) < 0 ? "refused" : "ok"); }},
      {"bpf", loads_a_program_into_the_kernel},
      {"keyctl", [] { return verdict(::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, -3, 1)); }},
      {"perf_event", [] { return verdict(::syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0)); }},
      {"userfaultfd", [] { return verdict(::syscall(SYS_userfaultfd, 0)); }},
      {"io_uring", [] { return verdict(::syscall(SYS_io_uring_setup, 8, nullptr)); }},
      {"loads_module", [] { return verdict(::syscall(SYS_init_module, nullptr, 0, "")); }},
      {"set_clock",
       [] {
         const timespec now{0, 0};
         return verdict(::clock_settime(CLOCK_REALTIME, &now));
       }},
      {"reboot", [] { return verdict(::syscall(SYS_reboot, 0, 0, 0, nullptr)); }},
      {"set_host_name", [] { return verdict(::sethostname("probe", 5)); }},
      {"become_dumpable", [] { return verdict(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); }},
      {"exhaust_memory", exhausts_memory},
      {"exhaust_shared_memory", exhausts_shared_memory},
      {"exhaust_page_tables", exhausts_page_tables},
      {"exhaust_descriptors", exhausts_descriptors},
      {"spin", spins},
      {"raise_limits", raises_its_limits},
      {"limit_zygote", limits_another},
      {"send_descriptor", sends_a_descriptor},
      {"count_descriptors", counts_descriptors},
      {"x32_system_call", [] { return verdict(::syscall(0x40000000 | SYS_getpid)); }},
  };
  return all;
}

}  // namespace relay::hostile
