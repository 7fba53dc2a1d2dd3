// Whatever comes in, a parsed path is clean: absolute, bounded, without "." or "..", and parsing it again
// changes nothing.
#include <cstdlib>

#include "vfs/tree_path.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace relay::vfs;
  const auto path = parse_tree_path({reinterpret_cast<const char*>(data), size});
  if (!path) return 0;
  for (const std::string& part : path->parts) {
    const bool bad = part.empty() || part == "." || part == ".." || part.size() > 255 ||
                     part.find('/') != std::string::npos || part.find('\0') != std::string::npos;
    if (bad) std::abort();
  }
  const auto again = parse_tree_path(path->text());
  if (!again || again->parts != path->parts) std::abort();
  return 0;
}
