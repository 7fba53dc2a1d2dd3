// Any bytes: the reader must stay within the archive and its limits, and what it takes can be written again.
#include <cstdint>
#include <cstdlib>

#include "archive/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relay::archive;
  const std::string_view archive(reinterpret_cast<const char*>(data), size);
  const ZipLimits limits{.entries = 100, .unpacked_bytes = 1 << 20};
  const auto reader = ZipReader::open(archive, limits);
  if (!reader) return 0;
  const auto files = reader->read_all();
  if (!files) return 0;
  std::size_t total = 0;
  for (const auto& [name, bytes] : *files) total += bytes.size();
  if (total > limits.unpacked_bytes || !write_zip(*files, ZipMethod::store)) std::abort();
  return 0;
}
