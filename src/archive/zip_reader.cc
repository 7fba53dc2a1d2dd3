#include <zlib.h>

#include <algorithm>
#include <optional>
#include <set>

#include "archive/zip.h"
#include "archive/zip_format.h"
#include "base/bytes.h"
#include "base/json.h"

namespace relay::archive {
namespace {

using namespace zip_format;

constexpr std::size_t kCommentBytes = 0xffff;
constexpr std::uint32_t kTypeMask = 0170000, kRegular = 0100000, kDirectory = 0040000;

Error refused(std::string_view why) {
  return invalid(fmt::format("refused archive: {}", why));
}

struct Directory {
  std::size_t at = 0, bytes = 0, entries = 0;
  std::size_t end_at = 0;
};

// The end record is the last one whose comment reaches exactly to the end of the archive.
std::optional<std::size_t> find_end(std::string_view archive) {
  if (archive.size() < kEndBytes) return std::nullopt;
  const std::size_t lowest =
      archive.size() > kEndBytes + kCommentBytes ? archive.size() - kEndBytes - kCommentBytes : 0;
  for (std::size_t at = archive.size() - kEndBytes + 1; at-- > lowest;)
    if (u32(archive, at) == kEndMagic && at + kEndBytes + u16(archive, at + 20) == archive.size()) return at;
  return std::nullopt;
}

Result<Directory> open_directory(std::string_view archive, const ZipLimits& limits) {
  const auto end = find_end(archive);
  if (!end) return fail(refused("it has no end record"));
  const Directory directory{u32(archive, *end + 16), u32(archive, *end + 12), u16(archive, *end + 10), *end};
  if (u32(archive, *end + 4) != 0 || u16(archive, *end + 8) != directory.entries)
    return fail(refused("it spans several disks"));
  if (directory.at == 0xffffffff || directory.entries == 0xffff) return fail(refused("it uses Zip64"));
  if (directory.at > *end || directory.bytes != *end - directory.at)
    return fail(refused("its directory is not where it says"));
  if (directory.entries > limits.entries)
    return fail(too_large(
        fmt::format("refused archive: {} entries, the limit is {}", directory.entries, limits.entries)));
  return directory;
}

Result<void> check_attributes(std::string_view central, std::string_view name) {
  if (u16(central, 8) & kEncryptedFlag)
    return fail(refused(fmt::format("{} is encrypted", json::quote(name))));
  if (u16(central, 4) >> 8 != 3) return {};  // only Unix archives carry a file type
  const std::uint32_t type = u32(central, 38) >> 16 & kTypeMask;
  if (type == 0 || type == kRegular || type == kDirectory) return {};
  return fail(refused(fmt::format("{} is a link or a device", json::quote(name))));
}

Result<ZipMethod> method_of(std::string_view central, std::string_view name) {
  switch (u16(central, 10)) {
    case kStored: return ZipMethod::store;
    case kDeflated: return ZipMethod::deflate;
    default:
      return fail(refused(fmt::format("{} is packed in a way that is not supported", json::quote(name))));
  }
}

// The local header must name the same file; its sizes are not used, because streamed archives leave them
// empty.
Result<std::size_t> find_data(std::string_view archive, std::size_t local, std::string_view name,
                              std::size_t directory_at) {
  if (local > directory_at || directory_at - local < kLocalBytes || u32(archive, local) != kLocalMagic)
    return fail(refused(fmt::format("{} has no local header", json::quote(name))));
  const std::size_t name_bytes = u16(archive, local + 26);
  const std::size_t data = local + kLocalBytes + name_bytes + u16(archive, local + 28);
  if (data > directory_at || archive.substr(local + kLocalBytes, name_bytes) != name)
    return fail(refused(fmt::format("{} has another name in its local header", json::quote(name))));
  return data;
}

struct Span {
  std::size_t begin, end;
};

struct Walk {
  std::string_view archive;
  const ZipLimits& limits;
  Directory directory;
  std::size_t at;
  std::uint64_t total = 0;
  std::vector<Span> spans;
  std::vector<ZipEntry> entries;
  std::set<std::string> names{};
};

Result<void> check_name(Walk& walk, std::string_view name, bool is_directory) {
  const std::string_view plain = is_directory ? name.substr(0, name.size() - 1) : name;
  if (!is_zip_name(plain))
    return fail(refused(
        fmt::format("the name {} leaves the tree or is malformed", json::quote(to_valid_utf8(name)))));
  if (!is_directory && !walk.names.emplace(plain).second)
    return fail(refused(fmt::format("{} occurs twice", json::quote(name))));
  return {};
}

Result<void> add_entry(Walk& walk, std::string_view central, std::string_view name) {
  const bool is_directory = name.ends_with('/');
  RELAY_CHECK(check_name(walk, name, is_directory));
  RELAY_CHECK(check_attributes(central, name));
  ZipEntry entry{.name = std::string(name),
                 .packed_bytes = u32(central, 20),
                 .bytes = u32(central, 24),
                 .crc = u32(central, 16)};
  RELAY_TRY(entry.method, method_of(central, name));
  const std::size_t local = u32(central, 42);
  RELAY_TRY(entry.data_at, find_data(walk.archive, local, name, walk.directory.at));
  if (entry.packed_bytes > walk.directory.at - entry.data_at)
    return fail(refused(fmt::format("{} reaches into the directory", json::quote(name))));
  if (entry.method == ZipMethod::store && entry.packed_bytes != entry.bytes)
    return fail(refused("a stored entry with two sizes"));
  if (is_directory && entry.bytes != 0) return fail(refused("a directory with content"));
  walk.total += entry.bytes;
  if (walk.total > walk.limits.unpacked_bytes)
    return fail(too_large(
        fmt::format("refused archive: it unpacks to more than {} bytes", walk.limits.unpacked_bytes)));
  walk.spans.push_back({local, entry.data_at + entry.packed_bytes});
  if (!is_directory) walk.entries.push_back(std::move(entry));
  return {};
}

Result<void> walk_directory(Walk& walk) {
  for (std::size_t i = 0; i < walk.directory.entries; ++i) {
    const std::size_t left = walk.directory.end_at - walk.at;
    const std::string_view central = walk.archive.substr(walk.at, left);
    if (left < kCentralBytes || u32(central, 0) != kCentralMagic)
      return fail(refused("its directory is broken"));
    const std::size_t name_bytes = u16(central, 28);
    const std::size_t record = kCentralBytes + name_bytes + u16(central, 30) + u16(central, 32);
    if (record > left) return fail(refused("its directory is broken"));
    RELAY_CHECK(add_entry(walk, central, central.substr(kCentralBytes, name_bytes)));
    walk.at += record;
  }
  if (walk.at != walk.directory.end_at) return fail(refused("its directory has more than it counts"));
  return {};
}

Result<void> check_overlap(std::vector<Span>& spans) {
  std::ranges::sort(spans, {}, &Span::begin);
  for (std::size_t i = 1; i < spans.size(); ++i)
    if (spans[i].begin < spans[i - 1].end) return fail(refused("its entries overlap"));
  return {};
}

// "a" and "a/b" cannot both be files.
Result<void> check_tree(const std::set<std::string>& names) {
  for (const std::string& name : names)
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
      if (names.contains(name.substr(0, slash)))
        return fail(refused(fmt::format("{} lies below a file", json::quote(name))));
  return {};
}

// One byte more than promised is room enough to see that there is more.
Result<std::string> inflated(std::string_view packed, std::uint64_t bytes) {
  std::string out(bytes + 1, '\0');
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) return fail(internal("zlib cannot start"));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = ::inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.total_out == bytes && stream.avail_in == 0;
  ::inflateEnd(&stream);
  if (!whole) return fail(refused("an entry is not what its directory promises"));
  out.resize(bytes);
  return out;
}

}  // namespace

