// One client that is in no hurry: sends the same HTTP request again and again over one connection, with a
// pause before each, so that what is measured is the latency of a server that has nothing else to do.
//   relay-bench-pace --port P --count N --pause MS --expect TEXT < REQUEST
// REQUEST is the whole request as it goes over the wire. Prints one JSON object with microseconds.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Plan {
  int port = 0;
  int count = 100;
  std::chrono::milliseconds pause{20};
  std::string expect;
};

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "relay-bench-pace: %s\n", why.c_str());
  std::exit(1);
}

Plan parse_plan(int argc, char** argv) {
  Plan plan;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--port") plan.port = std::atoi(argv[i + 1]);
    if (flag == "--count") plan.count = std::atoi(argv[i + 1]);
    if (flag == "--pause") plan.pause = std::chrono::milliseconds(std::atoi(argv[i + 1]));
    if (flag == "--expect") plan.expect = argv[i + 1];
  }
  if (plan.port == 0 || plan.count < 1) die("usage: --port P --count N --pause MS --expect TEXT < REQUEST");
  return plan;
}

int connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) die("cannot connect");
  return fd;
}

// The size of the answer that begins with these bytes; 0 while its head is not whole.
std::size_t answer_bytes(const std::string& got) {
  const std::size_t end = got.find("\r\n\r\n");
  if (end == std::string::npos) return 0;
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t at = got.find(kLength);
  if (at == std::string::npos || at > end) die("an answer without Content-Length: " + got.substr(0, 500));
  return end + 4 + static_cast<std::size_t>(std::atol(got.c_str() + at + kLength.size()));
}

std::string ask(int fd, const std::string& request) {
  if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    die("the request was not taken whole");
  std::string got;
  for (std::size_t wanted = 0; wanted == 0 || got.size() < wanted; wanted = answer_bytes(got)) {
    char piece[65536];
    const ssize_t count = ::recv(fd, piece, sizeof piece, 0);
    if (count <= 0) die("the connection ended");
    got.append(piece, static_cast<std::size_t>(count));
  }
  return got;
}

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

int main(int argc, char** argv) {
  const Plan plan = parse_plan(argc, argv);
  const std::string request((std::istreambuf_iterator<char>(std::cin)), {});
  const int fd = connect_to(plan.port);
  std::vector<double> times;
  for (int i = 0; i < plan.count; ++i) {
    std::this_thread::sleep_for(plan.pause);
    const Clock::time_point begin = Clock::now();
    const std::string answer = ask(fd, request);
    times.push_back(microseconds(Clock::now() - begin));
    if (answer.find(plan.expect) == std::string::npos) die("wrong answer: " + answer.substr(0, 1000));
  }
  ::close(fd);
  std::ranges::sort(times);
  const auto quantile = [&times](double q) {
    return times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))];
  };
  std::printf(R"({"p50":%.1f,"p90":%.1f,"p99":%.1f,"min":%.1f})"
              "\n",
              quantile(0.5), quantile(0.9), quantile(0.99), times.front());
  return 0;
}
