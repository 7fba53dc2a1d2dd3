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

unsigned char* raw(Sha256& digest) {
  return reinterpret_cast<unsigned char*>(digest.data());
}

}  // namespace

struct Sha256Stream::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex2(state_->context, algorithm(), nullptr);
}
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::update(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

Sha256 Sha256Stream::finish() {
  Sha256 digest;
  EVP_DigestFinal_ex(state_->context, raw(digest), nullptr);
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
  HMAC(algorithm(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(message.data()),
       message.size(), raw(digest), &length);
  return digest;
}

}  // namespace relay
