#include "capsule/signing.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/disk.h"
#include "io/test_folder.h"

namespace relay::capsule {
namespace {

TEST(Signing, KeysAreMadeOnceAndKeptPrivate) {
  const io::TestFolder scratch;
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
  const io::TestFolder scratch;
  const auto first = KeyRing::open(scratch.path());
  ASSERT_TRUE(first);
  ASSERT_TRUE(replace_file(scratch.path() / "signing.pub", SigningKey::generate()->public_key().pem()));
  const auto second = KeyRing::open(scratch.path());
  ASSERT_TRUE(second);
  EXPECT_EQ(*load_file(scratch.path() / "signing.pub", 4096), first->current().public_key().pem());
}

TEST(Signing, APrivateKeyThatOthersCanReadIsRefused) {
  const io::TestFolder scratch;
  ASSERT_TRUE(KeyRing::open(scratch.path()));
  ASSERT_EQ(::chmod((scratch.path() / "signing.key").c_str(), 0640), 0);
  const auto ring = KeyRing::open(scratch.path());
  ASSERT_FALSE(ring);
  EXPECT_EQ(ring.error().kind, ErrorKind::denied);
}

TEST(Signing, AFileThatIsNoKeyIsAnErrorAndNotReplaced) {
  const io::TestFolder scratch;
  ASSERT_TRUE(replace_file(scratch.path() / "signing.key", "hello"));
  EXPECT_FALSE(KeyRing::open(scratch.path()));
  EXPECT_EQ(*load_file(scratch.path() / "signing.key", 100), "hello");
}

TEST(Signing, RotatedKeysStillVerify) {
  const io::TestFolder scratch;
  auto ring = KeyRing::open(scratch.path());
  ASSERT_TRUE(ring);
  const std::string old = sign_jws(ring->current(), "t", "payload");
  ASSERT_TRUE(ring->rotate());
  const std::string fresh = sign_jws(ring->current(), "t", "payload");
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
  EXPECT_FALSE(verify_jws(*KeyRing::open(scratch.path()), "t", old, "payload"))
      << "a key taken away verifies nothing";
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
  EXPECT_TRUE(verify_ed25519(key->public_key().raw(), "m", again->signer().sign("m")));
  EXPECT_EQ(find_ed25519_key(*der), key->public_key().raw());
}

}  // namespace
}  // namespace relay::capsule
