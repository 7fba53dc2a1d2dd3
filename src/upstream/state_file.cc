#include "upstream/state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

#include "base/fd.h"
#include "io/spawn.h"

namespace relay::upstream {
namespace {

std::unexpected<Error> failed(std::string_view what, const std::filesystem::path& path) {
  return fail(from_errno(errno, fmt::format("{} {}", what, path.string())));
}

Result<void> write_fully(const Fd& file, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(file.get()) != 0) return failed("sync", path);
  return {};
}

Result<void> make_directory(const std::filesystem::path& path) {
  if (path.empty() || ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT) return failed("make the directory", path);
  RELAY_CHECK(make_directory(path.parent_path()));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failed("make the directory", path);
  return {};
}

io::Task<void> write_file(io::ThreadPool& pool, std::filesystem::path path, std::string bytes) {
  auto work = [path = std::move(path), bytes = std::move(bytes)] { return replace_file(path, bytes); };
  co_return co_await pool.run(std::move(work));
}

}  // namespace

Result<std::string> load_file(const std::filesystem::path& path, std::size_t bytes_max) {
  // Without O_NONBLOCK a pipe in its place would make us wait for somebody to open the other end.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) return failed("open", path);
  if (!S_ISREG(status.st_mode)) return fail(invalid(fmt::format("{} is not a plain file", path.string())));
  std::string bytes(bytes_max + 1, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", path);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled > bytes_max)
    return fail(too_large(fmt::format("{} is over {} bytes", path.string(), bytes_max)));
  bytes.resize(filled);
  return bytes;
}

Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes) {
  RELAY_CHECK(make_directory(path.parent_path()));
  std::string temporary = path.string() + ".XXXXXX";
  const Fd file(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!file.is_open()) return failed("create", temporary);
  Result<void> written = write_fully(file, bytes, temporary);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = failed("rename to", path);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

void replace_file_soon(const io::Loop& executor, io::ThreadPool& pool, std::filesystem::path path,
                       std::string bytes, std::string name) {
  io::spawn(executor, write_file(pool, std::move(path), std::move(bytes)), std::move(name));
}

}  // namespace relay::upstream
