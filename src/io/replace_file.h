// Replacing a file (base/disk.h) on the thread pool, for callers that do not wait.
#pragma once

#include <filesystem>
#include <string>

#include "io/thread_pool.h"

namespace relay::io {

/// A failure is reported under `name`. The pool outlives the write.
void replace_file_soon(const Loop& loop, ThreadPool& pool, std::filesystem::path path, std::string bytes,
                       std::string name);

}  // namespace relay::io
