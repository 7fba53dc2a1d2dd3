#include "base/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/bytes.h"

namespace relay {
namespace {

// Looked up once: fetching the algorithm by name for each digest costs more than hashing a short record.
const EVP_MD* algorithm() {
  static const EVP_MD* const kAlgorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return kAlgorithm;
}

struct Free {
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};

// Making a context and wiping it away also costs more than hashing a short record: each thread keeps one.
std::unique_ptr<EVP_MD_CTX, Free>& spare() {
  thread_local std::unique_ptr<EVP_MD_CTX, Free> kept;
  return kept;
}

unsigned char* raw(Sha256& digest) {
  return reinterpret_cast<unsigned char*>(digest.data());
}

}  // namespace

Sha256Stream::Sha256Stream() : context_(spare() ? spare().release() : EVP_MD_CTX_new()) {
  EVP_DigestInit_ex2(context_.get(), algorithm(), nullptr);
}

void Sha256Stream::GiveBack::operator()(EVP_MD_CTX* context) const noexcept {
  spare().reset(context);
}

void Sha256Stream::update(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

Sha256 Sha256Stream::finish() {
  Sha256 digest;
  EVP_DigestFinal_ex(context_.get(), raw(digest), nullptr);
  return digest;
}

Sha256 sha256(std::string_view bytes) {
  Sha256Stream stream;
  stream.update(bytes);
  return stream.finish();
}

std::string sha256_hex(std::string_view bytes) {
  return to_hex(sha256(bytes));
}

Sha256 hmac_sha256(std::string_view key, std::string_view message) {
  Sha256 digest;
  unsigned length = 0;
  HMAC(algorithm(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(message.data()), message.size(), raw(digest), &length);
  return digest;
}

}  // namespace relay
