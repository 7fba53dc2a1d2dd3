#include "capsule/file_answer.h"

#include <gtest/gtest.h>

#include "base/digest.h"
#include "capsule/builder.h"
#include "io/test_folder.h"

namespace relay::capsule {
namespace {

class Answer : public ::testing::Test {
 protected:
  io::TestFolder scratch;
  FakeClock clock;
  std::unique_ptr<CapsuleStore> store = *CapsuleStore::open(scratch.path(), clock);
  Capsule capsule = *CapsuleBuilder(std::make_shared<const KeyRing>(*KeyRing::in_memory()), {})
                         .build({.code = "0123456789"});
  void SetUp() override { ASSERT_TRUE(store->save(capsule)); }
  FileAnswer ask(std::string_view range, std::string_view if_none_match = "",
                 std::string_view if_range = "") {
    return answer_file(*store, {capsule.hash, "main.js", range, if_none_match, if_range});
  }
  static std::string header(const FileAnswer& answer, std::string_view name) {
    for (const auto& [key, value] : answer.headers)
      if (key == name) return value;
    return "";
  }
};

TEST_F(Answer, GivesTheWholeOrAPart) {
  EXPECT_EQ(ask("").status, 200);
  EXPECT_EQ(ask("").body, "0123456789");
  EXPECT_EQ(ask("bytes=2-4").status, 206);
  EXPECT_EQ(ask("bytes=2-4").body, "234");
  EXPECT_EQ(header(ask("bytes=2-4"), "Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(ask("bytes=-3").body, "789");
  EXPECT_EQ(ask("bytes=7-").body, "789");
  EXPECT_EQ(ask("bytes=10-").status, 416);
  EXPECT_EQ(header(ask("bytes=10-"), "Content-Range"), "bytes */10");
}

TEST_F(Answer, KnowsWhatTheClientHas) {
  const std::string etag = "\"" + sha256_hex("0123456789") + "\"";
  EXPECT_EQ(ask("", etag).status, 304);
  EXPECT_EQ(ask("", "\"x\", W/" + etag).status, 304);
  EXPECT_EQ(ask("", "\"x\"").status, 200);
  EXPECT_EQ(ask("bytes=1-2", "", etag).status, 206);
  EXPECT_EQ(ask("bytes=1-2", "", "\"old\"").status, 200) << "the part would not fit what the client has";
}

TEST_F(Answer, NamesFromOutsideAreNotPaths) {
  EXPECT_EQ(answer_file(*store, {"..", "main.js"}).status, 404);
  EXPECT_EQ(answer_file(*store, {capsule.hash, "../../x"}).status, 404);
  EXPECT_EQ(answer_file(*store, {sha256_hex("other"), "main.js"}).status, 404);
}

}  // namespace
}  // namespace relay::capsule
