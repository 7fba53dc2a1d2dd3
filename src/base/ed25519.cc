#include "base/ed25519.h"

#include <sodium.h>

#include <algorithm>
#include <cstdlib>

namespace relay {
namespace {

// SubjectPublicKeyInfo of an Ed25519 key is this and the 32 bytes of the key.
constexpr std::string_view kSpkiPrefix("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12);

static_assert(std::tuple_size_v<Ed25519PublicKey> == crypto_sign_PUBLICKEYBYTES);
static_assert(Ed25519Signer::kSeedBytes == crypto_sign_SEEDBYTES);
static_assert(kEd25519SignatureBytes == crypto_sign_BYTES);

const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

void start_library() {
  static const bool is_ready = ::sodium_init() >= 0;
  if (!is_ready) std::abort();  // without a source of randomness nothing here may go on
}

}  // namespace

std::optional<Ed25519PublicKey> find_ed25519_key(std::string_view spki_der) {
  Ed25519PublicKey key;
  if (!spki_der.starts_with(kSpkiPrefix) || spki_der.size() != kSpkiPrefix.size() + key.size())
    return std::nullopt;
  std::copy_n(octets(spki_der) + kSpkiPrefix.size(), key.size(), key.begin());
  return key;
}

bool verify_ed25519(const Ed25519PublicKey& key, std::string_view message, std::string_view signature) {
  start_library();
  return signature.size() == kEd25519SignatureBytes &&
         ::crypto_sign_verify_detached(octets(signature), octets(message), message.size(), key.data()) == 0;
}

Ed25519Signer::Ed25519Signer(const std::array<unsigned char, kSeedBytes>& seed) {
  start_library();
  Ed25519PublicKey ignored;  // it is part of the secret, too
  ::crypto_sign_seed_keypair(ignored.data(), secret_.data(), seed.data());
}

Ed25519PublicKey Ed25519Signer::public_key() const {
  Ed25519PublicKey key;
  std::copy_n(secret_.begin() + kSeedBytes, key.size(), key.begin());
  return key;
}

std::string Ed25519Signer::sign(std::string_view message) const {
  std::string signature(kEd25519SignatureBytes, '\0');
  ::crypto_sign_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr, octets(message),
                         message.size(), secret_.data());
  return signature;
}

}  // namespace relay
