#include "mcp/stdio.h"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "io/event.h"
#include "mcp/server_fixture.h"

namespace relay::mcp {
namespace {

// A server on two pipes, with short lines, and a tool that waits until the test lets it go.
class StdioTest : public ServerTest {
 protected:
  StdioTest() {
    add("wait", R"({"type":"object"})",
        [this](serving::Context&, authority::Arguments) -> io::Task<protocol::ToolResult> {
          ++waiting_;
          RELAY_CO_CHECK(co_await let_go_.wait());
          co_return protocol::ToolResult::text("done");
        });
    int to[2];
    int from[2];
    EXPECT_EQ(::pipe2(to, O_CLOEXEC | O_NONBLOCK), 0);
    EXPECT_EQ(::pipe2(from, O_CLOEXEC | O_NONBLOCK), 0);
    in_.assign(to[0]);
    out_.assign(from[1]);
    write_ = to[1];
    read_ = from[0];
    auto serve = [this]() -> io::Task<void> {
      authority::Caller caller{.principal = "alice"};
      auto served = co_await serve_stdio(short_lines_, in_, out_, std::move(caller));
      ended_ = true;
      co_return served;
    };
    io::spawn(loop_.get_executor(), serve(), "stdio");
  }
  ~StdioTest() override {
    let_go_.set();
    ::close(write_);
    while (!ended_) step();
    ::close(read_);
    short_lines_.stop();
    poll();
  }

  void step() {
    loop_.restart();
    loop_.run_one();
  }
  void send(std::string_view line) {
    const std::string text = std::string(line) + "\n";
    for (std::string_view left = text; !left.empty();) {
      const ssize_t sent = ::write(write_, left.data(), left.size());
      if (sent > 0) left.remove_prefix(static_cast<std::size_t>(sent));
      if (sent <= 0) step();  // the pipe is full until the server reads
    }
  }
  void call(int id, std::string_view tool) {
    send(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{}}})", id,
                     modern_params(fmt::format(R"("name":"{}","arguments":{{}})", tool))));
  }
  json::value receive() {
    for (;;) {
      if (const std::size_t newline = received_.find('\n'); newline != std::string::npos) {
        auto message = json::parse(received_.substr(0, newline));
        received_.erase(0, newline + 1);
        return message.value();
      }
      char bytes[4096];
      const ssize_t got = ::read(read_, bytes, sizeof bytes);
      if (got > 0) received_.append(bytes, static_cast<std::size_t>(got));
      if (got <= 0) step();
    }
  }
  // "id code" of a refusal, "id ok" of an answer.
  std::string next() {
    const json::value message = receive();
    const json::object& members = message.get_object();
    const json::object* error = json::find_object(members, "error");
    return json::write(members.at("id")) + " " +
           (error ? std::to_string(json::find_int(*error, "code").value_or(0)) : "ok");
  }
  static ServerOptions with_short_lines() {
    ServerOptions options;
    options.line_bytes = 1000;
    return options;
  }

  Server short_lines_{loop_.get_executor(), catalogue_, clock_, random_, with_short_lines()};
  io::asio::posix::stream_descriptor in_{loop_};
  io::asio::posix::stream_descriptor out_{loop_};
  io::Event let_go_{loop_.get_executor()};
  int write_ = -1;
  int read_ = -1;
  int waiting_ = 0;
  bool ended_ = false;
  std::string received_;
};

constexpr std::string_view kPing = R"({"jsonrpc":"2.0","id":99,"method":"ping"})";

TEST_F(StdioTest, ALineOverTheLimitIsRefusedWithItsIdAndTheNextIsServed) {
  const std::string filling(200'000, 'x');
  send(R"({"jsonrpc":"2.0","method":"ping","params":{"a":")" + filling + R"("},"id":7})");
  EXPECT_EQ(next(), "7 -32600");
  send(R"({"jsonrpc":"2.0","method":"ping","params":{"a":")" + filling + R"("}})");
  EXPECT_EQ(next(), "null -32600");
  send(kPing);
  EXPECT_EQ(next(), "99 ok");
}

TEST_F(StdioTest, WhatCannotBeParsedIsRefusedWithItsId) {
  send(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}})");
  EXPECT_EQ(next(), "1 -32700");
  send(R"({"jsonrpc":"2.0","id":"two","method":"ping","params":{"a":1,"a":2}})");
  EXPECT_EQ(next(), R"("two" -32600)");
  send(R"({"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":)" + std::string(100, '[') +
       std::string(100, ']') + "}}");
  EXPECT_EQ(next(), "3 -32700");
  send("nonsense");
  EXPECT_EQ(next(), "null -32700");
}

TEST_F(StdioTest, AByteOrderMarkIsDropped) {
  send("\xef\xbb\xbf" + std::string(kPing));
  EXPECT_EQ(next(), "99 ok");
}

TEST_F(StdioTest, RequestsOverTheLimitWaitForThoseThatRun) {
  const int most = static_cast<int>(limits::kRequestsPerSession);
  for (int id = 0; id < most + 2; ++id) call(id, "wait");
  while (waiting_ < most) step();
  poll();
  EXPECT_EQ(waiting_, most) << "the others have not started";
  let_go_.set();
  for (int answers = 0; answers < most + 2; ++answers) EXPECT_TRUE(next().ends_with(" ok"));
  EXPECT_EQ(waiting_, most + 2);
}

TEST_F(StdioTest, ACancellationReachesARunningCallWhileAsManyRunAsMay) {
  const int most = static_cast<int>(limits::kRequestsPerSession);
  for (int id = 0; id < most; ++id) call(id, "wait");
  while (waiting_ < most) step();
  send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}})");
  call(most, "wait");
  while (waiting_ < most + 1) step();
  SUCCEED() << "the cancelled call made room";
}

}  // namespace
}  // namespace relay::mcp
