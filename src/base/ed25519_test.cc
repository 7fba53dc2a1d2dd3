#include "base/ed25519.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace relay {
namespace {

template <std::size_t N>
std::array<unsigned char, N> octets(std::string_view hex) {
  std::array<unsigned char, N> bytes{};
  for (std::size_t i = 0; i < N; ++i)
    bytes[i] = static_cast<unsigned char>(std::stoi(std::string(hex.substr(2 * i, 2)), nullptr, 16));
  return bytes;
}

std::string hex(std::string_view bytes) {
  return to_hex(as_bytes(bytes));
}

struct Vector {
  std::string_view seed, key, message, signature;
};

// RFC 8032, section 7.1, tests 1 to 3.
constexpr Vector kVectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f"
     "0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "\x72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2ea"
     "eb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "\xaf\x82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e"
     "9716ed28dc027beceea1ec40a"},
};

TEST(Ed25519, SignsAndVerifiesAsTheStandardSays) {
  for (const Vector& vector : kVectors) {
    const Ed25519Signer signer(octets<32>(vector.seed));
    EXPECT_EQ(signer.public_key(), octets<32>(vector.key));
    const std::string signature = signer.sign(vector.message);
    EXPECT_EQ(hex(signature), vector.signature);
    EXPECT_TRUE(verify_ed25519(signer.public_key(), vector.message, signature));
    EXPECT_FALSE(verify_ed25519(signer.public_key(), std::string(vector.message) + "x", signature));
    EXPECT_FALSE(verify_ed25519(signer.public_key(), vector.message, signature.substr(1)));
    EXPECT_FALSE(verify_ed25519(octets<32>(vector.seed), vector.message, signature));
  }
}

TEST(Ed25519, AKeyOfZerosVerifiesNothing) {
  EXPECT_FALSE(verify_ed25519(Ed25519PublicKey{}, "m", std::string(64, '\0')));
}

TEST(Ed25519, FindsTheKeyInItsWrapping) {
  const std::string wrapped("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12);
  const std::string key(32, '\7');
  ASSERT_TRUE(find_ed25519_key(wrapped + key));
  EXPECT_EQ(find_ed25519_key(wrapped + key)->front(), 7);
  EXPECT_FALSE(find_ed25519_key(wrapped + key + "x"));
  EXPECT_FALSE(find_ed25519_key(key + wrapped));
  EXPECT_FALSE(find_ed25519_key(""));
}

}  // namespace
}  // namespace relay
