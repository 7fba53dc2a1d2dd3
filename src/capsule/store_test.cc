#include "capsule/store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/digest.h"
#include "base/disk.h"
#include "capsule/builder.h"
#include "capsule/shelf.h"
#include "io/test_folder.h"

namespace relay::capsule {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Store : public ::testing::Test {
 protected:
  io::TestFolder scratch;
  fs::path root = scratch.path() / "capsules";
  FakeClock clock;
  std::shared_ptr<const KeyRing> keys = std::make_shared<const KeyRing>(*KeyRing::in_memory());
  CapsuleBuilder builder{keys, {}};

  std::unique_ptr<CapsuleStore> open(StoreLimits limits = {}) {
    return *CapsuleStore::open(root, clock, limits);
  }
  Capsule plain(std::string code) { return *builder.build({.code = std::move(code)}); }
  Capsule with_deps(std::string code, const std::string& deps = "deps bytes") {
    const auto zip = std::make_shared<const std::string>(deps);
    return *builder.build({.code = std::move(code), .deps = DepsLayer{zip, sha256_hex(deps)}});
  }
};

TEST_F(Store, KeepsCapsulesAcrossRestarts) {
  const Capsule capsule = with_deps("1");
  ASSERT_TRUE(open()->save(capsule));
  const auto loaded = open()->load(capsule.hash);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->text, capsule.text);
  EXPECT_TRUE(verify(*keys, *loaded));
}

TEST_F(Store, SaysWhenACapsuleIsNotThere) {
  const auto missing = open()->load(sha256_hex("x"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found);
  EXPECT_FALSE(open()->load("../../etc"));
}

TEST_F(Store, ConcurrentWritersOfOneHashWriteOnce) {
  const auto store = open();
  const Capsule capsule = with_deps("1");
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) writers.emplace_back([&] { EXPECT_TRUE(store->save(capsule)); });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(store->written(), 1U);
  EXPECT_TRUE(store->load(capsule.hash));
}

TEST_F(Store, TwoProgramsMayShareADirectory) {
  const auto one = open();
  const auto two = open();
  const Capsule capsule = plain("1");
  ASSERT_TRUE(one->save(capsule));
  ASSERT_TRUE(two->save(capsule));
  EXPECT_EQ(two->written(), 0U) << "found it sound";
}

TEST_F(Store, DamageIsNoticedAndRepaired) {
  const Capsule capsule = with_deps("console.log(1)");
  for (const char* file : {"capsule.json", "main.js", "fs.deps.zip"}) {
    ASSERT_TRUE(open()->save(capsule));
    const fs::path path = root / capsule.hash / file;
    std::string bytes = *load_file(path, 1 << 20);
    bytes[bytes.size() / 2] ^= 1;
    fs::remove(path);
    ASSERT_TRUE(write_new_file(path, bytes));
    EXPECT_FALSE(open()->load(capsule.hash)) << file;
    EXPECT_FALSE(fs::exists(root / capsule.hash)) << file << ": damaged entries go away";
    ASSERT_TRUE(open()->save(capsule));
    EXPECT_TRUE(open()->load(capsule.hash)) << file;
  }
}

TEST_F(Store, SavingOverADamagedEntryReplacesIt) {
  const Capsule capsule = plain("1");
  ASSERT_TRUE(open()->save(capsule));
  fs::remove(root / capsule.hash / "main.js");
  ASSERT_TRUE(open()->save(capsule));
  EXPECT_TRUE(open()->load(capsule.hash));
}

TEST_F(Store, ARottenSharedLayerIsNotLinkedAgain) {
  ASSERT_TRUE(open()->save(with_deps("1")));
  const fs::path shared = root / ".layers" / sha256_hex("deps bytes");
  ASSERT_TRUE(replace_file(shared, "DEPS bytes"));
  const Capsule second = with_deps("2");
  ASSERT_TRUE(open()->save(second));
  EXPECT_TRUE(open()->load(second.hash));
}

TEST_F(Store, DependenciesAreOnDiskOnce) {
  const auto store = open();
  const Capsule one = with_deps("1");
  const Capsule two = with_deps("2");
  ASSERT_TRUE(store->save(one));
  ASSERT_TRUE(store->save(two));
  EXPECT_TRUE(fs::equivalent(root / one.hash / "fs.deps.zip", root / two.hash / "fs.deps.zip"));
}

