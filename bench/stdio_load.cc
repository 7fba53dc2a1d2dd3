// Drives an MCP server over stdio for a while: tools/call with a window of calls in flight, every answer
// checked.
//   relay-bench-stdio --era legacy|modern --tool NAME --expect TEXT --seconds S --window W -- COMMAND ARGS...
// Prints one JSON object: calls per second, p50 and p99 in microseconds, the server's resident megabytes.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Plan {
  bool modern = false;
  std::string tool;
  std::string expect;
  double seconds = 1;
  int window = 1;
  char** command = nullptr;
};

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "relay-bench-stdio: %s\n", why.c_str());
  std::exit(1);
}

Plan parse_plan(int argc, char** argv) {
  Plan plan;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    const char* value = argv[i + 1];
    if (flag == "--") {
      plan.command = argv + i + 1;
      break;
    }
    if (flag == "--era") plan.modern = std::string_view(value) == "modern";
    if (flag == "--tool") plan.tool = value;
    if (flag == "--expect") plan.expect = value;
    if (flag == "--seconds") plan.seconds = std::atof(value);
    if (flag == "--window") plan.window = std::atoi(value);
  }
  if (!plan.command || plan.tool.empty())
    die("usage: --era E --tool T --expect X --seconds S --window W -- COMMAND...");
  return plan;
}

// The server's process and both ends of its pipes.
class Server {
 public:
  explicit Server(char** command) {
    std::array<int, 2> down{};
    std::array<int, 2> up{};
    if (::pipe(down.data()) != 0 || ::pipe(up.data()) != 0) die("pipe failed");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(down[0], STDIN_FILENO);
      ::dup2(up[1], STDOUT_FILENO);
      for (const int fd : {down[0], down[1], up[0], up[1]}) ::close(fd);
      ::execvp(command[0], command);
      ::_exit(127);
    }
    ::close(down[0]);
    ::close(up[1]);
    to_ = down[1];
    from_ = up[0];
  }

  ~Server() {
    ::close(to_);
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void send(std::string_view line) const {
    while (!line.empty()) {
      const ssize_t n = ::write(to_, line.data(), line.size());
      if (n <= 0) die("the server closed its stdin");
      line.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  // The next line, valid until the next call.
  std::string_view receive() {
    for (;;) {
      const std::size_t newline = buffer_.find('\n', read_);
      if (newline != std::string::npos) {
        const std::string_view line(buffer_.data() + read_, newline - read_);
        read_ = newline + 1;
        return line;
      }
      fill();
    }
  }

  double resident_mb() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
    return 0;
  }

 private:
  void fill() {
    buffer_.erase(0, read_);
    read_ = 0;
    pollfd ready{from_, POLLIN, 0};
    if (::poll(&ready, 1, 20'000) <= 0) die("no answer for 20 s");
    const std::size_t had = buffer_.size();
    buffer_.resize(had + 65536);
    const ssize_t n = ::read(from_, buffer_.data() + had, 65536);
    if (n <= 0) die("the server ended");
    buffer_.resize(had + static_cast<std::size_t>(n));
  }

  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string buffer_;
  std::size_t read_ = 0;
};

constexpr std::string_view kModernMeta =
    R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}})";

std::string call_line(const Plan& plan, int id) {
  std::string line = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                     R"(,"method":"tools/call","params":{"name":")" + plan.tool + R"(","arguments":{})";
  if (plan.modern) line += kModernMeta;
  return line + "}}\n";
}

void shake_hands(const Plan& plan, Server& server) {
  if (plan.modern) {
    server.send(R"({"jsonrpc":"2.0","id":"hello","method":"server/discover","params":{)" +
                std::string(kModernMeta.substr(1)) + "}}\n");
  } else {
    server.send(
        R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})"
        "\n");
  }
  const std::string_view answer = server.receive();
  if (answer.find("\"result\"") == std::string_view::npos) die("refused: " + std::string(answer));
  if (!plan.modern)
    server.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
                "\n");
}

int find_id(std::string_view line) {
  const std::size_t at = line.find("\"id\":");
  int id = -1;
  if (at != std::string_view::npos) std::from_chars(line.data() + at + 5, line.data() + line.size(), id);
  return id;
}

// The latencies, in microseconds, of all calls that were sent within the time; each is waited for.
std::vector<double> drive(const Plan& plan, Server& server, std::chrono::duration<double> time) {
  std::vector<Clock::time_point> sent;
  std::vector<double> micros;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  const auto send_one = [&] {
    sent.push_back(Clock::now());
    server.send(call_line(plan, static_cast<int>(sent.size()) - 1));
  };
  for (int i = 0; i < plan.window; ++i) send_one();
  while (micros.size() < sent.size()) {
    const std::string_view line = server.receive();
    const int id = find_id(line);
    if (id < 0) continue;  // a notification
    if (id >= static_cast<int>(sent.size()) || line.find(plan.expect) == std::string_view::npos)
      die("wrong answer: " + std::string(line.substr(0, 400)));
    const auto now = Clock::now();
    micros.push_back(
        std::chrono::duration<double, std::micro>(now - sent[static_cast<std::size_t>(id)]).count());
    if (now < end) send_one();
  }
  return micros;
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  const Plan plan = parse_plan(argc, argv);
  Server server(plan.command);
  shake_hands(plan, server);
  drive(plan, server, std::chrono::milliseconds(500));  // warm up
  const auto from = Clock::now();
  std::vector<double> micros = drive(plan, server, std::chrono::duration<double>(plan.seconds));
  const double seconds = std::chrono::duration<double>(Clock::now() - from).count();
  std::ranges::sort(micros);
  const auto at = [&](double q) {
    return micros[static_cast<std::size_t>(q * static_cast<double>(micros.size() - 1))];
  };
  std::printf("{\"rps\":%.1f,\"p50\":%.1f,\"p99\":%.1f,\"rssMb\":%.1f}\n",
              static_cast<double>(micros.size()) / seconds, at(0.5), at(0.99), server.resident_mb());
  return 0;
}
