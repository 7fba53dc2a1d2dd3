// Ed25519 (RFC 8032) on raw keys. The only door to libsodium, which does it in half of OpenSSL's time; keys
// in PEM are OpenSSL's.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace relay {

using Ed25519PublicKey = std::array<unsigned char, 32>;
inline constexpr std::size_t kEd25519SignatureBytes = 64;

/// The key out of a SubjectPublicKeyInfo in DER (RFC 8410); nothing when that is anything but an Ed25519 key.
std::optional<Ed25519PublicKey> find_ed25519_key(std::string_view spki_der);

bool verify_ed25519(const Ed25519PublicKey& key, std::string_view message, std::string_view signature);

class Ed25519Signer {
 public:
  static constexpr std::size_t kSeedBytes = 32;  // what RFC 8032 calls the private key

  explicit Ed25519Signer(const std::array<unsigned char, kSeedBytes>& seed);

  [[nodiscard]] Ed25519PublicKey public_key() const;
  [[nodiscard]] std::string sign(std::string_view message) const;

 private:
  std::array<unsigned char, 64> secret_;  // the seed, then the public key
};

}  // namespace relay
