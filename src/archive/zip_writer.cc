#include <zlib.h>

#include "archive/zip.h"
#include "archive/zip_format.h"
#include "base/bytes.h"
#include "base/json.h"

namespace relay::archive {
namespace {

using namespace zip_format;

struct Packed {
  std::uint16_t method = kStored;
  std::uint32_t crc = 0;
  std::uint32_t bytes = 0;  // unpacked
  std::string data;         // only when deflated
};

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::string deflated(std::string_view bytes) {
  z_stream stream{};
  ::deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

// A file that does not get smaller is stored, so that reading it costs nothing.
Packed pack(std::string_view bytes, ZipMethod method) {
  Packed packed{.crc = crc_of(bytes), .bytes = static_cast<std::uint32_t>(bytes.size())};
  if (method == ZipMethod::store) return packed;
  packed.data = deflated(bytes);
  if (packed.data.size() < bytes.size()) packed.method = kDeflated;
  return packed;
}

std::string_view data_of(const Packed& packed, std::string_view bytes) {
  return packed.method == kDeflated ? std::string_view(packed.data) : bytes;
}

void put_shared_fields(std::string& out, std::string_view name, const Packed& packed,
                       std::size_t packed_bytes) {
  put16(out, kUtf8Flag);
  put16(out, packed.method);
  put16(out, 0);
  put16(out, kFixedDate);
  put32(out, packed.crc);
  put32(out, static_cast<std::uint32_t>(packed_bytes));
  put32(out, packed.bytes);
  put16(out, static_cast<std::uint16_t>(name.size()));
  put16(out, 0);
}

void put_local(std::string& out, std::string_view name, const Packed& packed, std::string_view data) {
  put32(out, kLocalMagic);
  put16(out, kVersion);
  put_shared_fields(out, name, packed, data.size());
  out.append(name).append(data);
}

void put_central(std::string& out, std::string_view name, const Packed& packed, std::size_t packed_bytes,
                 std::size_t offset) {
  put32(out, kCentralMagic);
  put16(out, kMadeOnUnix);
  put16(out, kVersion);
  put_shared_fields(out, name, packed, packed_bytes);
  put16(out, 0);  // comment
  put16(out, 0);  // disk
  put16(out, 0);  // internal attributes
  put32(out, kFixedMode);
  put32(out, static_cast<std::uint32_t>(offset));
  out.append(name);
}

void put_end(std::string& out, std::size_t entries, std::size_t directory_bytes, std::size_t directory_at) {
  put32(out, kEndMagic);
  put32(out, 0);
  put16(out, static_cast<std::uint16_t>(entries));
  put16(out, static_cast<std::uint16_t>(entries));
  put32(out, static_cast<std::uint32_t>(directory_bytes));
  put32(out, static_cast<std::uint32_t>(directory_at));
  put16(out, 0);
}

Result<void> check_files(const ZipFiles& files) {
  if (files.size() > limits::kZipEntries)
    return fail(
        too_large(fmt::format("{} files in one layer, the limit is {}", files.size(), limits::kZipEntries)));
  std::uint64_t total = 0;
  for (const auto& [name, bytes] : files) {
    if (!is_zip_name(name))
      return fail(invalid(fmt::format("not a name for a file in an archive: {}", json::quote(name))));
    total += bytes.size();
  }
  if (total > limits::kZipUnpackedBytes)
    return fail(
        too_large(fmt::format("{} bytes in one layer, the limit is {}", total, limits::kZipUnpackedBytes)));
  return {};
}

}  // namespace

bool is_zip_name(std::string_view name) {
  if (name.empty() || name.size() > limits::kZipNameBytes || !is_valid_utf8(name)) return false;
  if (name.find_first_of(std::string_view("\0\\", 2)) != std::string_view::npos) return false;
  if (name.size() > 1 && name[1] == ':') return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view component = name.substr(begin, end - begin);
    if (component.empty() || component == "." || component == "..") return false;
    begin = end + 1;
  }
  return true;
}

Result<std::string> write_zip(const ZipFiles& files, ZipMethod method) {
  RELAY_CHECK(check_files(files));
  std::string out;
  std::string directory;
  for (const auto& [name, bytes] : files) {
    const Packed packed = pack(bytes, method);
    const std::string_view data = data_of(packed, bytes);
    put_central(directory, name, packed, data.size(), out.size());
    put_local(out, name, packed, data);
  }
  const std::size_t directory_at = out.size();
  out += directory;
  put_end(out, files.size(), directory.size(), directory_at);
  return out;
}

}  // namespace relay::archive
