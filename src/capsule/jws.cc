// JWS compact serialisation, RFC 7515, with EdDSA (RFC 8037) and detached payloads (appendix F).
#include <optional>

#include "base/bytes.h"
#include "base/json.h"
#include "capsule/signing.h"

namespace relay::capsule {
namespace {

constexpr std::size_t kHeaderBytes = 512;

struct JwsParts {
  std::string_view header, payload, signature;  // still base64url
};

Error refused(std::string_view why) {
  return invalid(fmt::format("the signature is not valid: {}", why));
}

std::optional<JwsParts> find_parts(std::string_view jws) {
  const std::size_t first = jws.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = jws.find('.', first + 1);
  if (second == std::string_view::npos || jws.find('.', second + 1) != std::string_view::npos) return std::nullopt;
  return JwsParts{jws.substr(0, first), jws.substr(first + 1, second - first - 1), jws.substr(second + 1)};
}

Result<const PublicKey*> key_for(const KeyRing& keys, std::string_view type, std::string_view header_base64) {
  const auto text = header_base64.size() > kHeaderBytes ? std::nullopt : find_base64url(header_base64);
  if (!text) return fail(refused("its header is malformed"));
  RELAY_TRY(const json::object header, json::parse_object(*text, {.depth = 2, .bytes = kHeaderBytes}));
  if (json::find_string(header, "alg") != "EdDSA") return fail(refused("its algorithm is not EdDSA"));
  if (json::find_string(header, "typ") != type) return fail(refused("it was made for another purpose"));
  if (header.contains("crit")) return fail(refused("it demands an extension that is not supported"));
  const PublicKey* key = keys.find(json::find_string(header, "kid").value_or(""));
  if (!key) return fail(refused("it was made with a key that is not in the key directory"));
  return key;
}

Result<VerifiedJws> verify_parts(const KeyRing& keys, std::string_view type, const JwsParts& parts, std::string_view payload_base64) {
  RELAY_TRY(const PublicKey* key, key_for(keys, type, parts.header));
  const auto signature = find_base64url(parts.signature);
  auto payload = find_base64url(payload_base64);
  if (!signature || !payload) return fail(refused("it is not base64url"));
  const std::string message = fmt::format("{}.{}", parts.header, payload_base64);
  if (!key->verify(message, *signature)) return fail(refused("it does not match what was signed"));
  return VerifiedJws{std::move(*payload), key->fingerprint()};
}

}  // namespace

std::string sign_jws(const SigningKey& key, std::string_view type, std::string_view payload, JwsPayload form) {
  const std::string header =
      to_base64url(fmt::format(R"({{"alg":"EdDSA","kid":"{}","typ":"{}"}})", key.public_key().fingerprint(), type));
  const std::string body = to_base64url(payload);
  const std::string signature = to_base64url(key.sign(fmt::format("{}.{}", header, body)));
  return fmt::format("{}.{}.{}", header, form == JwsPayload::attached ? std::string_view(body) : std::string_view(), signature);
}

Result<VerifiedJws> verify_jws(const KeyRing& keys, std::string_view type, std::string_view jws, std::string_view payload) {
  const auto parts = find_parts(jws);
  if (!parts) return fail(refused("it is not a compact JWS"));
  const std::string body = to_base64url(payload);
  if (!parts->payload.empty() && parts->payload != body) return fail(refused("it is over something else"));
  return verify_parts(keys, type, *parts, body);
}

Result<VerifiedJws> verify_attached_jws(const KeyRing& keys, std::string_view type, std::string_view jws) {
  const auto parts = find_parts(jws);
  if (!parts) return fail(refused("it is not a compact JWS"));
  return verify_parts(keys, type, *parts, parts->payload);
}

}  // namespace relay::capsule
