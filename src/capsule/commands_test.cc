#include "capsule/commands.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "archive/zip.h"
#include "base/digest.h"
#include "io/test_folder.h"

namespace relay::capsule {
namespace {

class Commands : public ::testing::Test {
 protected:
  io::TestFolder scratch;
  std::ostringstream out, err;
  CapsuleReadOptions made{scratch.path() / "made", scratch.path() / "keys"};

  int build() {
    std::ofstream(scratch.path() / "main.js") << "1 + 1";
    const auto zip = std::make_shared<const std::string>(
        *archive::write_zip({{"deps/index.json", "{}"}}, archive::ZipMethod::store));
    return run_capsule_build({.source = scratch.path() / "main.js",
                              .output = made.directory,
                              .keys = made.keys,
                              .deps = DepsLayer{zip, sha256_hex(*zip)}},
                             out, err);
  }
};

TEST_F(Commands, BuildsInspectsAndVerifies) {
  ASSERT_EQ(build(), 0) << err.str();
  EXPECT_EQ(out.str().size(), 65U) << "the capsule's name and a line break";
  EXPECT_EQ(run_capsule_verify(made, out, err), 0) << err.str();
  EXPECT_NE(out.str().find("signature  good, key "), std::string::npos);
  EXPECT_EQ(run_capsule_inspect(made, out, err), 0);
  EXPECT_NE(out.str().find("/deps/index.json  2 bytes"), std::string::npos) << out.str();
  EXPECT_TRUE(load_verified_capsule(made));
  EXPECT_EQ(build(), 2) << "what is there is not overwritten";
}

TEST_F(Commands, VerifyNoticesAChangedLayer) {
  ASSERT_EQ(build(), 0);
  std::ofstream(made.directory / "main.js") << "2 + 2";
  EXPECT_EQ(run_capsule_verify(made, out, err), 1);
  EXPECT_NE(err.str().find("layer 'code' is not the one that was signed"), std::string::npos);
  EXPECT_FALSE(load_verified_capsule(made));
}

TEST_F(Commands, VerifyNoticesAForeignKeyAndKeepsOldOnes) {
  ASSERT_EQ(build(), 0);
  ASSERT_TRUE(KeyRing::open(made.keys)->rotate());
  EXPECT_EQ(run_capsule_verify(made, out, err), 0) << "signed with the key before";
  CapsuleReadOptions stranger = made;
  stranger.keys = scratch.path() / "other";
  EXPECT_EQ(run_capsule_verify(stranger, out, err), 1);
}

TEST_F(Commands, SaysWhatIsWrongWithItsArguments) {
  EXPECT_EQ(run_capsule_build({.source = "main.rb", .output = made.directory, .keys = made.keys}, out, err),
            2);
  EXPECT_EQ(run_capsule_verify(made, out, err), 2);
  EXPECT_NE(err.str().find("name a directory with capsule.json in it"), std::string::npos);
}

}  // namespace
}  // namespace relay::capsule
