#include "base/random.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/bytes.h"

namespace relay {
namespace {

// Without entropy nothing that follows is safe, so there is nothing sensible to return.
void read_kernel_entropy(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno != EINTR) std::abort();
    if (got > 0) out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

void SystemRandom::fill(std::span<std::byte> out) {
  if (out.size() > kBlockBytes) return read_kernel_entropy(out);
  if (kBlockBytes - used_ < out.size()) {
    read_kernel_entropy(block_);
    used_ = 0;
  }
  std::memcpy(out.data(), block_ + used_, out.size());
  std::memset(block_ + used_, 0, out.size());
  used_ += out.size();
}

void FakeRandom::fill(std::span<std::byte> out) {
  for (std::byte& byte : out) byte = std::byte{next_++};
}

std::string make_id(RandomSource& random, std::string_view prefix, std::size_t bytes) {
  std::vector<std::byte> raw(bytes);
  random.fill(raw);
  return std::string(prefix) + to_hex(raw);
}

std::string make_token(RandomSource& random, std::size_t bytes) {
  std::vector<std::byte> raw(bytes);
  random.fill(raw);
  return to_base64url(as_text(raw));
}

}  // namespace relay
