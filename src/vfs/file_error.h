// FileError: a relay::Error that also knows its errno.
//
// Tools want a sentence and a kind; guests want the number that their language turns into FileNotFoundError
// or `err.code === "ENOENT"`. A FileError is both: it derives from Error, so RELAY_TRY in a function that
// returns Result<T> keeps the sentence and drops the number, while everything in vfs/ hands the number up.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::vfs {

struct FileError : Error {
  int number = EIO;    // the errno a guest sees
  std::string reason;  // the message without number and path
};

template <class T = void>
using FileResult = std::expected<T, FileError>;

/// "ENOENT: /tmp/x: no such file or directory": the number, the path as the caller knows it, the reason.
FileError file_error(int number, std::string_view path);
/// The same with our own reason, for a rule of ours that said no or a hint that helps.
FileError file_error(int number, std::string_view path, std::string_view reason);

/// The same error about another path: layers below know a path by another name than the caller.
FileError retold(FileError error, std::string_view path);

/// "ENOENT" for ENOENT; "EIO" for a number without a name.
std::string_view errno_name(int number);

inline std::unexpected<FileError> fail(FileError error) {
  return std::unexpected<FileError>(std::move(error));
}

}  // namespace relay::vfs

/// RELAY_TRY and RELAY_CHECK for functions that return a FileResult.
#define RELAY_FILE_TRY_IMPL(holder, declaration, ...)                                    \
  auto&& holder = __VA_ARGS__;                                                           \
  if (!holder) return std::unexpected<relay::vfs::FileError>(std::move(holder).error()); \
  declaration = *std::move(holder)
#define RELAY_FILE_TRY(declaration, ...) \
  RELAY_FILE_TRY_IMPL(RELAY_CONCAT(relay_try_, __LINE__), declaration, __VA_ARGS__)
#define RELAY_FILE_CHECK(...)                                                         \
  do {                                                                                \
    if (auto&& relay_check_ = __VA_ARGS__; !relay_check_)                             \
      return std::unexpected<relay::vfs::FileError>(std::move(relay_check_).error()); \
  } while (false)
