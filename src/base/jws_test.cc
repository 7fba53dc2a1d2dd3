#include "base/jws.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace relay {
namespace {

constexpr std::string_view kHeader = R"({"alg":"EdDSA","kid":"ann","typ":"t"})";

class Jws : public ::testing::Test {
 protected:
  bool verifies(std::string_view jws, std::string_view payload, std::string_view type = "t") {
    const auto find = [this](std::string_view kid) { return kid == "ann" ? &key : nullptr; };
    return verify_jws(find, type, jws, payload).has_value();
  }
  // Signed with the right key, whatever the header says.
  std::string forge(std::string_view header, std::string_view payload) {
    const std::string message = to_base64url(header) + "." + to_base64url(payload);
    return message + "." + to_base64url(signer.sign(message));
  }

  Ed25519Signer signer{{1, 2, 3}};
  Ed25519PublicKey key = signer.public_key();
};

TEST_F(Jws, VerifiesAttachedAndDetached) {
  for (const std::string& jws :
       {forge(kHeader, "the payload"), sign_jws({signer, "ann"}, "t", "the payload")}) {
    EXPECT_TRUE(verifies(jws, "the payload"));
    EXPECT_FALSE(verifies(jws, "the payloae"));
    EXPECT_FALSE(verifies(jws, "the payload", "other")) << "made for another purpose";
  }
}

TEST_F(Jws, RefusesEveryChangedByte) {
  const std::string jws = forge(kHeader, "p");
  for (std::size_t i = 0; i < jws.size(); ++i) {
    std::string changed = jws;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(verifies(changed, "p")) << i;
    EXPECT_FALSE(verifies(jws.substr(0, i), "p")) << i;
  }
}

TEST_F(Jws, RefusesOtherAlgorithmsKeysAndDemands) {
  ASSERT_TRUE(verifies(forge(kHeader, "p"), "p"));
  for (const char* header :
       {R"({"alg":"none","kid":"ann","typ":"t"})", R"({"alg":"HS256","kid":"ann","typ":"t"})",
        R"({"alg":"EdDSA","crit":["x"],"kid":"ann","typ":"t"})",
        R"({"alg":"EdDSA","b64":false,"kid":"ann","typ":"t"})", R"({"alg":"EdDSA","kid":"bob","typ":"t"})",
        R"({"alg":"EdDSA","typ":"t"})", R"({"alg":"EdDSA","kid":"ann"})", R"(["EdDSA"])", "", "{"})
    EXPECT_FALSE(verifies(forge(header, "p"), "p")) << header;
}

}  // namespace
}  // namespace relay
