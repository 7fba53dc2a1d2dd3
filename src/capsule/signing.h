// Keys: how a harness knows that relay made a capsule. The only door to OpenSSL's key files.
//
// A key directory holds signing.key (PKCS#8 PEM, mode 0600), signing.pub (SPKI PEM) and old-<fingerprint>.pub
// for every key that was rotated away: capsules signed by those still verify, nothing new is signed by them.
// The private key is the truth; signing.pub is derived from it and written again when it is missing or
// differs. Keys are immutable after loading, so that signing and verifying may happen on any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ed25519.h"
#include "base/jws.h"
#include "base/result.h"

namespace relay::capsule {

class PublicKey {
 public:
  static Result<PublicKey> parse_pem(std::string_view pem);

  /// The first 16 hex digits of the SHA-256 of the PEM text: what people compare and JWS headers name.
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }
  [[nodiscard]] const std::string& pem() const { return pem_; }
  /// SubjectPublicKeyInfo, DER, base64: what the start frame carries.
  [[nodiscard]] const std::string& spki_base64() const { return spki_base64_; }
  [[nodiscard]] const Ed25519PublicKey& raw() const { return raw_; }

 private:
  friend class SigningKey;
  PublicKey() = default;
  static Result<PublicKey> from_openssl(void* evp_pkey);

  Ed25519PublicKey raw_{};
  std::string pem_;
  std::string fingerprint_;
  std::string spki_base64_;
};

class SigningKey {
 public:
  static Result<SigningKey> generate();
  static Result<SigningKey> parse_pem(std::string_view pkcs8_pem);

  [[nodiscard]] const PublicKey& public_key() const { return public_; }
  [[nodiscard]] std::string private_pem() const;
  [[nodiscard]] const Ed25519Signer& signer() const { return signer_; }

 private:
  SigningKey(std::shared_ptr<void> key, const Ed25519Signer& signer, PublicKey public_key)
      : key_(std::move(key)), signer_(signer), public_(std::move(public_key)) {}
  static Result<SigningKey> from_openssl(std::shared_ptr<void> key);

  std::shared_ptr<void> key_;  // OpenSSL's, for the PEM
  Ed25519Signer signer_;
  PublicKey public_;
};

class KeyRing {
 public:
  /// Makes the directory and the first key when there is none. A private key that others can read is refused.
  static Result<KeyRing> open(const std::filesystem::path& directory);
  /// A ring of one key that is on no disk: for tests and one-off runs.
  static Result<KeyRing> in_memory();

  [[nodiscard]] const SigningKey& current() const { return current_; }
  [[nodiscard]] const std::vector<PublicKey>& retired() const { return retired_; }
  /// True when open() has just made the key: the first start prints its fingerprint.
  [[nodiscard]] bool is_new() const { return is_new_; }

  /// The key that a JWS header names, if the ring has it.
  [[nodiscard]] const PublicKey* find(std::string_view fingerprint) const;

  /// Replaces the current key on disk and in this ring. Crash-safe: at every moment the directory holds a
  /// usable key, and the public half of the old one is kept before the new one takes its place.
  Result<void> rotate();

 private:
  explicit KeyRing(SigningKey current) : current_(std::move(current)) {}
  std::filesystem::path directory_;
  SigningKey current_;
  std::vector<PublicKey> retired_;
  bool is_new_ = false;
};

std::string sign_jws(const SigningKey& key, std::string_view type, std::string_view payload);

/// The key that signed, which is the ring's.
Result<const PublicKey*> verify_jws(const KeyRing& keys, std::string_view type, std::string_view jws,
                                    std::string_view payload);
}  // namespace relay::capsule
