// StdioPeerTest: a peer over the pipes of a server that is a few lines of Python, so that what it does wrong
// is real. Test-only.
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "io/child.h"
#include "peer/peer_fixture.h"

namespace relay::peer {

// hello() is a legacy server's part of the handshake; take() gives the next message.
inline constexpr std::string_view kPrelude = R"py(
import sys, json, os, time
def raw(text): sys.stdout.write(text); sys.stdout.flush()
def send(message): raw(json.dumps(dict(jsonrpc="2.0", **message)) + "\n")
def take():
    line = sys.stdin.readline()
    if not line: sys.exit(0)
    return json.loads(line)
def text(words): return {"content": [{"type": "text", "text": words}]}
def hello():
    while True:
        m = take()
        if m["method"] == "server/discover": send({"id": m["id"], "error": {"code": -32601, "message": "no such method"}})
        elif m["method"] == "initialize":
            send({"id": m["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
                  "serverInfo": {"name": "fake", "version": "1"}, "instructions": "be kind"}})
        elif m["method"] == "notifications/initialized": return
)py";

class StdioPeerTest : public testing::Test {
 protected:
  StdioPeerTest() { std::signal(SIGPIPE, SIG_IGN); }
  ~StdioPeerTest() override {
    peer_.reset();
    child_.reset();
    loop_.settle();
  }

  Result<std::unique_ptr<Peer>> try_connect(std::string script, PeerOptions options) {
    io::ChildSpec spec;
    spec.program = "python3";
    spec.args = {"-u", "-c", std::string(kPrelude) + script};
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    spec.err = io::Stdio::inherit;
    child_ = std::make_unique<io::Child>(io::Child::spawn(loop_.executor(), spec).value());
    return loop_.run(connect_stdio(loop_.executor(), *child_, std::move(options), observer_));
  }
  void connect(std::string script, EraChoice era = EraChoice::probe) {
    auto peer = try_connect(std::move(script), test_options(era));
    ASSERT_TRUE(peer) << peer.error().message;
    peer_ = *std::move(peer);
  }
  Result<PeerAnswer> call(Outgoing outgoing) {
    return loop_.run(peer_->request(std::move(outgoing), exchange_));
  }

  io::TestLoop loop_;
  RecordingObserver observer_;
  RecordingExchange exchange_;
  std::unique_ptr<io::Child> child_;
  std::unique_ptr<Peer> peer_;
};

}  // namespace relay::peer
