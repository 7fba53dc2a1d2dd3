// Whatever a child sends, in whatever pieces: frames or an error, never a view outside the bytes that were
// sent.
#include "sandbox/wire.h"

#include <cstdlib>

using namespace relay::sandbox;

namespace {

std::size_t read_all(std::string_view bytes, std::size_t piece) {
  FrameReader reader(FrameSource::child, 4096);
  std::size_t frames = 0;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
    for (;;) {
      const auto frame = reader.next();
      if (!frame) return frames + 1'000'000;
      if (!*frame) break;
      if ((*frame)->header.size() + (*frame)->body.size() > bytes.size()) std::abort();
      ++frames;
    }
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t whole = read_all(bytes, size + 1);
  for (const std::size_t piece : {1, 2, 3, 7, 31})
    if (read_all(bytes, piece) != whole) std::abort();
  return 0;
}
