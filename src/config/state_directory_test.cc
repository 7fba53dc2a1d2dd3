#include "config/state_directory.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/attestation.h"
#include "config/config_file.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class StateDirectoryTest : public testing::Test {
 protected:
  StateDirectoryTest() {
    char name[] = "/tmp/relay-state-XXXXXX";
    folder_ = ::mkdtemp(name);
    root_ = folder_ / "My shop";
    fs::create_directories(root_);
  }
  ~StateDirectoryTest() override { fs::remove_all(folder_); }

  Config config_of(const std::string& text = "{}") {
    ConfigSources sources;
    sources.file = root_ / "relay.config.json";
    sources.text = text;
    sources.environment["XDG_STATE_HOME"] = (folder_ / "xdg").string();
    LoadedConfig loaded = load_config(sources);
    EXPECT_THAT(loaded.problems, IsEmpty());
    return loaded.config;
  }
  static void put(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static unsigned mode_of(const fs::path& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0;
  }

  fs::path folder_;
  fs::path root_;
};

TEST_F(StateDirectoryTest, AFlagBeatsTheVariableWhichBeatsTheUsersOwn) {
  ConfigSources sources;
  sources.environment = {{"HOME", "/home/ann"}};
  EXPECT_EQ(find_state_directory(sources, root_).value().parent_path(), "/home/ann/.local/state/relay");
  sources.environment["XDG_STATE_HOME"] = "relative";  // the specification says: ignore it
  EXPECT_EQ(find_state_directory(sources, root_).value().parent_path(), "/home/ann/.local/state/relay");
  sources.environment["XDG_STATE_HOME"] = "/xdg";
  EXPECT_EQ(find_state_directory(sources, root_).value(), fs::path("/xdg/relay") / project_name(root_));
  sources.environment["RELAY_STATE"] = "/variable";
  EXPECT_EQ(find_state_directory(sources, root_).value(), "/variable");
  sources.state = "/flag/../flag";
  EXPECT_EQ(find_state_directory(sources, root_).value(), "/flag");
}

TEST_F(StateDirectoryTest, AProjectIsNamedByItsRealPath) {
  EXPECT_THAT(project_name(root_), testing::MatchesRegex("My_shop-[0-9a-f]{12}"));
  fs::create_directory_symlink(root_, folder_ / "link");
  EXPECT_EQ(project_name(folder_ / "link"), project_name(root_));
  fs::create_directories(folder_ / "other" / "My shop");
  EXPECT_NE(project_name(folder_ / "other" / "My shop"), project_name(root_));
  EXPECT_THAT(project_name("/"), testing::StartsWith("project-"));
}

TEST_F(StateDirectoryTest, WhatAnOlderRelayLeftIsMovedOnceAndNothingElse) {
  const fs::path old = root_ / ".relay";
  for (const char* name : {"audit.jsonl", "audit.jsonl.1", "keys/signing.key", "token", "mcp/secrets.json",
                           "mcp/logs/a.log", "mcp/a.d.ts", "workspace/shared/tmp/x", "capsules/c", "deps/d"})
    put(old / name, name);
  const Config config = config_of();
  EXPECT_THAT(open_state_directory(config).value(),
              ElementsAre("audit.jsonl.1", "audit.jsonl", "keys", "token", "mcp/secrets.json", "mcp/logs"));
  EXPECT_EQ(mode_of(config.state), 0700U);
  for (const char* name : {"audit.jsonl", "audit.jsonl.1", "keys/signing.key", "token", "mcp/secrets.json"})
    EXPECT_EQ(text_of(config.state / name), name);
  for (const char* name : {"mcp/a.d.ts", "workspace/shared/tmp/x", "capsules/c", "deps/d"})
    EXPECT_EQ(text_of(old / name), name);
  EXPECT_FALSE(fs::exists(old / "keys"));
  put(old / "token", "another");
  EXPECT_THAT(open_state_directory(config).value(), IsEmpty());
  EXPECT_EQ(text_of(config.state / "token"), "token");
  EXPECT_EQ(text_of(old / "token"), "another");
}

TEST_F(StateDirectoryTest, PathsThatAreGivenAreNotMoved) {
  put(root_ / ".relay/audit.jsonl", "log");
  put(root_ / ".relay/keys/signing.key", "key");
  const Config config =
      config_of(R"({"audit": {"path": ".relay/audit.jsonl"}, "signingKeyPath": ".relay/keys/"})");
  EXPECT_THAT(open_state_directory(config).value(), IsEmpty());
  EXPECT_EQ(config.audit.path, root_ / ".relay/audit.jsonl");
  EXPECT_EQ(text_of(config.audit.path), "log");
}

TEST_F(StateDirectoryTest, TheProjectDirectoryIsIgnoredByGit) {
  ASSERT_TRUE(open_project_directory(config_of()));
  EXPECT_EQ(text_of(root_ / ".relay/.gitignore"), "*\n");
  EXPECT_EQ(mode_of(root_ / ".relay"), 0700U);
}

TEST_F(StateDirectoryTest, AnAttestationIsAboutOneText) {
  const fs::path state = folder_ / "state";
  EXPECT_FALSE(find_attestation(state));
  ASSERT_TRUE(attest_config(state, "{}"));
  const auto first = find_attestation(state);
  ASSERT_TRUE(first);
  EXPECT_TRUE(attests(state, *first, "{}"));
  EXPECT_FALSE(attests(state, *first, "{ }"));
  EXPECT_EQ(mode_of(state / "attestation.key"), 0600U);
  ASSERT_TRUE(attest_config(state, "{}"));
  EXPECT_NE(find_attestation(state)->nonce, first->nonce);
  // Another key, or none, vouches for nothing.
  put(state / "attestation.key", std::string(43, 'x'));
  EXPECT_FALSE(attests(state, *first, "{}"));
  put(state / "attestation.key", "");
  EXPECT_FALSE(attests(state, *first, "{}"));
}

TEST_F(StateDirectoryTest, AnEditVouchesForTheBytesThatItWrites) {
  ConfigSources sources;
  sources.file = root_ / "relay.config.json";
  sources.state = folder_ / "state";
  put(sources.file, "{}");
  const auto edited = edit_config(sources, [](ConfigDocument& document) -> Result<void> {
    document.append_server({{"name", "a"}, {"command", "x"}});
    return {};
  });
  ASSERT_TRUE(edited);
  EXPECT_EQ(edited->unattested, "");
  EXPECT_TRUE(attests(sources.state, *find_attestation(sources.state), text_of(sources.file)));
}

TEST_F(StateDirectoryTest, AConfigurationThatIsNoPlainFileIsRefusedWithoutWaiting) {
  const fs::path fifo = root_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const fs::path& path : {fifo, root_, fs::path("/dev/zero")})
    EXPECT_FALSE(read_config_text(path)) << path;
  put(root_ / "large", "{}");
  fs::resize_file(root_ / "large", 1U << 30U);
  EXPECT_FALSE(read_config_text(root_ / "large"));
  put(root_ / "fine", "{}");
  EXPECT_EQ(read_config_text(root_ / "fine").value(), "{}");
}

}  // namespace
}  // namespace relay::config
