#include "signature.h"

#include <openssl/crypto.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/jws.h"

namespace relay::zygote {

Result<void> verify_manifest(std::string_view manifest, std::string_view jws, std::string_view key) {
  const auto der = find_base64(key);
  const auto known = der ? find_ed25519_key(*der) : std::nullopt;
  if (!known) return fail(invalid("the key is no Ed25519 key"));
  return verify_jws([&known](std::string_view) { return &*known; }, kCapsuleJwsType, jws, manifest);
}

void warm_up_crypto() {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  verify_ed25519(Ed25519PublicKey{}, "warm", std::string(kEd25519SignatureBytes, '\1'));
  sha256_hex("warm");
}

}  // namespace relay::zygote
