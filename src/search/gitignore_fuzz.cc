// An ignore file and a path, split at the last NUL: no crash and no endless work, whatever either says.
#include <string_view>

#include "search/gitignore.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace relay::search;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = text.rfind('\0');
  if (split == std::string_view::npos) return 0;
  const IgnoreFile file = IgnoreFile::parse(text.substr(0, split));
  (void)file.judge(text.substr(split + 1), vfs::FileType::file);
  (void)file.judge(text.substr(split + 1), vfs::FileType::directory);
  return 0;
}