TEST_F(Store, WhatACrashLeftIsSweptWhenItIsOld) {
  open();
  fs::create_directories(root / ".tmp-1" / "x");
  set_used(root / ".tmp-1", clock.wall());
  open();
  EXPECT_TRUE(fs::exists(root / ".tmp-1")) << "its maker may still be at work";
  clock.advance(2h);
  open();
  EXPECT_FALSE(fs::exists(root / ".tmp-1"));
}

TEST_F(Store, OldCapsulesGo) {
  const auto store = open();
  const Capsule old = plain("old");
  const Capsule used = plain("used");
  ASSERT_TRUE(store->save(old));
  ASSERT_TRUE(store->save(used));
  clock.advance(6 * 24h);
  ASSERT_TRUE(store->load(used.hash));
  clock.advance(2 * 24h);
  const auto report = store->prune();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->removed, 1U);
  EXPECT_FALSE(store->load(old.hash));
  EXPECT_TRUE(store->load(used.hash));
}

TEST_F(Store, LeastRecentlyUsedGoFirstWhenFull) {
  const auto store = open({.bytes = 100'000});
  std::vector<Capsule> capsules;
  for (char c = 'a'; c < 'g'; ++c) {
    capsules.push_back(plain(std::string(30'000, c)));
    ASSERT_TRUE(store->save(capsules.back()));
    clock.advance(1h);
  }
  const auto report = store->prune();
  EXPECT_LE(report->bytes_left, 100'000U);
  EXPECT_TRUE(store->load(capsules.back().hash));
  EXPECT_FALSE(store->load(capsules.front().hash));
}

TEST_F(Store, LayersThatNoCapsuleUsesGoToo) {
  const auto store = open({.kept = 1h});
  ASSERT_TRUE(store->save(with_deps("1")));
  clock.advance(2h);
  ASSERT_TRUE(store->prune());
  EXPECT_TRUE(fs::is_empty(root / ".layers"));
}

TEST_F(Store, ServesFilesByName) {
  const auto store = open();
  const Capsule capsule = with_deps("code");
  ASSERT_TRUE(store->save(capsule));
  const auto code = store->open_file(capsule.hash, "main.js");
  ASSERT_TRUE(code);
  EXPECT_EQ(code->bytes, 4U);
  EXPECT_EQ(code->etag, "\"" + sha256_hex("code") + "\"");
  const auto document = store->open_file(capsule.hash, "capsule.json");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->etag, "\"" + capsule.hash + "\"");
  EXPECT_EQ(document->content_type, "application/json");
  for (const char* name : {"..", ".layers", "x", "../capsule.json", "", "capsule.json/"})
    EXPECT_FALSE(store->open_file(capsule.hash, name)) << name;
  EXPECT_FALSE(store->open_file(".layers", "x"));
  fs::create_symlink("/etc/passwd", root / capsule.hash / "link");
  EXPECT_FALSE(store->open_file(capsule.hash, "link"));
}

TEST_F(Store, ADiskThatFailsIsAnErrorAndLeavesNothing) {
  const auto store = open();
  fs::remove_all(root);
  std::ofstream(root) << "in the way";
  EXPECT_FALSE(store->save(plain("1")));
}

TEST_F(Store, ARotatedKeyReplacesTheSignature) {
  auto ring = std::make_shared<KeyRing>(*KeyRing::in_memory());
  const Capsule before = *CapsuleBuilder(ring, {}).build({.code = "1"});
  ASSERT_TRUE(open()->save(before));
  auto rotated = std::make_shared<KeyRing>(*ring);
  ASSERT_TRUE(rotated->rotate());
  const Capsule after = *CapsuleBuilder(rotated, {}).build({.code = "1"});
  EXPECT_EQ(before.hash, after.hash);
  ASSERT_TRUE(open()->save(after));
  EXPECT_EQ(open()->load(after.hash)->jws, after.jws);
}

TEST(Shelf, ChoosesByAgeThenByUse) {
  const WallTime now{1000h};
  const auto cut = choose_cut(
      {{"a", now - 1h, 10}, {"b", now - 2h, 10}, {"c", now - 3h, 10}, {"d", now - 99h, 1}}, now, 50h, 20);
  EXPECT_EQ(cut.kept, 2U);
  EXPECT_EQ(cut.bytes_kept, 20U);
  ASSERT_EQ(cut.removed.size(), 2U);
  EXPECT_EQ(cut.removed[0].name, "c");
}

}  // namespace
}  // namespace relay::capsule
