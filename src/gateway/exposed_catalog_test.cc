#include "gateway/exposed_catalog.h"

#include <gtest/gtest.h>

#include "gateway/fake_upstream.h"

namespace relay::gateway {
namespace {

struct ShelfTest : testing::Test {
  FakeFleet fleet;
  std::shared_ptr<Links> links = std::make_shared<Links>();
  std::shared_ptr<const ExposedCatalog> build(Prefix prefix = Prefix::always) {
    return ExposedCatalog::build(fleet.all(), prefix, links);
  }
};

TEST_F(ShelfTest, AddingAServerRenamesNothing) {
  fleet.add("one")->offer_tools({"echo", "add"});
  const auto before = build();
  fleet.add("two")->offer_tools({"echo"});
  const auto after = build();
  ASSERT_EQ(after->tools.size(), 3U);
  for (std::size_t i = 0; i < before->tools.size(); ++i)
    EXPECT_EQ(before->tools[i].name, after->tools[i].name);
  EXPECT_EQ(after->find_tool("two__echo")->upstream, "two/echo");
}

TEST_F(ShelfTest, UnprefixedOnlyWithExactlyOneServer) {
  fleet.add("one")->offer_tools({"echo"});
  EXPECT_NE(build(Prefix::none)->find_tool("echo"), nullptr);
  fleet.add("two");
  EXPECT_EQ(build(Prefix::none)->find_tool("echo"), nullptr);
  EXPECT_NE(build(Prefix::none)->find_tool("one__echo"), nullptr);
}

TEST_F(ShelfTest, SchemasAreTheBytesTheServerSent) {
  fleet.add("one")->offer_tools({"echo"});
  std::string text;
  protocol::append_json(text, build()->tools.front(), protocol::kLatestModern);
  EXPECT_EQ(text, R"({"name":"one__echo","inputSchema":{"type":"object","x":1.0}})");
}

TEST_F(ShelfTest, OneUriOfTwoServersIsServedTwice) {
  fleet.add("one")->offer_resources({"x://a", "x://b"});
  fleet.add("two_b")->offer_resources({"x://a"});
  const auto shelf = build();
  ASSERT_EQ(shelf->resources.size(), 3U);
  EXPECT_EQ(shelf->resources.back().uri, "two-b+x://a");
  EXPECT_EQ(shelf->find_resource("x://a")->server->spec().name, "one");
  EXPECT_EQ(shelf->find_resource("two-b+x://a")->original, "x://a");
  EXPECT_EQ(shelf->exposed_uri("two_b", "x://a"), "two-b+x://a");
  EXPECT_EQ(shelf->collisions.size(), 1U);
}

TEST_F(ShelfTest, TemplatesLeadToTheirServer) {
  fleet.add("one")->offer_template("x://{id}/data");
  fleet.add("two")->offer_template("x://{id}/data");
  EXPECT_EQ(build()->find_resource("x://7/data")->server->spec().name, "one");
  const auto moved = build()->find_resource("two+x://7/data");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->original, "x://7/data");
  EXPECT_EQ(moved->server->spec().name, "two");
}

TEST_F(ShelfTest, AServerThatNeverAnsweredCostsNothingOfTheOthers) {
  fleet.add("dead");
  fleet.add("one")->offer_tools({"echo"});
  EXPECT_EQ(build()->tools.size(), 1U);
}

TEST_F(ShelfTest, AToolListedTwiceIsReported) {
  fleet.add("one")->offer_tools({"echo", "echo"});
  EXPECT_EQ(build()->tools.size(), 1U);
  EXPECT_EQ(build()->collisions.size(), 1U);
}

TEST(Links, AreFoundInResultsAndForgottenInTime) {
  Links links(2);
  const auto note = [&](std::string uri) {
    links.claim(
        "s", protocol::JsonText::trusted(R"({"content":[{"type":"resource_link","uri":")" + uri + R"("}]})"));
  };
  note("a:1");
  links.claim(
      "t", protocol::JsonText::trusted(
               R"({"content":[{"type":"resource","resource":{"uri":"a:2","text":""}},7,{"type":"text"}]})"));
  EXPECT_EQ(links.find("a:1"), "s");
  EXPECT_EQ(links.find("a:2"), "t");
  note("a:3");
  EXPECT_EQ(links.find("a:1"), "");
  EXPECT_EQ(links.find("a:3"), "s");
}

TEST_F(ShelfTest, ALinkToWhatAnotherServerListsCarriesItsOwnServersName) {
  fleet.add("one")->offer_resources({"x://a"});
  fleet.add("two")->offer_resources({"x://a"});
  const auto shelf = build();
  const auto claimed = [&](const char* server, const char* text) {
    return std::string(links->claim(server, protocol::JsonText::trusted(text)).text());
  };
  const char* to_a = R"({"content":[{"type":"resource_link","uri":"x://a","n":1.0}]})";
  EXPECT_EQ(claimed("one", to_a), to_a) << "what needs no change stays as it was spelled";
  EXPECT_TRUE(claimed("two", to_a).contains(R"("uri":"two+x://a")"));
  const char* to_new =
      R"({"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"x://n"}}}]})";
  EXPECT_EQ(claimed("two", to_new), to_new);
  EXPECT_TRUE(claimed("one", to_new).contains(R"("uri":"one+x://n")")) << "the first giver keeps it";
  EXPECT_EQ(links->find("x://n"), "two");
}

}  // namespace
}  // namespace relay::gateway
