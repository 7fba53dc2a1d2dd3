// relay-bench-files: what a guest's file calls cost inside relay, beside the bare system calls that they
// stand for.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

#include "vfs/guest_files.h"
#include "vfs/workspace.h"

namespace {

using namespace relay;

double microseconds_each(int rounds, const std::function<void()>& work) {
  for (int i = 0; i < rounds / 10; ++i) work();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / rounds;
}

void row(const char* name, double ours, double bare) {
  std::printf("%-28s %10.2f us %10.2f us %8.2f\n", name, ours, bare, ours / bare);
}

void bare_read(const std::string& path, std::string& buffer) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (::pread(fd, buffer.data(), buffer.size(), 0) < 0) std::abort();
  ::close(fd);
}

void bare_write(const std::string& path, const std::string& bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (::pwrite(fd, bytes.data(), bytes.size(), 0) < 0) std::abort();
  ::close(fd);
}

}  // namespace

int main() {
  std::string name = (std::filesystem::temp_directory_path() / "relay-bench-XXXXXX").string();
  const std::string state = ::mkdtemp(name.data());
  {
    vfs::TreeSpec spec;
    spec.workspace_dir = state;
    const auto trees = vfs::Trees::open(spec, nullptr).value();
    const vfs::GuestFiles files(trees->open_tree(authority::Unrecorded::listing({})).value());
    const std::string host = state + "/shared/tmp/file";
    const auto call = [&](const char* op, const char* args, std::string body = "") {
      if (!files.perform(op, json::parse_object(args).value(), std::move(body))) std::abort();
    };
    call("fs.write", R"({"path":"/tmp/file","mode":"create"})", std::string(8 << 20, 'x'));
    std::string small(100, 'x'), large(1 << 20, 'x');
    std::printf("%-28s %13s %13s %8s\n", "call", "relay", "bare", "ratio");
    row("fs.stat", microseconds_each(50'000, [&] { call("fs.stat", R"({"path":"/tmp/file"})"); }),
        microseconds_each(50'000, [&] { (void)std::filesystem::file_size(host); }));
    row("fs.read 100 bytes",
        microseconds_each(50'000,
                          [&] { call("fs.read", R"({"path":"/tmp/file","offset":4096,"length":100})"); }),
        microseconds_each(50'000, [&] { bare_read(host, small); }));
    row("fs.read 1 MiB",
        microseconds_each(1'000,
                          [&] { call("fs.read", R"({"path":"/tmp/file","offset":0,"length":1048576})"); }),
        microseconds_each(1'000, [&] { bare_read(host, large); }));
    row("fs.write 100 bytes at",
        microseconds_each(50'000,
                          [&] { call("fs.write", R"({"path":"/tmp/file","mode":"at","offset":0})", small); }),
        microseconds_each(50'000, [&] { bare_write(host, small); }));
    row("fs.write 1 MiB overwrite",
        microseconds_each(300, [&] { call("fs.write", R"({"path":"/tmp/new","mode":"overwrite"})", large); }),
        microseconds_each(300, [&] { bare_write(state + "/bare", large); }));
  }
  std::filesystem::remove_all(state);
  return 0;
}
