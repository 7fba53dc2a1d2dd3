#include "vfs/file_error.h"

#include <cstring>

#include <fmt/format.h>

namespace relay::vfs {
namespace {

ErrorKind kind_of(int number) {
  switch (number) {
    case ENOENT: return ErrorKind::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
    case EXDEV: return ErrorKind::denied;
    case EEXIST:
    case ENOTEMPTY:
    case EBUSY: return ErrorKind::conflict;
    case EINVAL:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP: return ErrorKind::invalid;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case E2BIG: return ErrorKind::too_large;
    case ECANCELED: return ErrorKind::cancelled;
    default: return ErrorKind::unavailable;
  }
}

Blame blame_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::denied: return Blame::policy;
    case ErrorKind::unavailable: return Blame::environment;
    default: return Blame::peer;
  }
}

std::string_view reason_of(int number) {
  switch (number) {
    case ENOENT: return "no such file or directory";
    case EACCES:
    case EPERM: return "permission denied";
    case EROFS: return "read-only; only /tmp, /out and mounts with mode rw can be written";
    case EEXIST: return "it exists already";
    case ENOTDIR: return "not a directory";
    case EISDIR: return "it is a directory";
    case ENOTEMPTY: return "the directory is not empty";
    case ENAMETOOLONG: return "the name is too long";
    case ELOOP: return "symbolic links are not followed here";
    case EXDEV: return "the path leaves its mount";
    case ENOSPC:
    case EDQUOT: return "no space left";
    default: return {};
  }
}

}  // namespace

std::string_view errno_name(int number) {
  const char* name = ::strerrorname_np(number);
  return name != nullptr ? name : "EIO";
}

FileError file_error(int number, std::string_view path, std::string_view reason) {
  FileError error;
  error.kind = kind_of(number);
  error.blame = blame_of(error.kind);
  error.message = fmt::format("{}: {}: {}", errno_name(number), path, reason);
  error.number = number;
  error.reason = reason;
  return error;
}

FileError retold(FileError error, std::string_view path) {
  return file_error(error.number, path, error.reason);
}

FileError file_error(int number, std::string_view path) {
  if (const std::string_view reason = reason_of(number); !reason.empty())
    return file_error(number, path, reason);
  char text[128];
  return file_error(number, path, strerror_r(number, text, sizeof text));
}

}  // namespace relay::vfs
