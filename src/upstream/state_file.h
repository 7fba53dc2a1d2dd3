// Small files of ours: replaced as a whole, readable by nobody else. Blocking: for the thread pool, commands,
// or before the loop runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/thread_pool.h"

namespace relay::upstream {

/// not_found when there is none; refuses what is not a plain file or is over the limit.
Result<std::string> load_file(const std::filesystem::path& path, std::size_t bytes_max);
/// Mode 0600: written beside it, synced, renamed. The directory is made (0700) if need be.
Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes);
/// The same on the pool, for who does not wait: a failure is reported under the name.
void replace_file_soon(const io::Loop& executor, io::ThreadPool& pool, std::filesystem::path path,
                       std::string bytes, std::string name);

}  // namespace relay::upstream
