#include "capsule/signing.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/bytes.h"
#include "base/digest.h"
#include "capsule/disk.h"
#include "capsule/scratch.h"

namespace relay::capsule {
namespace {

TEST(Signing, KeysAreMadeOnceAndKeptPrivate) {
  const Scratch scratch;
  const auto first = KeyRing::open(scratch.path() / "deep" / "keys");
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->is_new());
  struct stat status{};
  ASSERT_EQ(::stat((scratch.path() / "deep/keys/signing.key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  const auto pem = load_file(scratch.path() / "deep/keys/signing.pub", 4096);
  ASSERT_TRUE(pem);
  EXPECT_EQ(sha256_hex(*pem).substr(0, 16), first->current().public_key().fingerprint());
  const auto second = KeyRing::open(scratch.path() / "deep" / "keys");
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->is_new());
  EXPECT_EQ(second->current().public_key().fingerprint(), first->current().public_key().fingerprint());
}

TEST(Signing, ALostOrForeignPublicFileIsWrittenAgain) {
  const Scratch scratch;
  const auto first = KeyRing::open(scratch.path());
  ASSERT_TRUE(first);
  ASSERT_TRUE(replace_file(scratch.path() / "signing.pub", SigningKey::generate()->public_key().pem()));
  const auto second = KeyRing::open(scratch.path());
  ASSERT_TRUE(second);
  EXPECT_EQ(*load_file(scratch.path() / "signing.pub", 4096), first->current().public_key().pem());
}

TEST(Signing, APrivateKeyThatOthersCanReadIsRefused) {
  const Scratch scratch;
  ASSERT_TRUE(KeyRing::open(scratch.path()));
  ASSERT_EQ(::chmod((scratch.path() / "signing.key").c_str(), 0640), 0);
  const auto ring = KeyRing::open(scratch.path());
  ASSERT_FALSE(ring);
  EXPECT_EQ(ring.error().kind, ErrorKind::denied);
}

TEST(Signing, AFileThatIsNoKeyIsAnErrorAndNotReplaced) {
  const Scratch scratch;
  ASSERT_TRUE(replace_file(scratch.path() / "signing.key", "hello"));
  EXPECT_FALSE(KeyRing::open(scratch.path()));
  EXPECT_EQ(*load_file(scratch.path() / "signing.key", 100), "hello");
}

TEST(Signing, RotatedKeysStillVerify) {
  const Scratch scratch;
  auto ring = KeyRing::open(scratch.path());
  ASSERT_TRUE(ring);
  const std::string old = sign_jws(ring->current(), "t", "payload", JwsPayload::detached);
  ASSERT_TRUE(ring->rotate());
  const std::string fresh = sign_jws(ring->current(), "t", "payload", JwsPayload::detached);
  EXPECT_NE(old, fresh);
  const auto again = KeyRing::open(scratch.path());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->current().public_key().fingerprint(), ring->current().public_key().fingerprint());
  for (const std::string& jws : {old, fresh}) {
    EXPECT_TRUE(verify_jws(*ring, "t", jws, "payload"));
    EXPECT_TRUE(verify_jws(*again, "t", jws, "payload"));
  }
  ASSERT_EQ(again->retired().size(), 1U);
  std::filesystem::remove(scratch.path() / ("old-" + again->retired()[0].fingerprint() + ".pub"));
  EXPECT_FALSE(verify_jws(*KeyRing::open(scratch.path()), "t", old, "payload")) << "a key taken away verifies nothing";
}

class Jws : public ::testing::Test {
 protected:
  KeyRing ring = *KeyRing::in_memory();
  std::string forge(std::string_view header, std::string_view payload) {
    const std::string message = to_base64url(header) + "." + to_base64url(payload);
    return message + "." + to_base64url(ring.current().sign(message));
  }
  std::string kid() { return ring.current().public_key().fingerprint(); }
};

TEST_F(Jws, VerifiesAttachedAndDetached) {
  for (const auto form : {JwsPayload::attached, JwsPayload::detached}) {
    const std::string jws = sign_jws(ring.current(), "t", "the payload", form);
    const auto verified = verify_jws(ring, "t", jws, "the payload");
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_EQ(verified->payload, "the payload");
    EXPECT_EQ(verified->fingerprint, kid());
    EXPECT_FALSE(verify_jws(ring, "t", jws, "the payloae"));
    EXPECT_FALSE(verify_jws(ring, "other", jws, "the payload")) << "made for another purpose";
  }
  EXPECT_EQ(verify_attached_jws(ring, "t", sign_jws(ring.current(), "t", "x", JwsPayload::attached))->payload, "x");
  EXPECT_FALSE(verify_attached_jws(ring, "t", sign_jws(ring.current(), "t", "x", JwsPayload::detached)));
}

TEST_F(Jws, RefusesEveryChangedByte) {
  const std::string jws = sign_jws(ring.current(), "t", "p", JwsPayload::attached);
  for (std::size_t i = 0; i < jws.size(); ++i) {
    std::string changed = jws;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(verify_jws(ring, "t", changed, "p")) << i;
    EXPECT_FALSE(verify_jws(ring, "t", jws.substr(0, i), "p")) << i;
  }
}

TEST_F(Jws, RefusesOtherAlgorithmsAndDemands) {
  ASSERT_TRUE(verify_jws(ring, "t", forge(R"({"alg":"EdDSA","kid":")" + kid() + R"(","typ":"t"})", "p"), "p"));
  EXPECT_FALSE(verify_jws(ring, "t", forge(R"({"alg":"none","kid":")" + kid() + R"(","typ":"t"})", "p"), "p"));
  EXPECT_FALSE(verify_jws(ring, "t", forge(R"({"alg":"HS256","kid":")" + kid() + R"(","typ":"t"})", "p"), "p"));
  EXPECT_FALSE(verify_jws(ring, "t", forge(R"({"alg":"EdDSA","crit":["x"],"kid":")" + kid() + R"(","typ":"t"})", "p"), "p"));
  EXPECT_FALSE(verify_jws(ring, "t", forge(R"({"alg":"EdDSA","kid":"0123456789abcdef","typ":"t"})", "p"), "p"));
  EXPECT_FALSE(verify_jws(ring, "t", forge(R"({"alg":"EdDSA","typ":"t"})", "p"), "p"));
}

TEST(Signing, WritesThePemFormsThatOtherProgramsRead) {
  const auto key = SigningKey::generate();
  ASSERT_TRUE(key);
  EXPECT_TRUE(key->private_pem().starts_with("-----BEGIN PRIVATE KEY-----\n"));
  EXPECT_TRUE(key->public_key().pem().starts_with("-----BEGIN PUBLIC KEY-----\n"));
  const auto der = find_base64(key->public_key().spki_base64());
  ASSERT_TRUE(der);
  EXPECT_EQ(der->size(), 44U);
  const auto again = SigningKey::parse_pem(key->private_pem());
  ASSERT_TRUE(again);
  EXPECT_TRUE(key->public_key().verify("m", again->sign("m")));
}

}  // namespace
}  // namespace relay::capsule
