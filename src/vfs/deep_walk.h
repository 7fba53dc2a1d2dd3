// walk_deep: visits everything beneath a directory, however deep it goes.
//
// Guests nest directories without a bound: a rename moves one deep tree below another. So neither the stack
// of the thread nor the number of open descriptors grows with the depth: there are two descriptors, and the
// way up is "..", checked against the directory that was left. Links are never followed. Blocks.
#pragma once

#include <functional>
#include <stop_token>

#include "base/fd.h"
#include "vfs/file_info.h"
#include "vfs/quota.h"

namespace relay::vfs {

enum class WalkEnd : std::uint8_t {
  complete,
  stopped,  // the token asked for it
  failed,   // something could not be read, or moved meanwhile
};

struct WalkSteps {
  /// Every entry. The names of a directory are read before the first of them is visited, so it may be
  /// removed.
  std::function<void(const Fd& directory, const char* name, FileType type)> visit;
  /// A directory after everything in it; may be empty.
  std::function<void(const Fd& parent, const char* name)> leave = {};
  std::stop_token stop = {};
};

WalkEnd walk_deep(Fd directory, const WalkSteps& steps);

/// Adds what lies beneath a directory: sizes of files, number of files and directories.
WalkEnd add_usage(Fd directory, Usage& usage, std::stop_token stop);

/// Removes everything beneath a directory; what cannot be removed is left.
WalkEnd remove_beneath(Fd directory);

}  // namespace relay::vfs
