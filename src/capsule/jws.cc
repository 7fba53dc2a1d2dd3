#include "base/jws.h"

#include "capsule/signing.h"

namespace relay::capsule {

std::string sign_jws(const SigningKey& key, std::string_view type, std::string_view payload) {
  return relay::sign_jws({key.signer(), key.public_key().fingerprint()}, type, payload);
}

Result<const PublicKey*> verify_jws(const KeyRing& keys, std::string_view type, std::string_view jws,
                                    std::string_view payload) {
  const PublicKey* used = nullptr;
  const auto find_key = [&](std::string_view kid) {
    used = keys.find(kid);
    return used ? &used->raw() : nullptr;
  };
  RELAY_CHECK(relay::verify_jws(find_key, type, jws, payload));
  return used;
}

}  // namespace relay::capsule
