#include "gateway/names.h"

#include <set>

#include <gtest/gtest.h>

#include "base/limits.h"

namespace relay::gateway {
namespace {

TEST(Names, PlainNamesGetTheServerInFront) {
  EXPECT_EQ(expose_names("files", {"read", "write-all"}),
            (std::vector<std::string>{"files__read", "files__write-all"}));
}

TEST(Names, WhatHadToBeChangedGivesWay) {
  const auto names = expose_names("files", {"read file", "read_file", "read.file"});
  EXPECT_EQ(names[1], "files__read_file");
  EXPECT_TRUE(names[0].starts_with("files__read_file_")) << names[0];
  EXPECT_NE(names[0], names[2]);
  EXPECT_EQ(expose_names("files", {"read.file"})[0], "files__read_file");
}

TEST(Names, LongNamesAreCutAndStayDifferent) {
  const std::string stem(100, 'a');
  const auto names = expose_names("files", {stem + "1", stem + "2"});
  EXPECT_NE(names[0], names[1]);
  for (const std::string& name : names) EXPECT_EQ(name.size(), limits::kToolNameBytes);
  EXPECT_EQ(names, expose_names("files", {stem + "1", stem + "2"}));
}

TEST(Names, ServersThatCouldBeMistakenForOthersCannotBe) {
  std::set<std::string> all;
  for (const auto& [server, tool] : std::vector<std::pair<std::string, std::string>>{
           {"a", "b__c"}, {"a__b", "c"}, {"a_", "b"}, {"a", "_b"}, {"a__b", "_c"}, {"a__b_", "c"}})
    EXPECT_TRUE(all.insert(expose_names(server, {tool})[0]).second) << server << " " << tool;
}

TEST(Names, EveryNameIsOneThatModelApisTake) {
  for (const std::string& name :
       expose_names("s", {"", "\xff\xfe", "a b/c:d", std::string("n\0l", 3), "ünï"})) {
    EXPECT_LE(name.size(), limits::kToolNameBytes);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"),
              std::string::npos)
        << name;
  }
}

}  // namespace
}  // namespace relay::gateway
