#include "secrets/secrets.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace relay::secrets {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class SecretsTest : public testing::Test {
 protected:
  SecretsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "relay-secrets-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~SecretsTest() override { std::filesystem::remove_all(folder); }
  void write(const std::string& name, std::string_view text) { std::ofstream(folder / name) << text; }
  ResolveSecrets resolver() {
    return make_secret_resolver({{"TOKEN", "tok-12345"}, {"HOME", folder.string()}, {"EMPTY", ""}}, folder,
                                SecretStore(folder / "secrets.json"));
  }

  std::filesystem::path folder;
  Redactor redactor;
};

TEST_F(SecretsTest, ReferencesAreReplacedWhereverTheyStand) {
  write("key", "from-a-file\n");
  SecretStore store(folder / "secrets.json");
  ASSERT_TRUE(store.set("api.key-1", "from-the-store"));
  const ResolveSecrets resolve = resolver();
  EXPECT_EQ(resolve("Bearer ${env:TOKEN}"), "Bearer tok-12345");
  EXPECT_EQ(resolve("${file:key}|${secret:api.key-1}|${env:EMPTY}"), "from-a-file|from-the-store|");
  EXPECT_EQ(resolve("${file:~/key}"), "from-a-file");
  EXPECT_EQ(resolve("plain $HOME ${HOME} ${other:x} $${"), "plain $HOME ${HOME} ${other:x} $${");
  EXPECT_EQ(resolve(""), "");
}

TEST_F(SecretsTest, WhatIsMissingIsNamed) {
  const ResolveSecrets resolve = resolver();
  for (const auto& [text, name] : std::map<std::string, std::string>{
           {"${env:NOPE}", "NOPE"}, {"${secret:absent}", "absent"}, {"${file:no/such}", "no/such"}}) {
    const auto value = resolve("x" + text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().kind, ErrorKind::invalid);
    EXPECT_THAT(value.error().message, HasSubstr(name));
  }
  EXPECT_FALSE(resolve("${env:TOKEN"));
}

TEST_F(SecretsTest, WhatWasResolvedIsBlottedOut) {
  const auto resolved =
      resolve_all({{"Authorization", "Bearer ${env:TOKEN}"}, {"X", "plain-text"}}, resolver(), redactor);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->at("Authorization"), "Bearer tok-12345");
  EXPECT_EQ(redactor.redact("401 for Bearer tok-12345, plain-text, tok-12345"),
            "401 for Bearer ***, plain-text, ***");
}

TEST_F(SecretsTest, AFailureNamesTheKeyAndNoValue) {
  const auto resolved = resolve_all({{"KEY", "${env:TOKEN}${env:NOPE}"}}, resolver(), redactor);
  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error().message, AllOf(HasSubstr("KEY"), HasSubstr("NOPE"), Not(HasSubstr("tok-"))));
}

TEST_F(SecretsTest, TheStoreIsForItsUserAloneAndSurvives) {
  SecretStore store(folder / "deep" / "secrets.json");
  ASSERT_TRUE(store.set("b", "2222222"));
  ASSERT_TRUE(store.set("a", "1\"\n1"));
  ASSERT_TRUE(store.set("b", "3333333"));
  struct stat status{};
  ASSERT_EQ(::stat((folder / "deep" / "secrets.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const SecretStore again(folder / "deep" / "secrets.json");
  EXPECT_THAT(*again.names(), ElementsAre("a", "b"));
  EXPECT_EQ(again.find("a"), "1\"\n1");
  EXPECT_EQ(again.find("b"), "3333333");
  EXPECT_EQ(store.remove("a"), true);
  EXPECT_EQ(store.remove("a"), false);
  EXPECT_FALSE(again.find("a"));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder / "deep")) ++files;
  EXPECT_EQ(files, 1U) << "no temporary file is left";
}

TEST_F(SecretsTest, NamesAndValuesAreChecked) {
  SecretStore store(folder / "secrets.json");
  EXPECT_FALSE(store.set("", "x"));
  EXPECT_FALSE(store.set("a b", "x"));
  EXPECT_FALSE(store.set("a}", "x"));
  EXPECT_FALSE(store.set("a", ""));
  EXPECT_FALSE(store.set("a", std::string(limits::kSecretBytes + 1, 'x')));
  EXPECT_FALSE(store.set("a", std::string_view("a\0b", 3)));
  EXPECT_THAT(*store.names(), testing::IsEmpty());
}

TEST_F(SecretsTest, AFullStoreTakesNoNewNameAndStillReplaces) {
  std::string text = "{";
  for (std::size_t i = 0; i < limits::kSecrets; ++i) text += fmt::format("{}\"n{}\":\"v\"", i ? "," : "", i);
  write("secrets.json", text + "}");
  SecretStore store(folder / "secrets.json");
  const auto refused = store.set("one-more", "value");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(std::to_string(limits::kSecrets)));
  EXPECT_FALSE(store.find("one-more"));
  EXPECT_TRUE(store.set("n7", "another"));
  EXPECT_EQ(store.find("n7"), "another");
}

TEST_F(SecretsTest, ADamagedStoreIsAnErrorAndNotOverwritten) {
  write("secrets.json", "{\"a\": ");
  SecretStore store(folder / "secrets.json");
  EXPECT_FALSE(store.set("b", "value"));
  EXPECT_FALSE(store.find("a"));
  std::ifstream file(folder / "secrets.json");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "{\"a\": ");
}

TEST_F(SecretsTest, APipeInPlaceOfAFileDoesNotHang) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(resolver()("${file:pipe}"));
}

TEST_F(SecretsTest, VariablesThatDescribeTheMachineAreNoSecrets) {
  const ResolveSecrets resolve =
      make_secret_resolver({{"HOME", "/home/somebody"}, {"LC_ALL", "de_DE.UTF-8"}, {"HOMER", "/home/secret"}},
                           folder, SecretStore(folder / "secrets.json"));
  const auto resolved =
      resolve_all({{"A", "${env:HOME}/x"}, {"B", "${env:LC_ALL}"}, {"C", "${env:HOMER}"}}, resolve, redactor);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->at("A"), "/home/somebody/x");
  EXPECT_EQ(redactor.redact("/home/somebody de_DE.UTF-8 /home/secret"), "/home/somebody de_DE.UTF-8 ***");
}

TEST_F(SecretsTest, ValuesThatAreTooShortToBeLearnedAreNamed) {
  const ResolveSecrets resolve = make_secret_resolver({{"PIN", "12345"}, {"LONG", "123456"}, {"EMPTY", ""}},
                                                      folder, SecretStore(folder / "secrets.json"));
  EXPECT_THAT(find_unprotected({{"short", "x-${env:PIN}-and-more"},
                                {"long", "${env:LONG}"},
                                {"empty", "${env:EMPTY}"},
                                {"missing", "${env:NOPE}"},
                                {"plain", "12345"}},
                               resolve),
              ElementsAre("short"));
}

}  // namespace
}  // namespace relay::secrets
