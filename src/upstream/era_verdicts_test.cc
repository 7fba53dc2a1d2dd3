#include "upstream/era_verdicts.h"

#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "io/test_folder.h"
#include "io/test_loop.h"

namespace relay::upstream {
namespace {

using protocol::Era;

class EraVerdictsTest : public testing::Test {
 protected:
  EraVerdictsTest() {
    spec.name = "files";
    spec.command = "server";
  }
  EraVerdicts open() { return EraVerdicts(loop.executor(), &pool, clock, folder / "eras.json"); }
  void wait_for_file() {
    for (int turn = 0; turn < 10'000 && !std::filesystem::exists(folder / "eras.json"); ++turn)
      ASSERT_TRUE(loop.run(io::sleep_for(std::chrono::milliseconds(1))));
  }

  io::TestFolder folder;
  io::TestLoop loop;
  io::ThreadPool pool{1};
  FakeClock clock;
  ServerSpec spec;
};

TEST_F(EraVerdictsTest, ALegacyVerdictSavesTheProbeUntilItExpires) {
  {
    EraVerdicts eras = open();
    EXPECT_EQ(eras.choice_for(spec), peer::EraChoice::probe);
    eras.remember(spec, Era::legacy);
    wait_for_file();
  }
  const EraVerdicts again = open();
  EXPECT_EQ(again.choice_for(spec), peer::EraChoice::legacy);
  clock.advance(limits::kUpstreamVerdict - std::chrono::seconds(1));
  EXPECT_EQ(again.choice_for(spec), peer::EraChoice::legacy);
  clock.advance(std::chrono::seconds(2));
  EXPECT_EQ(again.choice_for(spec), peer::EraChoice::probe);
}

TEST_F(EraVerdictsTest, AModernServerIsAskedEachTime) {
  EraVerdicts eras = open();
  eras.remember(spec, Era::modern);
  EXPECT_EQ(eras.choice_for(spec), peer::EraChoice::probe);
}

TEST_F(EraVerdictsTest, AnotherCommandUnderTheSameNameIsAnotherServer) {
  EraVerdicts eras = open();
  eras.remember(spec, Era::legacy);
  spec.args = {"--new"};
  EXPECT_EQ(eras.choice_for(spec), peer::EraChoice::probe);
}

TEST_F(EraVerdictsTest, UsingAVerdictDoesNotRenewIt) {
  EraVerdicts eras = open();
  eras.remember(spec, Era::legacy);
  clock.advance(limits::kUpstreamVerdict / 2);
  eras.remember(spec, Era::legacy);
  clock.advance(limits::kUpstreamVerdict / 2);
  EXPECT_EQ(eras.choice_for(spec), peer::EraChoice::probe);
}

TEST_F(EraVerdictsTest, TheConfigurationHasTheLastWord) {
  EraVerdicts eras = open();
  eras.remember(spec, Era::legacy);
  spec.era = peer::EraChoice::modern;
  EXPECT_EQ(eras.choice_for(spec), peer::EraChoice::modern);
}

TEST_F(EraVerdictsTest, AVerdictThatDidNotWorkOutIsForgotten) {
  EraVerdicts eras = open();
  eras.remember(spec, Era::legacy);
  eras.forget(spec);
  EXPECT_EQ(eras.choice_for(spec), peer::EraChoice::probe);
}

TEST_F(EraVerdictsTest, ADamagedFileCountsAsEmpty) {
  for (const char* text :
       {"", "{", "[]", R"({"files":7})", R"({"files":{"server":"x","era":"legacy","date":-5}})"}) {
    std::ofstream(folder / "eras.json") << text;
    EXPECT_EQ(open().choice_for(spec), peer::EraChoice::probe) << text;
  }
}

}  // namespace
}  // namespace relay::upstream
