#include "capsule/signing.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "base/bytes.h"
#include "base/digest.h"

namespace relay::capsule {
namespace {

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeKeyContext {
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, FreeKeyContext>;

EVP_PKEY* openssl(const std::shared_ptr<void>& key) {
  return static_cast<EVP_PKEY*>(key.get());
}
std::shared_ptr<void> own(EVP_PKEY* key) {
  return {key, [](void* held) { EVP_PKEY_free(static_cast<EVP_PKEY*>(held)); }};
}
Bio reading(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}
std::string contents(const Bio& bio) {
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(length)};
}

Result<void> check_kind(EVP_PKEY* key) {
  if (!key || EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519)
    return fail(invalid("not an Ed25519 key in PEM form"));
  return {};
}

std::string spki_der(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int length = i2d_PUBKEY(key, &der);
  std::string bytes(reinterpret_cast<char*>(der), static_cast<std::size_t>(std::max(length, 0)));
  OPENSSL_free(der);
  return bytes;
}

// A password callback that has none: without it OpenSSL would ask on the terminal.
int no_password(char*, int, int, void*) {
  return 0;
}

}  // namespace

Result<PublicKey> PublicKey::from_openssl(void* evp_pkey) {
  auto* key = static_cast<EVP_PKEY*>(evp_pkey);
  PublicKey result;
  std::size_t length = result.raw_.size();
  if (EVP_PKEY_get_raw_public_key(key, result.raw_.data(), &length) != 1)
    return fail(internal("cannot read a public key"));
  const Bio out(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PUBKEY(out.get(), key) != 1) return fail(internal("cannot write a public key"));
  result.pem_ = contents(out);
  result.fingerprint_ = sha256_hex(result.pem_).substr(0, 16);
  result.spki_base64_ = to_base64(spki_der(key));
  return result;
}

Result<PublicKey> PublicKey::parse_pem(std::string_view pem) {
  const std::shared_ptr<void> key =
      own(PEM_read_bio_PUBKEY(reading(pem).get(), nullptr, no_password, nullptr));
  RELAY_CHECK(check_kind(openssl(key)));
  return from_openssl(key.get());
}

Result<SigningKey> SigningKey::from_openssl(std::shared_ptr<void> key) {
  std::array<unsigned char, Ed25519Signer::kSeedBytes> seed{};
  std::size_t length = seed.size();
  if (EVP_PKEY_get_raw_private_key(openssl(key), seed.data(), &length) != 1)
    return fail(internal("cannot read a private key"));
  RELAY_TRY(PublicKey public_key, PublicKey::from_openssl(key.get()));
  return SigningKey(std::move(key), Ed25519Signer(seed), std::move(public_key));
}

Result<SigningKey> SigningKey::generate() {
  const KeyContext context(EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nullptr));
  EVP_PKEY* made = nullptr;
  if (EVP_PKEY_keygen_init(context.get()) != 1 || EVP_PKEY_keygen(context.get(), &made) != 1)
    return fail(internal("OpenSSL cannot make an Ed25519 key"));
  return from_openssl(own(made));
}

Result<SigningKey> SigningKey::parse_pem(std::string_view pkcs8_pem) {
  std::shared_ptr<void> key =
      own(PEM_read_bio_PrivateKey(reading(pkcs8_pem).get(), nullptr, no_password, nullptr));
  RELAY_CHECK(check_kind(openssl(key)));
  return from_openssl(std::move(key));
}

std::string SigningKey::private_pem() const {
  const Bio out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(out.get(), openssl(key_), nullptr, nullptr, 0, nullptr, nullptr);
  return contents(out);
}

}  // namespace relay::capsule
