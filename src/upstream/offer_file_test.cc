// What is remembered of a server from one relay to the next.
#include "upstream/offer_file.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "io/test_folder.h"
#include "upstream/offer_items.h"
#include "upstream/upstream_fixture.h"

namespace relay::upstream {
namespace {

using protocol::JsonText;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> tool_names(const Offer& offer) {
  std::vector<std::string> names;
  for (const protocol::Tool& tool : *offer.tools.items) names.push_back(tool.name);
  return names;
}

class OfferFileTest : public UpstreamFixture {
 protected:
  OfferFileTest() {
    spec.command = "server";
    server.info.capabilities = {{"tools", json::object{{"listChanged", true}}}};
    server.on_request = [this](FakePeer&, const peer::Outgoing& outgoing) -> io::Task<peer::PeerAnswer> {
      ++(outgoing.method == "tools/list" ? lists : calls);
      if (outgoing.method != "tools/list") co_return peer::PeerAnswer(JsonText());
      if (fails) co_return peer::PeerAnswer(std::unexpect, protocol::RpcError{-32000, "not now", {}});
      co_return peer::PeerAnswer(JsonText::trusted(tools));
    };
    remember();
  }
  ~OfferFileTest() override { restart(); }
  std::filesystem::path file() const { return folder / "offers" / "files.json"; }
  void remember() { offers = std::make_shared<OfferFile>(loop.executor(), pool, file(), spec); }
  Offer at_hand() {
    auto got = loop.run(upstream().offer_at_hand());
    EXPECT_TRUE(got) << got.error().message;
    return got ? **got : Offer();
  }
  /// A first relay sees the server, then there is a second one.
  void see_and_restart() {
    EXPECT_TRUE(loop.run(upstream().offer()));
    until([&] { return std::filesystem::exists(file()); });
    restart();
    remember();
    server.starts = 0;
    observer.changes.clear();
  }

  io::TestFolder folder;
  io::ThreadPool pool{1};
  std::string tools = R"({"tools":[{"name":"one","inputSchema":{"type":"object","x":1.0}},{"name":"two"}]})";
  int lists = 0, calls = 0;
  bool fails = false;
};

TEST_F(OfferFileTest, TheNextRelayKnowsWhatTheServerOffersWithoutStartingIt) {
  see_and_restart();
  const Offer offer = at_hand();
  EXPECT_THAT(tool_names(offer), ElementsAre("one", "two"));
  EXPECT_EQ(offer.tools.items->front().raw->text(),
            R"({"name":"one","inputSchema":{"type":"object","x":1.0}})");
  EXPECT_TRUE(offer.capabilities.contains("tools"));
  ASSERT_TRUE(upstream().known_offer());
  EXPECT_EQ(server.starts, 0);
}

TEST_F(OfferFileTest, WhoWantsToKnowForSureAsksTheServer) {
  see_and_restart();
  tools = R"({"tools":[{"name":"three"}]})";
  EXPECT_THAT(tool_names(**loop.run(upstream().offer())), ElementsAre("three"));
  EXPECT_EQ(server.starts, 1);
  EXPECT_THAT(tool_names(at_hand()), ElementsAre("three"));
}

TEST_F(OfferFileTest, TheFirstCallStartsTheServerAndWhatDiffersIsTold) {
  see_and_restart();
  tools = R"({"tools":[{"name":"one"}]})";
  ASSERT_TRUE(request("one"));
  until([&] { return !observer.changes.empty(); });
  EXPECT_THAT(observer.changes, ElementsAre(peer::ListKind::tools));
  EXPECT_THAT(tool_names(*upstream().known_offer()), ElementsAre("one"));
}

TEST_F(OfferFileTest, WhatIsTheSameIsNotTold) {
  see_and_restart();
  const int before = lists;
  ASSERT_TRUE(request("one"));
  until([&] { return lists > before; });
  loop.settle();
  EXPECT_THAT(observer.changes, IsEmpty());
}

TEST_F(OfferFileTest, AServerThatWasGivenUpHasNothingAtHand) {
  see_and_restart();
  server.on_start = [] { return fail(invalid("no such command")); };
  EXPECT_FALSE(request("one"));
  EXPECT_FALSE(loop.run(upstream().offer_at_hand()));
}

TEST_F(OfferFileTest, AListThatTheServerFailedToGiveIsNotKept) {
  fails = true;
  EXPECT_TRUE(loop.run(upstream().offer()));
  loop.settle();
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(OfferFileTest, AnotherServerUnderTheSameNameIsAnother) {
  see_and_restart();
  spec.env["TOKEN"] = "${secret:other}";
  remember();
  EXPECT_FALSE(upstream().known_offer());
}

TEST_F(OfferFileTest, WhatIsDamagedCountsAsNone) {
  see_and_restart();
  for (const char* text : {"", "{", "[]", "{\"fingerprint\":1}"}) {
    std::ofstream(file(), std::ios::trunc) << text;
    EXPECT_FALSE(offers->load()) << text;
  }
}

TEST_F(OfferFileTest, WhatTheConfigurationDeniesIsNotReadBack) {
  Offer offer;
  std::vector<std::string> oddities;
  const std::vector<JsonText> texts{JsonText::trusted(R"({"name":"good"})"),
                                    JsonText::trusted(R"({"name":"evil"})")};
  offer.tools.items = read_tools(texts, spec, HeaderParams::ignore, oddities);
  const std::string text = write_offer(offer, "f");
  spec.deny = {"ev*"};
  EXPECT_THAT(tool_names(*read_offer(text, spec, "f")), ElementsAre("good"));
  EXPECT_FALSE(read_offer(text, spec, "g"));
}

TEST_F(OfferFileTest, ItemsThatAreNoneAreLeftOut) {
  const auto offer = read_offer(
      R"({"fingerprint":"f","tools":[1,null,{"name":""},{"name":"a"},{"name":"a"}],"prompts":{"name":"p"},"resources":[{"uri":"x:"}],"server":[]})",
      spec, "f");
  ASSERT_TRUE(offer);
  EXPECT_THAT(tool_names(*offer), ElementsAre("a"));
  EXPECT_TRUE(offer->prompts.items->empty());
  EXPECT_EQ(offer->resources.items->size(), 1U);
}

TEST_F(OfferFileTest, AServerThatLeftTheConfigurationIsForgotten) {
  EXPECT_TRUE(loop.run(upstream().offer()));
  until([&] { return std::filesystem::exists(file()); });
  upstream().forget_offer();
  until([&] { return !std::filesystem::exists(file()); });
}

}  // namespace
}  // namespace relay::upstream
