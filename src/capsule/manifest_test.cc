#include "capsule/manifest.h"

#include <gtest/gtest.h>

#include "base/digest.h"

namespace relay::capsule {
namespace {

Manifest sample() {
  Manifest manifest;
  manifest.runtime_id = "quickjs@3.6.2";
  manifest.entry = {"/app/main.js", {"a", "ü\n\"x\""}, {{"HOME", "/"}, {"A", ""}}, "/tmp"};
  manifest.layers = {{"code", LayerFormat::raw, "main.js", "/app/main.js", sha256_hex("1"), 1},
                     {"deps", LayerFormat::zip, "fs.deps.zip", "", sha256_hex("2"), 22}};
  manifest.policy = {{"network", {{"allowedDomains", {"*.example.org"}}, {"maxRedirects", 5}}},
                     {"limits", {{"timeoutMs", 60000}}}};
  return manifest;
}

TEST(Manifest, HasOneCanonicalText) {
  EXPECT_EQ(
      canonical_text(sample()),
      R"({"entry":{"argv":["a","ü\n\"x\""],"cwd":"/tmp","env":{"A":"","HOME":"/"},"path":"/app/main.js"},)"
      R"("fsLayers":[{"bytes":1,"format":"raw","id":"code","mount":"/app/main.js","path":"main.js",)"
      R"("sha256":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"},)"
      R"({"bytes":22,"format":"zip","id":"deps","path":"fs.deps.zip",)"
      R"("sha256":"d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"}],"language":"js",)"
      R"("policy":{"limits":{"timeoutMs":60000},"network":{"allowedDomains":["*.example.org"],"maxRedirects":5}},)"
      R"("runtime":{"id":"quickjs@3.6.2"},"version":"1"})");
}

TEST(Manifest, ReadsWhatItWrites) {
  const auto parsed = parse_manifest(canonical_text(sample()));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, sample());
}

TEST(Manifest, RefusesEveryOtherSpelling) {
  const std::string text = canonical_text(sample());
  EXPECT_FALSE(parse_manifest(" " + text));
  EXPECT_FALSE(parse_manifest(text + "\n"));
  std::string twice = text;
  EXPECT_FALSE(parse_manifest(twice.insert(1, R"("version":"0",)"))) << "a member that occurs twice";
  std::string unknown = text;
  unknown.insert(unknown.size() - 1, R"(,"zzz":1)");
  EXPECT_FALSE(parse_manifest(unknown)) << "an unknown member";
  std::string escaped = text;
  escaped.replace(escaped.find("main.js"), 1, R"(\u006d)");
  EXPECT_FALSE(parse_manifest(escaped)) << "a letter written as an escape";
}

TEST(Manifest, RefusesEveryTruncation) {
  const std::string text = canonical_text(sample());
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(parse_manifest(text.substr(0, length)));
}

TEST(Manifest, RefusesWhatBreaksARule) {
  const std::vector<std::pair<std::string, std::function<void(Manifest&)>>> breaks = {
      {"entry leaves the tree", [](Manifest& m) { m.entry.path = "/app/../main.js"; }},
      {"relative entry", [](Manifest& m) { m.entry.path = "app/main.js"; }},
      {"entry is the root", [](Manifest& m) { m.entry.path = "/"; }},
      {"cwd with an empty component", [](Manifest& m) { m.entry.cwd = "/tmp//x"; }},
      {"cwd ends with a slash", [](Manifest& m) { m.entry.cwd = "/tmp/"; }},
      {"NUL in an argument", [](Manifest& m) { m.entry.argv = {std::string("a\0b", 3)}; }},
      {"'=' in a variable's name", [](Manifest& m) { m.entry.env = {{"A=B", "c"}}; }},
      {"empty variable name", [](Manifest& m) { m.entry.env = {{"", "c"}}; }},
      {"too many arguments", [](Manifest& m) { m.entry.argv.assign(limits::kManifestArgs + 1, "x"); }},
      {"layer path with a slash", [](Manifest& m) { m.layers[0].path = "../main.js"; }},
      {"hidden layer path", [](Manifest& m) { m.layers[0].path = ".main.js"; }},
      {"layer named like the manifest", [](Manifest& m) { m.layers[0].path = "capsule.json"; }},
      {"two layers, one file", [](Manifest& m) { m.layers[1].path = "main.js"; }},
      {"upper-case hash", [](Manifest& m) { m.layers[0].sha256[1] = 'B'; }},
      {"short hash", [](Manifest& m) { m.layers[0].sha256.pop_back(); }},
      {"code over its limit", [](Manifest& m) { m.layers[0].bytes = limits::kCapsuleCodeBytes + 1; }},
      {"deps over their limit", [](Manifest& m) { m.layers[1].bytes = limits::kCapsuleDepsBytes + 1; }},
      {"no layer", [](Manifest& m) { m.layers.clear(); }},
      {"deps without code", [](Manifest& m) { m.layers.erase(m.layers.begin()); }},
      {"two code layers", [](Manifest& m) { m.layers[1].id = "code"; }},
      {"third layer", [](Manifest& m) { m.layers.push_back(m.layers[1]); }},
      {"raw without a mount", [](Manifest& m) { m.layers[0].mount.clear(); }},
      {"odd runtime id", [](Manifest& m) { m.runtime_id = "quickjs/../x"; }},
      {"policy block that is no object", [](Manifest& m) { m.policy["limits"] = 3; }},
  };
  ASSERT_TRUE(validate(sample()));
  for (const auto& [name, break_it] : breaks) {
    Manifest manifest = sample();
    break_it(manifest);
    EXPECT_FALSE(validate(manifest)) << name;
    EXPECT_FALSE(parse_manifest(canonical_text(manifest))) << name;
  }
}

TEST(Manifest, KnowsGuestPaths) {
  for (const char* good : {"/", "/a", "/a/b.c", "/..a", "/ü"}) EXPECT_TRUE(is_guest_path(good)) << good;
  for (const char* bad : {"", "a", "//", "/a/", "/.", "/..", "/a/../b", "/a//b", "/\xff"})
    EXPECT_FALSE(is_guest_path(bad)) << bad;
  EXPECT_FALSE(is_guest_path("/" + std::string(limits::kManifestPathBytes, 'a')));
}

}  // namespace
}  // namespace relay::capsule
