#include "cheap_fork.h"

#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "base/fd.h"

namespace relay::zygote {
namespace {

constexpr std::size_t kLargestHole = std::size_t{1} << 20;
constexpr std::size_t kSmallestHole = 64;

// Where malloc's untouched end begins: what it hands out from there leaves no hole filled.
std::uintptr_t heap_end() {
  return reinterpret_cast<std::uintptr_t>(::sbrk(0)) - ::mallinfo2().keepcost;
}

struct Part {
  std::uintptr_t begin;
  std::size_t bytes;
};

// Page by page: neither end of a segment need be aligned.
Part pages_of(std::uintptr_t begin, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = begin & ~(page - 1);
  return {first, ((begin + bytes + page - 1) & ~(page - 1)) - first};
}

std::vector<Part> read_only_parts() {
  std::vector<Part> parts;
  const auto visit = [](dl_phdr_info* program, std::size_t, void* out) {
    for (int i = 0; i < program->dlpi_phnum; ++i) {
      const auto& part = program->dlpi_phdr[i];
      if (part.p_type == PT_LOAD && !(part.p_flags & PF_W) && part.p_memsz > 0)
        static_cast<std::vector<Part>*>(out)->push_back(pages_of(program->dlpi_addr + part.p_vaddr, part.p_memsz));
    }
    return 0;
  };
  ::dl_iterate_phdr(visit, &parts);
  return parts;
}

}  // namespace

void keep_heap_in_place() {
  ::mallopt(M_MXFAST, 0);
}

void fill_heap_holes() {
  ::malloc_trim(0);
  const std::uintptr_t end = heap_end();
  for (std::size_t size = kLargestHole; size >= kSmallestHole; size -= size > 4096 ? size / 4 : size > 512 ? 128 : 16)
    for (;;) {
      void* const hole = ::malloc(size);
      if (reinterpret_cast<std::uintptr_t>(hole) < end && hole) continue;  // kept for ever: that is the point
      ::free(hole);
      break;
    }
}

void forget_program_pages() {
  for (const Part& part : read_only_parts()) ::madvise(reinterpret_cast<void*>(part.begin), part.bytes, MADV_DONTNEED);
}

Result<void> fork_program_pages() {
  const Fd memory(::open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  if (!memory.is_open()) return fail(from_errno(errno, "open /proc/self/mem"));
  for (const Part& part : read_only_parts()) {
    const char same = *reinterpret_cast<const char*>(part.begin);
    if (::pwrite(memory.get(), &same, 1, static_cast<off_t>(part.begin)) != 1) return fail(from_errno(errno, "write to /proc/self/mem"));
  }
  return {};
}

}  // namespace relay::zygote
