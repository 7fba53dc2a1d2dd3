// Starts a program and copies bytes between it and its own standard streams: what any process in between
// costs, whatever it does.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace {

bool copy(int from, int to) {
  static std::array<char, 65536> buffer;
  const ssize_t got = ::read(from, buffer.data(), buffer.size());
  for (ssize_t done = 0; done < got;) {
    const ssize_t written = ::write(to, buffer.data() + done, static_cast<std::size_t>(got - done));
    if (written < 0) return false;
    done += written;
  }
  return got > 0;
}

}  // namespace

int main(int argc, char** argv) {
  int to_child[2];
  int from_child[2];
  if (argc < 2 || ::pipe(to_child) != 0 || ::pipe(from_child) != 0)
    return std::fprintf(stderr, "usage: relay-bench-copy PROGRAM [ARGUMENT...]\n"), 2;
  if (::fork() == 0) {
    ::dup2(to_child[0], STDIN_FILENO);
    ::dup2(from_child[1], STDOUT_FILENO);
    ::close_range(3, ~0U, 0);
    ::execvp(argv[1], argv + 1);
    ::_exit(127);
  }
  ::close(to_child[0]);
  ::close(from_child[1]);
  pollfd ends[2] = {{STDIN_FILENO, POLLIN, 0}, {from_child[0], POLLIN, 0}};
  while (::poll(ends, 2, -1) > 0) {
    if (ends[0].revents && !copy(STDIN_FILENO, to_child[1])) return 0;
    if (ends[1].revents && !copy(from_child[0], STDOUT_FILENO)) return 0;
  }
}
