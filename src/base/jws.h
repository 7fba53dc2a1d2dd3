// JWS compact serialisation, RFC 7515, with EdDSA (RFC 8037) and detached payloads (appendix F).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/ed25519.h"
#include "base/result.h"

namespace relay {

/// Who can sign, and the name under which verifiers find the key.
struct JwsSigner {
  const Ed25519Signer& key;
  std::string_view kid;
};

/// Detached, with the header {"alg":"EdDSA","kid":…,"typ":type}. The type says what it is for and is signed
/// too: made for one purpose, it is not accepted for another.
std::string sign_jws(const JwsSigner& signer, std::string_view type, std::string_view payload);

/// The key that a header's `kid` names; null when there is none.
using FindJwsKey = std::function<const Ed25519PublicKey*(std::string_view kid)>;

/// A detached JWS must be over `payload`; an attached one must carry exactly that. Any algorithm but EdDSA,
/// any other type, an unknown key, a critical header or an unencoded payload is refused.
Result<void> verify_jws(const FindJwsKey& find_key, std::string_view type, std::string_view jws,
                        std::string_view payload);
/// The type of a capsule's signature.
inline constexpr std::string_view kCapsuleJwsType = "relay-capsule";

}  // namespace relay
