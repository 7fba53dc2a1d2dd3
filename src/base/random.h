// RandomSource: where ids, tokens and keys come from. app/ makes one and hands it out; tests use a fixed
// sequence. Loop thread only, because it keeps a block of bytes. A kernel that gives no random bytes ends the
// process: nothing may go on with a guessable key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace relay {

class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual void fill(std::span<std::byte> out) = 0;
};

/// getrandom(2), read in blocks: an id costs no system call most of the time.
class SystemRandom final : public RandomSource {
 public:
  void fill(std::span<std::byte> out) override;

 private:
  static constexpr std::size_t kBlockBytes = 512;
  std::byte block_[kBlockBytes];
  std::size_t used_ = kBlockBytes;
};

/// Counts up from a seed: for tests that compare exact output.
class FakeRandom final : public RandomSource {
 public:
  void fill(std::span<std::byte> out) override;

 private:
  std::uint8_t next_ = 0;
};

/// "run_" + 2*bytes hex digits. Twelve bytes are enough for names, sixteen and more for secrets.
std::string make_id(RandomSource& random, std::string_view prefix, std::size_t bytes = 12);

/// URL-safe base64 of that many random bytes, without padding.
std::string make_token(RandomSource& random, std::size_t bytes = 32);

}  // namespace relay
