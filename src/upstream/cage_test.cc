// Servers in a cage: what they try, and what they find.
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "sandbox/cage_plan.h"
#include "upstream/process_fixture.h"

namespace relay::upstream {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
namespace asio = io::asio;
using asio::ip::tcp;

/// A web server of the machine, on its loopback: answers each request with its first line.
class WebServer {
 public:
  explicit WebServer(const io::Loop& executor) : state_(std::make_shared<State>(executor)) {
    io::spawn(executor, accept_all(state_), "test web server", cancel_);
  }
  ~WebServer() { cancel_.cancel(); }
  [[nodiscard]] std::string host() const {
    return "127.0.0.1:" + std::to_string(state_->acceptor.local_endpoint().port());
  }
  [[nodiscard]] int connections() const { return state_->connections; }

 private:
  /// Belongs to the coroutine too, which ends when the loop next runs.
  struct State {
    explicit State(const io::Loop& executor)
        : acceptor(executor, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {}
    tcp::acceptor acceptor;
    int connections = 0;
  };
  static io::Task<void> accept_all(std::shared_ptr<State> state) {
    for (;;) {
      tcp::socket socket = co_await state->acceptor.async_accept(asio::use_awaitable);
      ++state->connections;
      std::string head;
      boost::system::error_code error;
      co_await asio::async_read_until(socket, asio::dynamic_buffer(head), "\r\n\r\n",
                                      asio::redirect_error(asio::use_awaitable, error));
      const std::string body = "you said " + head.substr(0, head.find('\r'));
      const std::string answer =
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
          "\r\n\r\n" + body;
      co_await asio::async_write(socket, asio::buffer(answer),
                                 asio::redirect_error(asio::use_awaitable, error));
    }
  }
  io::CancelSource cancel_;
  std::shared_ptr<State> state_;
};

class CageTest : public ProcessFixture {
 protected:
  CageTest() {
    for (const char* name : {"in", "out", "secret"}) {
      std::filesystem::create_directory(folder / name);
      std::ofstream(folder / name / "file") << "content of " << name;
    }
    spec.cage = launch::CageSpec{.read = {RELAY_FIXTURES, (folder / "in").string()},
                                 .write = {(folder / "out").string()},
                                 .hosts = {}};
  }
  std::string at(const std::string& path) const {
    return "{\"path\":" + json::quote((folder / path).string()) + "}";
  }
};

TEST_F(CageTest, DeclaredPathsAreThereAndNothingElseIs) {
  EXPECT_EQ(call("read", at("in/file")), "content of in");
  EXPECT_THAT(call("write", at("in/new")), HasSubstr("Read-only file system"));
  EXPECT_THAT(call("write", at("in/file")), HasSubstr("Read-only file system"));
  EXPECT_EQ(call("write", at("out/new")), "ok");
  EXPECT_EQ(read(folder / "out/new"), "written");
  EXPECT_EQ(call("read", at("out/file")), "content of out");
  EXPECT_THAT(call("read", at("secret/file")), StartsWith("FileNotFoundError"));
  EXPECT_THAT(call("read", at("in/../secret/file")), StartsWith("FileNotFoundError"));
}

TEST_F(CageTest, TheSystemIsReadOnlyAndItsSecretsAreAbsent) {
  const std::string root = call("list", R"({"path":"/"})");
  EXPECT_THAT(root, AllOf(HasSubstr("\"usr\""), HasSubstr("\"tmp\""), Not(HasSubstr("\"boot\"")),
                          Not(HasSubstr("\"sys\"")), Not(HasSubstr("\"old\""))));
  EXPECT_THAT(call("read", R"({"path":"/etc/shadow"})"), StartsWith("FileNotFoundError"));
  EXPECT_THAT(call("list", R"({"path":"/etc/ssl"})"), Not(HasSubstr("private")));
  EXPECT_THAT(call("write", R"({"path":"/usr/x"})"), HasSubstr("Read-only file system"));
  EXPECT_THAT(call("write", R"({"path":"/x"})"), HasSubstr("Read-only file system"));
  EXPECT_THAT(call("write", R"({"path":"/etc/x"})"), HasSubstr("Read-only file system"));
  EXPECT_THAT(call("read", R"({"path":"/etc/passwd"})"), StartsWith("server:"));
  EXPECT_THAT(call("list", R"({"path":"/dev"})"), Not(HasSubstr("\"sda\"")));
  EXPECT_EQ(call("write", R"({"path":"/dev/null"})"), "ok");
  EXPECT_EQ(call("cwd"), "/tmp");
}

TEST_F(CageTest, ItStartsWhereItWasToldToIfThatIsInside) {
  spec.cwd = (folder / "out").string();
  EXPECT_EQ(call("cwd"), spec.cwd);
  spec.name = "elsewhere";
  spec.cwd = (folder / "secret").string();
  EXPECT_EQ(call("cwd"), "/tmp");
}

TEST_F(CageTest, ItsTmpAndHomeAreItsOwn) {
  environment["HOME"] = (folder / "secret").string();
  const std::string marker = "/tmp/relay-cage-marker-" + std::to_string(::getpid());
  EXPECT_EQ(call("write", "{\"path\":\"" + marker + "\"}"), "ok");
  EXPECT_FALSE(std::filesystem::exists(marker));
  EXPECT_EQ(call("list", at("secret")), "[]") << "its home is an empty one at the same place";
  EXPECT_EQ(call("write", at("secret/mine")), "ok");
  EXPECT_FALSE(std::filesystem::exists(folder / "secret/mine"));
}

TEST_F(CageTest, ItSeesNoProcessButItsOwn) {
  EXPECT_THAT(call("processes"), AnyOf("[1, 2]", "[1, 2, 3]"));
  EXPECT_THAT(call("signal", "{\"pid\":" + std::to_string(::getpid()) + ",\"signal\":0}"),
              StartsWith("ProcessLookupError"));
  EXPECT_THAT(call("read", R"({"path":"/proc/1/environ"})"), StartsWith("PermissionError"));
  for (const char* path : {"/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern",
                           "/proc/sysrq-trigger", "/proc/self/oom_score_adj"})
    EXPECT_THAT(call("write", "{\"path\":\"" + std::string(path) + "\"}"),
                AnyOf(HasSubstr("Read-only file system"), HasSubstr("No such file")))
        << path;
}

TEST_F(CageTest, ItHoldsNoPowerAndCannotGetAny) {
  const std::string status = call("whoami");
  EXPECT_THAT(status, AllOf(HasSubstr("CapEff:\t0000000000000000"), HasSubstr("CapPrm:\t0000000000000000"),
                            HasSubstr("CapBnd:\t0000000000000000"), HasSubstr("NoNewPrivs:\t1"),
                            HasSubstr("Seccomp:\t2")));
  const auto refused = [&](long number, const std::string& arguments) {
    return call("call", "{\"number\":" + std::to_string(number) + ",\"arguments\":" + arguments + "}");
  };
  EXPECT_THAT(refused(SYS_unshare, "[268435456]"), StartsWith("PermissionError"));
  EXPECT_THAT(refused(SYS_setns, "[0,0]"), StartsWith("PermissionError"));
  EXPECT_THAT(refused(SYS_mount, "[0,0,0,0,0]"), StartsWith("PermissionError"));
  EXPECT_THAT(refused(SYS_ptrace, "[0,0,0,0]"), StartsWith("PermissionError"));
  EXPECT_THAT(refused(SYS_bpf, "[0,0,0]"), StartsWith("PermissionError"));
  EXPECT_THAT(refused(SYS_keyctl, "[0,0,0]"), StartsWith("PermissionError"));
  EXPECT_THAT(refused(SYS_userfaultfd, "[0]"), StartsWith("PermissionError"));
  EXPECT_THAT(refused(SYS_perf_event_open, "[0,0,0,0,0]"), StartsWith("PermissionError"));
  EXPECT_THAT(refused(SYS_io_uring_setup, "[1,0]"), HasSubstr("Function not implemented"));
  EXPECT_THAT(refused(SYS_socket, "[40,1,0]"), HasSubstr("not supported")) << "vsock";
  EXPECT_THAT(refused(SYS_clone, "[268435456,0,0,0,0]"), StartsWith("PermissionError"));
}

TEST_F(CageTest, WithoutHostsThereIsNoNetwork) {
  WebServer web(loop.executor());
  const std::string port = web.host().substr(web.host().find(':') + 1);
  EXPECT_THAT(call("connect", R"({"host":"127.0.0.1","port":)" + port + "}"),
              StartsWith("ConnectionRefusedError"));
  EXPECT_THAT(call("connect", R"({"host":"192.0.2.1","port":80})"), HasSubstr("unreachable"));
  EXPECT_THAT(call("env"), Not(HasSubstr("HTTP_PROXY")));
  EXPECT_EQ(web.connections(), 0);
}

TEST_F(CageTest, AHostThatIsDeclaredIsReachedThroughTheProxyAndNoOther) {
  WebServer web(loop.executor());
  WebServer other(loop.executor());
  spec.cage->hosts = {web.host(), "*.example.test"};
  EXPECT_EQ(call("get", "{\"url\":\"http://" + web.host() + "/path?q=1\"}"),
            "you said GET /path?q=1 HTTP/1.1");
  EXPECT_THAT(call("tunnel", "{\"target\":\"" + web.host() + "\"}"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("you said GET /tunnelled")));
  EXPECT_THAT(call("get", "{\"url\":\"http://" + other.host() + "/\"}"), HasSubstr("403"));
  EXPECT_THAT(call("tunnel", "{\"target\":\"" + other.host() + "\"}"),
              AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("not among the hosts")));
  EXPECT_THAT(call("tunnel", R"({"target":"evil.test:443"})"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(call("tunnel", R"({"target":"nonsense"})"), StartsWith("HTTP/1.1 400"));
  const std::string port = web.host().substr(web.host().find(':') + 1);
  EXPECT_THAT(call("connect", R"({"host":"127.0.0.1","port":)" + port + "}"),
              StartsWith("ConnectionRefusedError"))
      << "only through the proxy";
  EXPECT_EQ(other.connections(), 0);
}

TEST_F(CageTest, ANameThatLeadsToAPrivateAddressIsRefused) {
  WebServer web(loop.executor());
  spec.cage->hosts = {"localhost"};
  const std::string port = web.host().substr(web.host().find(':') + 1);
  EXPECT_THAT(call("tunnel", "{\"target\":\"localhost:" + port + "\"}"),
              AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("not public")));
  EXPECT_EQ(web.connections(), 0);
}

TEST_F(CageTest, AnyHostIsNotAnyAddress) {
  WebServer web(loop.executor());
  spec.cage->hosts = {"*"};
  EXPECT_THAT(call("tunnel", "{\"target\":\"" + web.host() + "\"}"), StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(web.connections(), 0);
}

TEST_F(CageTest, HowItEndsIsSeenFromOutside) {
  spec.env = {{"SECRET", "someone"}};
  const auto crashed = request("crash");
  ASSERT_FALSE(crashed);
  EXPECT_THAT(crashed.error().message,
              AllOf(HasSubstr("exited with code 3"), HasSubstr("the disk of someone is on fire")));
  const auto killed = request("signal", R"({"pid":2,"signal":9})");
  ASSERT_FALSE(killed);
  EXPECT_THAT(killed.error().message, HasSubstr("was killed by SIGKILL"));
}

TEST_F(CageTest, ADeafServerAndItsChildrenEndWithTheCage) {
  spec.args.push_back("--deaf");
  EXPECT_THAT(call("grandchild"), Not(HasSubstr("failed")));
  const int outside = server()->status().pid.value();
  EXPECT_TRUE(loop.run(server()->stop()));
  EXPECT_FALSE(is_alive(outside));
}

TEST_F(CageTest, AWallThatCannotBeBuiltStopsTheStart) {
  spec.cage->read.push_back("/no/such/directory");
  const auto answer = request("echo");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, AllOf(HasSubstr("wall private_root"), HasSubstr("/no/such/directory")));
}

TEST_F(CageTest, APathThatWouldBeNoCageIsRefusedBeforeAnythingStarts) {
  spec.cage->write = {"/"};
  const auto answer = request("echo");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("that would be no cage"));
}

TEST_F(CageTest, AProgramThatIsNotInsideSaysHowToPutItThere) {
  spec.command = (folder / "secret/program").string();
  const auto answer = request("echo");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message,
              AllOf(HasSubstr("exited with code 125"), HasSubstr("declare its directory")));
}

