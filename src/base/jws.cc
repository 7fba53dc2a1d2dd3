#include "base/jws.h"

#include <optional>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/json.h"

namespace relay {
namespace {

constexpr std::size_t kHeaderBytes = 512;

struct JwsParts {
  std::string_view header, payload, signature;  // still base64url
};

Error refused(std::string_view why) {
  return invalid(fmt::format("the signature is not valid: {}", why));
}

Result<JwsParts> split(std::string_view jws) {
  const std::size_t first = jws.find('.');
  const std::size_t second = first == std::string_view::npos ? first : jws.find('.', first + 1);
  if (second == std::string_view::npos || jws.find('.', second + 1) != std::string_view::npos)
    return fail(refused("it is not a compact JWS"));
  return JwsParts{jws.substr(0, first), jws.substr(first + 1, second - first - 1), jws.substr(second + 1)};
}

Result<const Ed25519PublicKey*> key_for(const FindJwsKey& find_key, std::string_view type,
                                        std::string_view header_base64) {
  const auto text = header_base64.size() > kHeaderBytes ? std::nullopt : find_base64url(header_base64);
  if (!text) return fail(refused("its header is malformed"));
  RELAY_TRY(const json::object header, json::parse_object(*text, {.depth = 2, .bytes = kHeaderBytes}));
  if (json::find_string(header, "alg") != "EdDSA") return fail(refused("its algorithm is not EdDSA"));
  if (json::find_string(header, "typ") != type) return fail(refused("it was made for another purpose"));
  if (header.contains("crit") || header.contains("b64"))
    return fail(refused("it demands an extension that is not supported"));
  const Ed25519PublicKey* key = find_key(json::find_string(header, "kid").value_or(""));
  if (!key) return fail(refused("it was made with a key that is not in the key directory"));
  return key;
}

}  // namespace

std::string sign_jws(const JwsSigner& signer, std::string_view type, std::string_view payload) {
  const std::string header =
      to_base64url(fmt::format(R"({{"alg":"EdDSA","kid":"{}","typ":"{}"}})", signer.kid, type));
  const std::string signature = signer.key.sign(fmt::format("{}.{}", header, to_base64url(payload)));
  return fmt::format("{}..{}", header, to_base64url(signature));
}

Result<void> verify_jws(const FindJwsKey& find_key, std::string_view type, std::string_view jws,
                        std::string_view payload) {
  RELAY_TRY(const JwsParts parts, split(jws));
  const std::string body = to_base64url(payload);
  if (!parts.payload.empty() && parts.payload != body) return fail(refused("it is over something else"));
  RELAY_TRY(const Ed25519PublicKey* key, key_for(find_key, type, parts.header));
  const auto signature = find_base64url(parts.signature);
  if (!signature) return fail(refused("it is not base64url"));
  if (!verify_ed25519(*key, fmt::format("{}.{}", parts.header, body), *signature))
    return fail(refused("it does not match what was signed"));
  return {};
}

}  // namespace relay
