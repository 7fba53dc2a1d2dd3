// Disk: whole files, written so that a crash leaves the old one or the new one and never half of one.
// Blocking, safe from any thread: call it from the thread pool or before the loop runs. Errors name the path
// and what the system said. Two writers of one file do not mix their bytes; the last rename wins.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay {

/// not_found when there is none. Fails with too_large over max_bytes; refuses what is not a plain file.
Result<std::string> load_file(const std::filesystem::path& path, std::size_t max_bytes);

/// Temporary name in the same directory, fsync, rename, fsync of the directory. A missing directory is made.
Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes, unsigned mode = 0600);

/// The same, but an existing file stays as it is: false when somebody else was first.
Result<bool> create_file(const std::filesystem::path& path, std::string_view bytes, unsigned mode = 0600);

/// A file that must not exist yet, synced; for use inside a directory that is renamed into place later.
Result<void> write_new_file(const std::filesystem::path& path, std::string_view bytes, unsigned mode = 0600);

Result<void> sync_directory(const std::filesystem::path& path);
/// With its parents, mode 0700. One that is there already is fine.
Result<void> make_directory(const std::filesystem::path& path);
/// A name that no other process or thread uses, e.g. ".tmp-4711-3".
std::string temporary_name(std::string_view prefix);

}  // namespace relay
