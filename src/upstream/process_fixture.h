// ProcessFixture: a fleet of real server processes, tests/upstream/fixtures/scripted_server.py behind each.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "io/child.h"
#include "io/spawn.h"
#include "io/test_loop.h"
#include "secrets/secrets.h"
#include "upstream/connector.h"
#include "upstream/open_door_fixture.h"
#include "upstream/supervised_fleet.h"

namespace relay::upstream {

class ProcessFixture : public testing::Test {
 protected:
  ProcessFixture() {
    std::signal(SIGPIPE, SIG_IGN);  // as the program does
    std::string name = (std::filesystem::temp_directory_path() / "relay-upstream-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    spec.name = "scripted";
    spec.command = "/usr/bin/python3";
    spec.args = {RELAY_FIXTURES "/scripted_server.py"};
    spec.call_timeout = std::chrono::seconds(60);
    environment = launch::our_environment();
    pace.first_delay = std::chrono::milliseconds(1);
  }
  ~ProcessFixture() override {
    if (fleet_) EXPECT_TRUE(loop.run(fleet_->stop()));
    EXPECT_EQ(heads->size(), 0U);
    EXPECT_EQ(io::count_children(), 0U) << "a process is left";
    fleet_.reset();
    loop.settle();
    std::error_code ignored;  // a last line may still be on its way to a log
    std::filesystem::remove_all(folder, ignored);
  }

  SupervisedFleet& fleet() {
    if (!fleet_) {
      ConnectorParts connector{.executor = loop.executor(),
                               .http = *http,
                               .pool = pool,
                               .self = {.name = "relay", .version = "1"},
                               .resolve = secrets::make_secret_resolver(
                                   environment, folder, secrets::SecretStore(folder / "secrets.json")),
                               .redactor = redactor,
                               .heads = heads,
                               .environment = environment,
                               .cage_program = RELAY_CAGE,
                               .find_group_site = [this] { return groups; }};
      fleet_ = std::make_unique<SupervisedFleet>(FleetParts{.executor = loop.executor(),
                                                            .clock = clock,
                                                            .log = log,
                                                            .connect = make_connector(std::move(connector)),
                                                            .redactor = redactor,
                                                            .heads = heads,
                                                            .pool = &pool,
                                                            .state = folder / "state",
                                                            .pace = pace});
    }
    return *fleet_;
  }
  std::shared_ptr<Upstream> server() {
    if (!fleet().find(spec.name)) fleet().apply({spec});
    return fleet().find(spec.name);
  }

  Result<peer::PeerAnswer> request(const std::string& tool, const std::string& arguments = "{}",
                                   std::chrono::milliseconds timeout = std::chrono::seconds(60)) {
    peer::Outgoing outgoing{.method = "tools/call",
                            .params = "{\"name\":\"" + tool + "\",\"arguments\":" + arguments + "}"};
    outgoing.timeout = timeout;
    return loop.run(send_behind_door(*server(), std::move(outgoing), nobody));
  }
  /// The text of the result, whatever it is; an error's message if there is none.
  std::string call(const std::string& tool, const std::string& arguments = "{}") {
    const Result<peer::PeerAnswer> answer = request(tool, arguments);
    if (!answer) return "failed: " + answer.error().message;
    if (!*answer) return "refused: " + answer->error().message;
    const json::array* content = json::find_array((*answer)->value().get_object(), "content");
    if (!content || content->empty()) return "no content";
    return std::string(json::find_string(content->at(0).get_object(), "text").value_or("no text"));
  }

  template <class Condition>
  void until(Condition condition) {
    const auto wait = [](Condition asked) -> io::Task<bool> {
      for (int turn = 0; turn < 30'000; ++turn) {
        if (asked()) co_return true;
        RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::milliseconds(2)));
      }
      co_return false;
    };
    EXPECT_EQ(loop.run(wait(condition)), true);
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static bool is_alive(int pid) { return ::kill(pid, 0) == 0; }

  std::filesystem::path folder;
  io::TestLoop loop;
  io::ThreadPool pool{2};
  SystemClock clock;
  NullLog log;
  std::unique_ptr<net::HttpClient> http = net::HttpClient::make(loop.executor());
  std::shared_ptr<secrets::Redactor> redactor = std::make_shared<secrets::Redactor>();
  std::shared_ptr<launch::ProcessCount> heads = std::make_shared<launch::ProcessCount>(loop.executor());
  launch::Environment environment;
  sandbox::GroupSite groups{.reason = "the test has none"};
  ServerSpec spec;
  Pace pace;
  peer::SilentScope nobody;

 private:
  std::unique_ptr<SupervisedFleet> fleet_;
};

}  // namespace relay::upstream
