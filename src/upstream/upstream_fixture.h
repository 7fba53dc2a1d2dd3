// UpstreamFixture: one supervised upstream in front of a FakeServer, on a loop and a clock of its own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "io/test_loop.h"
#include "upstream/fake_peer.h"
#include "upstream/open_door_fixture.h"
#include "upstream/supervised_upstream.h"

namespace relay::upstream {

struct NotedEvents {
  TellEvent sink() {
    return [this](const ServerSpec&, const protocol::ServerEvent& event) {
      if (const auto* change = std::get_if<protocol::ListChanged>(&event)) changes.push_back(change->list);
      if (const auto* update = std::get_if<protocol::ResourceUpdated>(&event)) updates.push_back(update->uri);
    };
  }

  std::vector<peer::ListKind> changes;
  std::vector<std::string> updates;
};

class UpstreamFixture : public testing::Test {
 protected:
  UpstreamFixture() : server(loop.executor()) {
    spec.name = "files";
    spec.idle_stop = std::chrono::milliseconds(0);
    pace.first_delay = std::chrono::milliseconds(1);
  }
  ~UpstreamFixture() override { restart(); }

  SupervisedUpstream& upstream() {
    if (!upstream_) {
      log = std::make_shared<launch::ServerLog>(clock, redactor, nullptr);
      ConnectionSetup setup{.spec = spec,
                            .executor = loop.executor(),
                            .clock = clock,
                            .connect = server.connect(),
                            .eras = std::make_shared<EraVerdicts>(loop.executor(), nullptr, clock, ""),
                            .log = log,
                            .pace = pace};
      upstream_ = std::make_shared<SupervisedUpstream>(std::move(setup), observer.sink(), offers);
    }
    return *upstream_;
  }
  std::shared_ptr<SupervisedUpstream> shared() {
    upstream();
    return upstream_;
  }

  /// Another relay: what is only in memory is gone.
  void restart() {
    if (upstream_) EXPECT_TRUE(loop.run(upstream_->stop()));
    upstream_.reset();
    loop.settle();
  }

  static peer::Outgoing call(std::string name = "echo") {
    return {.method = "tools/call", .params = "{\"name\":\"" + name + "\"}"};
  }
  Result<peer::PeerAnswer> request(std::string name = "echo") {
    return loop.run(send_behind_door(upstream(), call(std::move(name)), nobody));
  }

  /// Starts a request that runs on; its result comes into the slot.
  std::shared_ptr<std::optional<Result<peer::PeerAnswer>>> begin(std::string name = "echo",
                                                                 peer::RequestScope* exchange = nullptr,
                                                                 io::CancelSource cancel = {}) {
    auto slot = std::make_shared<std::optional<Result<peer::PeerAnswer>>>();
    auto run = [](std::shared_ptr<SupervisedUpstream> to, peer::Outgoing outgoing, peer::RequestScope& who,
                  std::shared_ptr<std::optional<Result<peer::PeerAnswer>>> into) -> io::Task<void> {
      *into = co_await send_behind_door(*to, std::move(outgoing), who);
      co_return Result<void>{};
    };
    io::spawn(loop.executor(), run(shared(), call(std::move(name)), exchange ? *exchange : nobody, slot),
              "test call", cancel);
    return slot;
  }

  /// Runs the loop until it is so; fails the test when it does not come to pass.
  template <class Condition>
  void until(Condition condition) {
    const auto wait = [](Condition asked) -> io::Task<bool> {
      for (int turn = 0; turn < 20'000; ++turn) {
        if (asked()) co_return true;
        RELAY_CO_CHECK(co_await io::sleep_for(std::chrono::milliseconds(1)));
      }
      co_return false;
    };
    EXPECT_EQ(loop.run(wait(condition)), true);
  }

  io::TestLoop loop;
  FakeClock clock;
  FakeServer server;
  ServerSpec spec;
  Pace pace;
  NotedEvents observer;
  peer::SilentScope nobody;
  std::shared_ptr<secrets::Redactor> redactor = std::make_shared<secrets::Redactor>();
  std::shared_ptr<launch::ServerLog> log;
  std::shared_ptr<OfferFile> offers;  // null: nothing is kept

 private:
  std::shared_ptr<SupervisedUpstream> upstream_;
};

}  // namespace relay::upstream