/// Programs that are no MCP servers, in a cage of their own; what they print on both streams.
class CageProgramTest : public ProcessFixture {
 protected:
  std::string run(const sandbox::CagePlan& plan, std::vector<std::string> before = {}) {
    before.insert(before.end(), {RELAY_CAGE, json::write(to_json(plan))});
    io::ChildSpec child{.program = before.front(),
                        .args = {before.begin() + 1, before.end()},
                        .environment = {{"PATH", "/usr/bin:/bin"}}};
    const auto text = loop.run(outputs(child));
    return text ? *text : text.error().message;
  }

 private:
  io::Task<std::string> outputs(const io::ChildSpec& child) {
    RELAY_CO_TRY(io::Child process, io::Child::spawn(loop.executor(), child));
    process.close_in();
    std::string text;
    for (auto* stream : {&process.out(), &process.err()}) {
      io::LineReader reader(*stream);
      for (;;) {
        RELAY_CO_TRY(const auto line, co_await reader.read_line());
        if (!line) break;
        text += *line + "\n";
      }
    }
    RELAY_CO_TRY(const io::ExitStatus status, co_await process.wait());
    co_return text + describe(status);
  }
};

TEST_F(CageProgramTest, APlainUserBuildsTheSameWalls) {
  if (::geteuid() != 0) GTEST_SKIP() << "the other tests ran as a plain user already";
  const std::string script =
      "id -u; ls /; grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/self/status; cat /etc/shadow; : > /usr/x";
  const std::string seen = run({.program = "sh", .args = {"-c", script}},
                               {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  EXPECT_THAT(seen, AllOf(StartsWith("65534\n"), HasSubstr("usr"), HasSubstr("CapEff:\t0000000000000000"),
                          HasSubstr("NoNewPrivs:\t1"), HasSubstr("Seccomp:\t2"),
                          HasSubstr("/etc/shadow: No such file"), HasSubstr("Read-only file system")));
}

TEST_F(CageProgramTest, NodeRunsWithThreadsAndWasmButWithoutTheMachine) {
  if (!std::filesystem::exists("/usr/bin/node")) GTEST_SKIP() << "no node in /usr/bin";
  const std::string script = R"js(
    const { Worker } = require('worker_threads');
    const fs = require('fs');
    const attempt = (name, work) => { try { console.log(name, work()); } catch (error) { console.log(name, error.code || error.message); } };
    new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    attempt('shadow', () => fs.readFileSync('/etc/shadow', 'utf8'));
    attempt('tmp', () => fs.writeFileSync('/tmp/x', 'x') ?? 'written');
    attempt('interfaces', () => Object.keys(require('os').networkInterfaces()).join());
    attempt('child', () => require('child_process').execFileSync('echo', ['from a child']).toString().trim());
    new Worker("require('worker_threads').parentPort.postMessage('from a thread')", { eval: true }).on('message', (text) => console.log(text));
    require('net').connect(80, '192.0.2.1').on('error', (error) => console.log('connect', error.code));
  )js";
  const std::string seen = run({.program = "node", .args = {"-e", script}});
  EXPECT_THAT(seen, AllOf(HasSubstr("shadow ENOENT"), HasSubstr("tmp written"), HasSubstr("interfaces lo"),
                          HasSubstr("child from a child"), HasSubstr("from a thread"),
                          HasSubstr("connect ENETUNREACH"), HasSubstr("exited with code 0")));
}

TEST_F(CageProgramTest, OrphansOfTheServerAreReapedAndEndWithIt) {
  const std::string seen = run(
      {.program = "sh",
       .args = {"-c",
                "(sleep 1000 &) ; (true &) ; sleep 0.2; grep -l 'Z (zombie)' /proc/[0-9]*/status; exit 9"}});
  EXPECT_EQ(seen, "exited with code 9");
}

TEST_F(CageProgramTest, SomethingThatIsNoPlanIsRefused) {
  EXPECT_THAT(run({.program = ""}), AllOf(StartsWith("relay-cage: "), HasSubstr("exited with code 125")));
}

}  // namespace
}  // namespace relay::upstream
