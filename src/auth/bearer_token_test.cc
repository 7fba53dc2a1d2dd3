#include "auth/bearer_token.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace relay::auth {
namespace {

class BearerTokenFile : public testing::Test {
 protected:
  BearerTokenFile() : path_(testing::TempDir() + make_id(random_, "token_") + "/sub/token") {}
  ~BearerTokenFile() override {
    std::filesystem::remove_all(std::filesystem::path(path_).parent_path().parent_path());
  }

  void write(std::string_view text, mode_t mode) {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), mode);
  }

  SystemRandom random_;
  std::string path_;
};

net::HttpRequest request_with(std::vector<std::string> authorizations) {
  net::HttpRequest request;
  for (std::string& value : authorizations) request.headers.add("authorization", std::move(value));
  return request;
}

TEST_F(BearerTokenFile, IsMadeOnceAndKeptPrivate) {
  const auto first = BearerToken::open(path_, random_);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_new());
  EXPECT_EQ(first->text().size(), 43u);  // 256 bits in base64url
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const auto again = BearerToken::open(path_, random_);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->is_new());
  EXPECT_EQ(again->text(), first->text());
  const auto folder = std::filesystem::path(path_).parent_path();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "a draft was left behind";
}

TEST_F(BearerTokenFile, IsRefusedWhenOthersMayReadIt) {
  write(std::string(43, 'a'), 0644);
  EXPECT_EQ(BearerToken::open(path_, random_).error().kind, ErrorKind::denied);
}

TEST_F(BearerTokenFile, IsRefusedWhenItHoldsNoToken) {
  write("short\n", 0600);
  EXPECT_EQ(BearerToken::open(path_, random_).error().kind, ErrorKind::invalid);
}

TEST_F(BearerTokenFile, IsNotReadThroughASymbolicLink) {
  write(std::string(43, 'a'), 0600);
  const std::string link = path_ + "_link";
  std::filesystem::create_symlink(path_, link);
  EXPECT_FALSE(BearerToken::open(link, random_));
}

// Two processes that start at once must end with the same token.
TEST_F(BearerTokenFile, ATokenThatAnotherProcessMadeMeanwhileIsTaken) {
  struct Interrupted final : RandomSource {
    explicit Interrupted(std::function<void()> once) : meanwhile(std::move(once)) {}
    void fill(std::span<std::byte> out) override {
      if (meanwhile) std::exchange(meanwhile, nullptr)();
      real.fill(out);
    }
    std::function<void()> meanwhile;
    SystemRandom real;
  } random([this] { write(std::string(43, 'b') + "\n", 0600); });
  const auto token = BearerToken::open(path_, random);
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->text(), std::string(43, 'b'));
  EXPECT_FALSE(token->is_new());
}

TEST_F(BearerTokenFile, SaysWhereATokenCannotBeKept) {
  const auto folder = std::filesystem::path(path_).parent_path();
  std::filesystem::create_directories(folder.parent_path());
  std::filesystem::create_symlink("nowhere/at/all", folder);
  const auto token = BearerToken::open(path_, random_);
  ASSERT_FALSE(token);
  EXPECT_THAT(token.error().message, testing::HasSubstr("create " + path_));
}

TEST_F(BearerTokenFile, AuthenticatesOnlyTheRightToken) {
  auto token = BearerToken::open(path_, random_);
  ASSERT_TRUE(token);
  const std::string text = token->text();
  TokenAuthenticator authenticator(std::move(*token));
  EXPECT_EQ(authenticator.authenticate(request_with({"Bearer " + text})), "token");
  EXPECT_EQ(authenticator.authenticate(request_with({"bearer " + text})), "token");
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {""},
                                                       {"Bearer"},
                                                       {"Bearer "},
                                                       {text},
                                                       {"Basic " + text},
                                                       {"Bearer " + text + "x"},
                                                       {"Bearer " + text.substr(1)},
                                                       {"Bearer x", "Bearer " + text},
                                                       {"Bearer " + text, "Bearer x"}};
  for (const auto& fields : wrong) {
    const auto verdict = authenticator.authenticate(request_with(fields));
    ASSERT_FALSE(verdict) << (fields.empty() ? "(none)" : fields[0]);
    EXPECT_EQ(verdict.error().face().http_status, 401);
  }
  EXPECT_EQ(authenticator.challenge(request_with({})), R"(Bearer realm="relay")");
  EXPECT_THAT(authenticator.challenge(request_with({"Bearer x"})), testing::HasSubstr("invalid_token"));
}

}  // namespace
}  // namespace relay::auth
