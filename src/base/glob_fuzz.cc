// A pattern and a path, split at the first newline: no crash, no endless work, and "beneath" never says no
// wrongly.
#include <cstdlib>
#include <string_view>

#include "base/glob.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace relay;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t newline = text.find('\n');
  if (newline == std::string_view::npos) return 0;
  const std::string_view path = text.substr(newline + 1);
  for (const Case letters : {Case::sensitive, Case::ignored}) {
    const auto glob = Glob::parse(text.substr(0, newline), letters);
    if (!glob || !glob->matches(path) || path.empty()) continue;
    for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
         slash = path.find('/', slash + 1)) {
      if (!glob->may_match_beneath(path.substr(0, slash))) std::abort();
    }
  }
  return 0;
}
