// SHA-256 and HMAC-SHA-256, the only door to OpenSSL's digests. Safe from any thread; a stream belongs to one
// at a time. Neither fails.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace relay {

using Sha256 = std::array<std::byte, 32>;

Sha256 sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);
Sha256 hmac_sha256(std::string_view key, std::string_view message);

/// For input that comes in pieces.
class Sha256Stream {
 public:
  Sha256Stream();

  void update(std::string_view bytes);
  /// The stream is used up afterwards.
  Sha256 finish();

 private:
  struct GiveBack {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, GiveBack> context_;
};

}  // namespace relay
