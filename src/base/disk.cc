#include "base/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>

#include <fmt/format.h>

#include "base/fd.h"

namespace relay {
namespace {

Error failed(std::string_view what, const std::filesystem::path& path) {
  return from_errno(errno, fmt::format("{} {}", what, path.string()));
}

Result<void> write_fully(const Fd& fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(failed("write", path));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd.get()) != 0) return fail(failed("sync", path));
  return {};
}

}  // namespace

Result<std::string> load_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open()) return fail(failed("open", path));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail(failed("stat", path));
  if (!S_ISREG(status.st_mode)) return fail(invalid(fmt::format("{} is not a file", path.string())));
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes)
    return fail(
        too_large(fmt::format("{} has {} bytes, the limit is {}", path.string(), status.st_size, max_bytes)));
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(failed("read", path));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

Result<void> write_new_file(const std::filesystem::path& path, std::string_view bytes, unsigned mode) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!fd.is_open()) return fail(failed("create", path));
  return write_fully(fd, bytes, path);
}

Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes, unsigned mode) {
  const std::filesystem::path temporary = path.parent_path() / temporary_name(".tmp-");
  Result<void> written = write_new_file(temporary, bytes, mode);
  if (!written && written.error().kind == ErrorKind::not_found) {
    RELAY_CHECK(make_directory(path.parent_path()));
    written = write_new_file(temporary, bytes, mode);
  }
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const Error error = failed("rename to", path);
    ::unlink(temporary.c_str());
    return fail(error);
  }
  return sync_directory(path.parent_path());
}

Result<bool> create_file(const std::filesystem::path& path, std::string_view bytes, unsigned mode) {
  const std::filesystem::path temporary = path.parent_path() / temporary_name(".tmp-");
  Result<void> written = write_new_file(temporary, bytes, mode);
  const bool linked = written && ::link(temporary.c_str(), path.c_str()) == 0;
  if (written && !linked && errno != EEXIST) written = fail(failed("create", path));
  ::unlink(temporary.c_str());
  if (!written) return fail(written.error());
  RELAY_CHECK(sync_directory(path.parent_path()));
  return linked;
}

Result<void> sync_directory(const std::filesystem::path& path) {
  const Fd fd(::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return fail(failed("open", path));
  if (::fsync(fd.get()) != 0) return fail(failed("sync", path));
  return {};
}

Result<void> make_directory(const std::filesystem::path& path) {
  std::filesystem::path sofar;
  for (const auto& component : path) {
    sofar /= component;
    if (::mkdir(sofar.c_str(), 0700) != 0 && errno != EEXIST && errno != EISDIR && errno != EROFS)
      return fail(failed("make directory", sofar));
  }
  std::error_code error;
  if (!std::filesystem::is_directory(path, error))
    return fail(invalid(fmt::format("{} is not a directory", path.string())));
  return {};
}

std::string temporary_name(std::string_view prefix) {
  // The start time tells a process from a later one with the same id.
  static const auto started = std::chrono::system_clock::now().time_since_epoch().count();
  static std::atomic<unsigned> next{0};
  return fmt::format("{}{}-{}-{}", prefix, ::getpid(), started, next++);
}

}  // namespace relay
