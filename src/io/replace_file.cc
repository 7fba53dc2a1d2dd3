#include "io/replace_file.h"

#include "base/disk.h"
#include "io/spawn.h"

namespace relay::io {
namespace {

Task<void> write_file(ThreadPool& pool, std::filesystem::path path, std::string bytes) {
  auto work = [path = std::move(path), bytes = std::move(bytes)] { return replace_file(path, bytes); };
  co_return co_await pool.run(std::move(work));
}

}  // namespace

void replace_file_soon(const Loop& loop, ThreadPool& pool, std::filesystem::path path, std::string bytes,
                       std::string name) {
  spawn(loop, write_file(pool, std::move(path), std::move(bytes)), std::move(name));
}

}  // namespace relay::io
