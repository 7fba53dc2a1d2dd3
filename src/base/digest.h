// SHA-256 and HMAC-SHA-256. The only door to OpenSSL's digests.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace relay {

using Sha256 = std::array<std::byte, 32>;

Sha256 sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);
Sha256 hmac_sha256(std::string_view key, std::string_view message);

/// For input that comes in pieces.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;

  void update(std::string_view bytes);
  /// The stream is used up afterwards.
  Sha256 finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace relay
