#include "capsule/builder.h"

#include <gtest/gtest.h>

#include "base/digest.h"

namespace relay::capsule {
namespace {

class Builder : public ::testing::Test {
 protected:
  std::shared_ptr<const KeyRing> keys = std::make_shared<const KeyRing>(*KeyRing::in_memory());
  CapsuleBuilder builder{keys, {}};
  BuildRequest hello() {
    return {.code = "console.log('hi')",
            .argv = {"x"},
            .env = {{"A", "b"}},
            .policy = {{"limits", json::object{}}}};
  }
};

TEST_F(Builder, SealsPlainCode) {
  const auto capsule = builder.build(hello());
  ASSERT_TRUE(capsule) << capsule.error().message;
  EXPECT_TRUE(verify(*keys, *capsule));
  EXPECT_EQ(capsule->hash, sha256_hex(capsule->text));
  EXPECT_EQ(capsule->manifest.layers[0].sha256, sha256_hex("console.log('hi')"));
  EXPECT_EQ(*capsule->layers[0], "console.log('hi')");
  EXPECT_EQ(json::write(json::value(wire_layers(capsule->manifest))),
            R"([{"id":"code","bytes":17,"format":"raw","path":"/app/main.js"}])");
}

TEST_F(Builder, EqualRequestsGiveEqualCapsules) {
  const auto first = builder.build(hello());
  const auto second = builder.build(hello());
  EXPECT_EQ(first->hash, second->hash);
  EXPECT_EQ(first->jws, second->jws);
  BuildRequest other = hello();
  other.argv = {"y"};
  EXPECT_NE(builder.build(std::move(other))->hash, first->hash);
}

TEST_F(Builder, SignaturesStayRightWhenTheOldestAreForgotten) {
  for (std::size_t i = 0; i < limits::kSignaturesKept + 10; ++i)
    ASSERT_TRUE(builder.build({.code = std::to_string(i)}));
  for (const char* code : {"0", "5", "1033"}) EXPECT_TRUE(verify(*keys, *builder.build({.code = code})));
}

TEST_F(Builder, CarriesDependencies) {
  const auto zip = std::make_shared<const std::string>("not looked at here");
  BuildRequest request{
      .language = Language::py, .code = "import x", .deps = DepsLayer{zip, sha256_hex(*zip)}};
  const auto capsule = builder.build(std::move(request));
  ASSERT_TRUE(capsule);
  EXPECT_TRUE(verify(*keys, *capsule));
  EXPECT_EQ(capsule->layers[1], zip) << "shared, not copied";
  EXPECT_EQ(capsule->manifest.entry.path, "/app/main.py");
}

TEST_F(Builder, RefusesCodeOverTheLimit) {
  const auto capsule = builder.build({.code = std::string(limits::kCapsuleCodeBytes + 1, ' ')});
  ASSERT_FALSE(capsule);
  EXPECT_EQ(capsule.error().kind, ErrorKind::too_large);
  EXPECT_TRUE(builder.build({.code = std::string(limits::kCapsuleCodeBytes, ' ')}));
}

TEST_F(Builder, RefusesArgumentsOverTheManifestLimit) {
  EXPECT_FALSE(builder.build({.code = "1", .argv = {std::string(limits::kManifestBytes, 'x')}}));
}

TEST_F(Builder, VerifyNoticesEveryChange) {
  const Capsule good = *builder.build(hello());
  Capsule code = good;
  code.layers[0] = std::make_shared<const std::string>("console.log('ho')");
  EXPECT_FALSE(verify(*keys, code));
  Capsule text = good;
  text.text.replace(text.text.find("\"x\""), 3, "\"y\"");
  EXPECT_FALSE(verify(*keys, text));
  Capsule missing = good;
  missing.layers.clear();
  EXPECT_FALSE(verify(*keys, missing));
  EXPECT_FALSE(verify(*KeyRing::in_memory(), good)) << "signed by somebody else";
}

TEST_F(Builder, TheDocumentCarriesTextAndSignature) {
  BuildRequest request = hello();
  request.env = {{"trick", R"(,"sig":"x"})"}};
  request.policy = {{"network", {{"a", "b"}, {"sig", "fake"}}}};
  const Capsule capsule = *builder.build(std::move(request));
  const std::string document = capsule_document(capsule);
  EXPECT_TRUE(json::parse(document));
  const auto parts = split_document(document);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->text, capsule.text);
  EXPECT_EQ(parts->jws, capsule.jws);
  EXPECT_FALSE(split_document(R"({"a":1})"));
  EXPECT_FALSE(split_document(R"(,"sig":"})"));
}

}  // namespace
}  // namespace relay::capsule
