#include "imports/variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "imports/secret_guess.h"

namespace relay::imports {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Surroundings kSurroundings{.home = "/home/u",
                                 .folder = "/home/u/p",
                                 .working_directory = "/home/u/p",
                                 .environment = {{"SET", "value"}, {"EMPTY", ""}}};

Translation translated(std::string_view text, Expansion expansion) {
  return translate(text, expansion, kSurroundings,
                   [](std::string_view id) { return "s." + std::string(id); });
}

struct Sample {
  const char* from;
  const char* later;
  const char* now;
};

class Variables : public testing::TestWithParam<Sample> {};

TEST_P(Variables, BecomeOurs) {
  EXPECT_EQ(translated(GetParam().from, Expansion::later).text, GetParam().later);
  EXPECT_EQ(translated(GetParam().from, Expansion::now).text, GetParam().now);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, Variables,
    testing::Values(
        Sample{"plain", "plain", "plain"}, Sample{"", "", ""}, Sample{"${SET}", "${env:SET}", "value"},
        Sample{"a-${SET}-b", "a-${env:SET}-b", "a-value-b"}, Sample{"${env:SET}", "${env:SET}", "value"},
        Sample{"{env:SET}", "${env:SET}", "value"}, Sample{"$SET", "${env:SET}", "value"},
        Sample{"$env:SET", "${env:SET}", "value"}, Sample{"pa$SET", "pa$SET", "pa$SET"},
        Sample{"$5.00", "$5.00", "$5.00"}, Sample{"${SET:-x}", "${env:SET}", "value"},
        Sample{"${UNSET:-x}", "x", "x"}, Sample{"${EMPTY:-x}", "x", "x"}, Sample{"${UNSET:-}", "", ""},
        Sample{"${UNSET}", "${env:UNSET}", "${UNSET}"},
        Sample{"${workspaceFolder}/a", "/home/u/p/a", "/home/u/p/a"},
        Sample{"${workspaceFolderBasename}", "p", "p"}, Sample{"${userHome}${/}x", "/home/u/x", "/home/u/x"},
        Sample{"{file:~/key}", "${file:~/key}", "{file:~/key}"},
        Sample{"${input:key}", "${secret:s.key}", "${secret:s.key}"},
        Sample{"${unclosed", "${unclosed", "${unclosed"},
        Sample{"${selectedText!}", "${selectedText!}", "${selectedText!}"}));

TEST(Translation, SaysWhatIsMissing) {
  EXPECT_THAT(translated("${input:a} ${input:b}", Expansion::later).inputs, ElementsAre("s.a", "s.b"));
  EXPECT_THAT(translated("${UNSET}", Expansion::now).unset, ElementsAre("UNSET"));
  EXPECT_THAT(translated("${UNSET}", Expansion::later).unset, IsEmpty());
  EXPECT_THAT(translated("${selectedText!}", Expansion::later).notes,
              ElementsAre(testing::HasSubstr("not known")));
  EXPECT_THAT(translated("${UNSET:-x}", Expansion::later).notes, ElementsAre(testing::HasSubstr("UNSET")));
}

TEST(SecretGuess, KnowsNamesAndShapes) {
  EXPECT_TRUE(looks_like_secret("GITHUB_TOKEN", "abcdef123456"));
  EXPECT_TRUE(looks_like_secret("api-key", "abcdef123456"));
  EXPECT_TRUE(looks_like_secret("Authorization", "Bearer abcdef"));
  EXPECT_TRUE(looks_like_secret("ANYTHING", "ghp_abcdefgh"));
  EXPECT_TRUE(looks_like_secret("ANYTHING", "sk-abcdefgh"));
  EXPECT_FALSE(looks_like_secret("API_KEY", ""));
  EXPECT_FALSE(looks_like_secret("USE_TOKEN", "true"));
  EXPECT_FALSE(looks_like_secret("API_KEY", "${env:API_KEY}"));
  EXPECT_FALSE(looks_like_secret("Authorization", "Bearer ${secret:x}"));
  EXPECT_FALSE(looks_like_secret("KEY_FILE", "/home/u/key.pem"));
  EXPECT_FALSE(looks_like_secret("SSH_KEY", "/home/u/.ssh/id_rsa"));
  EXPECT_FALSE(looks_like_secret("LOG_LEVEL", "debugging"));
}

TEST(SecretGuess, TheSchemeStays) {
  EXPECT_EQ(split_scheme("Bearer abc").prefix, "Bearer ");
  EXPECT_EQ(split_scheme("bearer abc").secret, "abc");
  EXPECT_EQ(split_scheme("Bearer ").prefix, "");
  EXPECT_EQ(split_scheme("abc").secret, "abc");
}

}  // namespace
}  // namespace relay::imports
