// Mount: everything that changes the content of files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "vfs/mount.h"
#include "vfs/tree_path.h"

namespace relay::vfs {
namespace {

constexpr unsigned kNewFileMode = 0666;  // the process's umask takes bits away

FileError no_room(std::string_view path) {
  return file_error(ENOSPC, path, "the workspace is full; remove files from /tmp or /out");
}

FileResult<> write_fully(const Fd& fd, std::string_view bytes, std::uint64_t offset, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(file_error(errno, path));
    bytes.remove_prefix(static_cast<std::size_t>(put));
    offset += static_cast<std::size_t>(put);
  }
  return {};
}

FileResult<> sync(const Fd& fd, Durability durability, std::string_view path) {
  if (durability == Durability::synced && ::fsync(fd.get()) != 0) return fail(file_error(errno, path));
  return {};
}

// The name of a file is durable when its directory is; an O_PATH descriptor cannot be synced, so open it
// again.
FileResult<> sync_directory(const Fd& parent, Durability durability, std::string_view path) {
  if (durability == Durability::cached) return {};
  const Fd readable(::openat(parent.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable.is_open() || ::fsync(readable.get()) != 0) return fail(file_error(errno, path));
  return {};
}

struct Target {
  bool exists = false;
  std::uint64_t size = 0;
  unsigned mode = 0;
};

// What stands in the place of a file that is about to be replaced.
FileResult<Target> look_at_target(const Fd& parent, const std::string& name, std::string_view path) {
  struct ::stat status{};
  if (::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? FileResult<Target>(Target{}) : fail(file_error(errno, path));
  }
  if (S_ISLNK(status.st_mode)) return fail(file_error(ELOOP, path));
  if (S_ISDIR(status.st_mode)) return fail(file_error(EISDIR, path));
  if (!S_ISREG(status.st_mode))
    return fail(file_error(EACCES, path, "devices, pipes and sockets are not replaced"));
  return Target{true, static_cast<std::uint64_t>(status.st_size), status.st_mode & 07777U};
}

// Fills the temporary file. A file that is replaced passes its mode on.
FileResult<> fill_temporary(const Fd& fd, const Target& target, const WriteRequest& request,
                            std::string_view path) {
  if (target.exists && ::fchmod(fd.get(), target.mode) != 0) return fail(file_error(errno, path));
  RELAY_FILE_CHECK(write_fully(fd, request.bytes, 0, path));
  return sync(fd, request.durability, path);
}

}  // namespace

FileResult<WriteReceipt> Mount::write(std::string_view path, const WriteRequest& request,
                                      const PathJudge& judge) {
  RELAY_FILE_CHECK(check_writable(path));
  if (path.empty()) return fail(file_error(EISDIR, path));
  if (request.offset > INT64_MAX - request.bytes.size()) return fail(file_error(EFBIG, path));
  if (request.parents == Parents::created) {
    const std::string directory = split_last(path).directory;
    if (!directory.empty()) RELAY_FILE_CHECK(make_dir(directory, Depth::recursive, judge));
  }
  const Checks checks{LastLink::follow, Check::full, PathUse::write, judge};
  return at(path, checks, [&](const std::string& real) {
    return request.mode == WriteMode::overwrite ? replace(real, request) : write_in_place(real, request);
  });
}

FileResult<Fd> Mount::open_for_writing(const std::string& path, const WriteRequest& request,
                                       Quota::Change& change, bool& created) const {
  const int flags = request.mode == WriteMode::append ? O_WRONLY | O_APPEND : O_WRONLY;
  const bool new_only = request.mode == WriteMode::create && request.existing == Existing::refuse;
  if (!new_only) {
    auto fd = dir_.open_file(path, flags);
    const bool missing = !fd && fd.error().number == ENOENT;
    if (!missing || request.mode == WriteMode::at) return fd;
  }
  if (!change.charge(0, 1)) return fail(no_room(path));
  auto fd = dir_.open_file(path, flags | O_CREAT | O_EXCL, kNewFileMode);
  if (!fd) change.credit(0, 1);
  created = fd.has_value();
  return fd;
}

// A file that was made for bytes that do not fit goes again: whoever asked to create it can ask once more.
FileResult<WriteReceipt> Mount::write_in_place(const std::string& path, const WriteRequest& request) {
  Quota::Change change(quota_.get());
  WriteReceipt receipt;
  RELAY_FILE_TRY(const Fd fd, open_for_writing(path, request, change, receipt.created));
  auto filled = fill_in_place(fd, path, request, change, receipt);
  if (filled || !receipt.created) return filled;
  const SplitPath split = split_last(path);
  const auto parent = dir_.open_at(split.directory, O_PATH | O_DIRECTORY);
  if (parent && ::unlinkat(parent->get(), split.name.c_str(), 0) == 0) change.credit(0, 1);
  return filled;
}

FileResult<WriteReceipt> Mount::fill_in_place(const Fd& fd, const std::string& path,
                                              const WriteRequest& request, Quota::Change& change,
                                              WriteReceipt receipt) const {
  struct ::stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail(file_error(errno, path));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t offset = request.mode == WriteMode::append ? size : request.offset;
  const std::uint64_t end = offset + request.bytes.size();
  const std::uint64_t growth = end > size && !request.bytes.empty() ? end - size : 0;
  if (!change.charge(growth, 0)) return fail(no_room(path));
  if (auto written = write_fully(fd, request.bytes, offset, path); !written) {
    change.credit(growth, 0);
    return fail(std::move(written).error());
  }
  RELAY_FILE_CHECK(sync(fd, request.durability, path));
  if (receipt.created && request.durability == Durability::synced) {
    RELAY_FILE_TRY(const Fd parent, dir_.open_at(split_last(path).directory, O_PATH | O_DIRECTORY));
    RELAY_FILE_CHECK(sync_directory(parent, request.durability, path));
  }
  receipt.bytes_written = request.bytes.size();
  receipt.size = size + growth;
  return receipt;
}

FileResult<Fd> Mount::make_temporary(const Fd& parent, std::string& name) {
  for (;;) {
    name = fmt::format(".relay-tmp-{}-{}", ::getpid(), temporaries_.fetch_add(1));
    Fd fd(::openat(parent.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   kNewFileMode));
    if (fd.is_open()) return fd;
    if (errno != EEXIST) return fail(file_error(errno, name));
  }
}

FileResult<WriteReceipt> Mount::replace(const std::string& path, const WriteRequest& request) {
  const SplitPath split = split_last(path);
  RELAY_FILE_TRY(const Fd parent, dir_.open_at(split.directory, O_PATH | O_DIRECTORY));
  RELAY_FILE_CHECK(check_free(parent, split.name, path));
  RELAY_FILE_TRY(Target target, look_at_target(parent, split.name, path));
  const std::uint64_t size = request.bytes.size();
  if (!Quota::Change(quota_.get()).reserve(size, 1)) return fail(no_room(path));

  std::string temporary;
  const auto finish = [&]() -> FileResult<> {
    RELAY_FILE_TRY(const Fd fd, make_temporary(parent, temporary));
    RELAY_FILE_CHECK(fill_temporary(fd, target, request, path));
    Quota::Change change(quota_.get());
    RELAY_FILE_CHECK(check_free(parent, split.name, path));
    RELAY_FILE_TRY(target, look_at_target(parent, split.name, path));
    if (::renameat(parent.get(), temporary.c_str(), parent.get(), split.name.c_str()) != 0) {
      return fail(file_error(errno, path));
    }
    change.credit(target.size, target.exists ? 1 : 0);
    change.settle(size, 1);
    return {};
  };
  if (auto finished = finish(); !finished) {
    ::unlinkat(parent.get(), temporary.c_str(), 0);
    Quota::Change change(quota_.get());
    change.credit(size, 1);
    change.settle(size, 1);
    return fail(std::move(finished).error());
  }
  RELAY_FILE_CHECK(sync_directory(parent, request.durability, path));
  return WriteReceipt{size, size, !target.exists};
}

FileResult<> Mount::truncate(std::string_view path, std::uint64_t size, const PathJudge& judge) {
  RELAY_FILE_CHECK(check_writable(path));
  if (size > INT64_MAX) return fail(file_error(EFBIG, path));
  const Checks checks{LastLink::follow, Check::full, PathUse::write, judge};
  return at(path, checks, [&](const std::string& real) -> FileResult<> {
    Quota::Change change(quota_.get());
    RELAY_FILE_TRY(const Fd fd, dir_.open_file(real, O_WRONLY));
    struct ::stat status{};
    if (::fstat(fd.get(), &status) != 0) return fail(file_error(errno, real));
    const auto old_size = static_cast<std::uint64_t>(status.st_size);
    const std::uint64_t growth = size > old_size ? size - old_size : 0;
    if (!change.charge(growth, 0)) return fail(no_room(real));
    if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) {
      change.credit(growth, 0);
      return fail(file_error(errno, real));
    }
    change.credit(old_size > size ? old_size - size : 0, 0);
    return {};
  });
}

}  // namespace relay::vfs
