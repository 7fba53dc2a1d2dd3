// FakeServer: an upstream server for tests, without a process. It says how each start and each request goes;
// FakePeer and FakeConnection are what a supervisor sees of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/event.h"
#include "io/spawn.h"
#include "upstream/peer_connection.h"

namespace relay::upstream {

class FakePeer;

struct FakeServer {
  explicit FakeServer(io::Loop loop) : executor(std::move(loop)) {}

  io::Loop executor;
  peer::PeerInfo info;
  std::function<Result<void>()> on_start = [] { return Result<void>(); };
  std::function<io::Task<peer::PeerAnswer>(FakePeer& peer, const peer::Outgoing& outgoing)> on_request;
  std::string exit_report = "exited with code 3";

  int starts = 0;
  int closes = 0;
  std::vector<std::string> requests;  // "method params"
  std::vector<std::set<std::string, std::less<>>> watches;
  std::vector<protocol::LogLevel> levels;
  std::vector<peer::EraChoice> eras;
  FakePeer* peer = nullptr;  // the newest

  Connect connect();
};

class FakePeer final : public peer::Peer {
 public:
  FakePeer(FakeServer& server, peer::PeerObserver& observer)
      : server_(server), observer_(observer), gone_(server.executor) {}
  ~FakePeer() override {
    if (server_.peer == this) server_.peer = nullptr;
  }

  [[nodiscard]] const peer::PeerInfo& info() const override { return server_.info; }
  [[nodiscard]] bool is_open() const override { return is_open_; }
  io::Task<peer::PeerAnswer> request(peer::Outgoing outgoing, peer::RequestScope&) override {
    server_.requests.push_back(outgoing.method + " " + outgoing.params);
    if (!server_.on_request) co_return peer::PeerAnswer(protocol::JsonText());
    co_return co_await server_.on_request(*this, outgoing);
  }
  io::Task<void> watch(std::set<std::string, std::less<>> uris) override {
    server_.watches.push_back(std::move(uris));
    co_return Result<void>{};
  }
  io::Task<void> set_log_level(protocol::LogLevel level) override {
    server_.levels.push_back(level);
    co_return Result<void>{};
  }
  void roots_changed() override {}
  io::Task<void> close() override {
    is_open_ = false;
    gone_.set();
    co_return Result<void>{};
  }

  /// Until the connection is gone: what a request that nobody answers does.
  io::Task<peer::PeerAnswer> never() {
    RELAY_CO_CHECK(co_await gone_.wait());
    co_return fail(unavailable("the connection closed"));
  }
  void die() {
    is_open_ = false;
    gone_.set();
    observer_.closed(unavailable("the connection closed"));
  }
  peer::PeerObserver& observer() { return observer_; }

 private:
  FakeServer& server_;
  peer::PeerObserver& observer_;
  io::Event gone_;
  bool is_open_ = true;
};

class FakeConnection final : public PeerConnection {
 public:
  FakeConnection(FakeServer& server, std::unique_ptr<FakePeer> peer)
      : server_(server), peer_(std::move(peer)) {}
  peer::Peer& peer() override { return *peer_; }
  [[nodiscard]] std::optional<int> pid() const override { return 4711; }
  io::Task<std::string> exit_report() override { co_return server_.exit_report; }
  io::Task<void> close() override {
    ++server_.closes;
    co_return co_await peer_->close();
  }

 private:
  FakeServer& server_;
  std::unique_ptr<FakePeer> peer_;
};

inline Connect FakeServer::connect() {
  return [this](const ServerSpec&, peer::EraChoice era, peer::PeerObserver& observer,
                std::shared_ptr<launch::ServerLog>) -> io::Task<std::unique_ptr<PeerConnection>> {
    ++starts;
    eras.push_back(era);
    RELAY_CO_CHECK(co_await io::yield());
    RELAY_CO_CHECK(on_start());
    auto fake = std::make_unique<FakePeer>(*this, observer);
    peer = fake.get();
    co_return std::make_unique<FakeConnection>(*this, std::move(fake));
  };
}

}  // namespace relay::upstream
