#include "signature.h"

#include <memory>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/digest.h"

namespace relay::zygote {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

// SubjectPublicKeyInfo of an Ed25519 key is this and the 32 bytes of the key (RFC 8410); OpenSSL's general decoder would
// take longer than the verification.
constexpr std::string_view kSpkiPrefix("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12);
constexpr std::size_t kKeyBytes = 32;

const unsigned char* as_octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

bool verify_ed25519(std::string_view spki_der, std::string_view signature, std::string_view message) {
  if (!spki_der.starts_with(kSpkiPrefix) || spki_der.size() != kSpkiPrefix.size() + kKeyBytes) return false;
  const unsigned char* const raw = as_octets(spki_der) + kSpkiPrefix.size();
  const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw, kKeyBytes), EVP_PKEY_free);
  if (!key) return false;
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (!context || EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1) return false;
  return EVP_DigestVerify(context.get(), as_octets(signature), signature.size(), as_octets(message), message.size()) == 1;
}

void warm_up_crypto() {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  // The public key of RFC 8032's first test, and a signature that is wrong: both paths get their code and tables loaded.
  constexpr unsigned char kKey[] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00, 0xd7, 0x5a, 0x98,
                                    0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e, 0xe1,
                                    0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a};
  const std::string_view key(reinterpret_cast<const char*>(kKey), sizeof kKey);
  const std::string wrong(64, '\1');
  verify_ed25519(key, wrong, "warm");
  sha256_hex("warm");
}

}  // namespace relay::zygote