Result<ZipReader> ZipReader::open(std::string_view archive, const ZipLimits& limits) {
  if (archive.size() >= 0xffffffff) return fail(too_large("refused archive: more than 4 GiB"));
  RELAY_TRY(const Directory directory, open_directory(archive, limits));
  Walk walk{archive, limits, directory, directory.at, 0, {}, {}};
  RELAY_CHECK(walk_directory(walk));
  RELAY_CHECK(check_overlap(walk.spans));
  RELAY_CHECK(check_tree(walk.names));
  ZipReader reader(archive);
  reader.entries_ = std::move(walk.entries);
  return reader;
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &ZipEntry::name);
  return found == entries_.end() ? nullptr : &*found;
}

Result<std::string> ZipReader::read(const ZipEntry& entry) const {
  const std::string_view packed = archive_.substr(entry.data_at, entry.packed_bytes);
  Result<std::string> bytes =
      entry.method == ZipMethod::store ? Result<std::string>(packed) : inflated(packed, entry.bytes);
  if (!bytes) return bytes;
  const auto crc =
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes->data()), static_cast<uInt>(bytes->size()));
  if (crc != entry.crc) return fail(refused(fmt::format("{} has a wrong checksum", json::quote(entry.name))));
  return bytes;
}

Result<ZipFiles> ZipReader::read_all() const {
  ZipFiles files;
  for (const ZipEntry& entry : entries_) {
    RELAY_TRY(std::string bytes, read(entry));
    files.emplace(entry.name, std::move(bytes));
  }
  return files;
}

}  // namespace relay::archive
