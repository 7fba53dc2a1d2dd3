#include "sandbox/system_calls.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include <fmt/format.h>
#include <seccomp.h>

#include "base/fd.h"
#include "sandbox/server_calls.h"

namespace relay::sandbox {
namespace {

using Context = std::unique_ptr<void, decltype(&seccomp_release)>;

// In the order of how often they are called: the filter is a list of comparisons.
constexpr int kFreely[] = {
    SCMP_SYS(ppoll),           SCMP_SYS(recvfrom),    SCMP_SYS(sendmsg),      SCMP_SYS(madvise),
    SCMP_SYS(munmap),          SCMP_SYS(futex),       SCMP_SYS(getrandom),    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),    SCMP_SYS(getrusage),   SCMP_SYS(brk),          SCMP_SYS(read),
    SCMP_SYS(write),           SCMP_SYS(close),       SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(restart_syscall), SCMP_SYS(sched_yield), SCMP_SYS(getpid),       SCMP_SYS(gettid),
    SCMP_SYS(clock_nanosleep), SCMP_SYS(sigaltstack), SCMP_SYS(exit),         SCMP_SYS(exit_group),
};

struct Condition {
  int call;
  std::vector<scmp_arg_cmp> arguments;
};

// A page is never writable and executable at once, a mapping is never a file or shared, and a limit is set
// only for oneself (where it can only go down).
std::vector<Condition> conditions() {
  const auto prot_without = [](unsigned argument, scmp_datum_t bit) {
    return scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, bit, 0};
  };
  const scmp_arg_cmp anonymous{3, SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS | MAP_SHARED | MAP_PRIVATE,
                               MAP_ANONYMOUS | MAP_PRIVATE};
  return {
      {SCMP_SYS(mprotect), {prot_without(2, PROT_EXEC)}},
      {SCMP_SYS(mprotect), {prot_without(2, PROT_WRITE)}},
      {SCMP_SYS(mmap), {prot_without(2, PROT_EXEC), anonymous}},
      {SCMP_SYS(mmap), {prot_without(2, PROT_WRITE), anonymous}},
      {SCMP_SYS(mremap), {scmp_arg_cmp{3, SCMP_CMP_EQ, MREMAP_MAYMOVE, 0}}},
      {SCMP_SYS(prlimit64), {scmp_arg_cmp{0, SCMP_CMP_EQ, 0, 0}}},
  };
}

Result<void> add_rules(scmp_filter_ctx context) {
  int result = 0;
  for (const int call : kFreely)
    if (result == 0) result = seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 0);
  for (const Condition& condition : conditions())
    if (result == 0)
      result = seccomp_rule_add_array(context, SCMP_ACT_ALLOW, condition.call,
                                      static_cast<unsigned>(condition.arguments.size()),
                                      condition.arguments.data());
  if (result != 0) return fail(from_errno(-result, "wall system_call_filter: make the rules"));
  return {};
}

// libseccomp writes a program only to a descriptor.
Result<std::vector<sock_filter>> export_program(scmp_filter_ctx context) {
  const Fd file(::memfd_create("filter", MFD_CLOEXEC));
  if (!file.is_open()) return fail(from_errno(errno, "wall system_call_filter: memfd_create"));
  if (const int result = seccomp_export_bpf(context, file.get()); result != 0)
    return fail(from_errno(-result, "wall system_call_filter: compile"));
  const auto bytes = static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END));
  std::vector<sock_filter> program(bytes / sizeof(sock_filter));
  if (::pread(file.get(), program.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    return fail(from_errno(errno, "wall system_call_filter: read the program"));
  return program;
}

}  // namespace

Result<SystemCallFilter> SystemCallFilter::compile(std::string_view name) {
  if (name != "engine" && name != "server")
    return fail(internal(fmt::format("there is no system call list named {}", name)));
  const bool is_engine = name == "engine";
  const Context context(seccomp_init(is_engine ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ALLOW), seccomp_release);
  if (!context) return fail(internal("wall system_call_filter: libseccomp gives no context"));
  RELAY_CHECK(is_engine ? add_rules(context.get()) : add_server_rules(context.get()));
  SystemCallFilter filter;
  RELAY_TRY(filter.program_, export_program(context.get()));
  return filter;
}

Result<void> SystemCallFilter::load() const {
  const sock_fprog program{static_cast<unsigned short>(program_.size()),
                           const_cast<sock_filter*>(program_.data())};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    return fail(from_errno(errno, "wall system_call_filter: load"));
  return {};
}

}  // namespace relay::sandbox
