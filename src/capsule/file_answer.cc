#include "capsule/file_answer.h"

#include <unistd.h>

#include <algorithm>

#include "base/byte_range.h"
#include "base/bytes.h"

namespace relay::capsule {
namespace {

bool lists(std::string_view header, std::string_view etag) {
  if (trim_ascii(header) == "*") return true;
  for (std::size_t begin = 0; begin < header.size();) {
    const std::size_t end = std::min(header.find(',', begin), header.size());
    std::string_view item = trim_ascii(header.substr(begin, end - begin));
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == etag) return true;
    begin = end + 1;
  }
  return false;
}

Result<std::string> read_range(const StoredFile& file, ByteRange range) {
  std::string bytes(range.end - range.begin, '\0');
  for (std::size_t filled = 0; filled < bytes.size();) {
    const ssize_t got = ::pread(file.fd.get(), bytes.data() + filled, bytes.size() - filled,
                                static_cast<off_t>(range.begin + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(unavailable("a capsule's file became shorter while it was read"));
    filled += static_cast<std::size_t>(got);
  }
  return bytes;
}

FileAnswer not_there() {
  return {.status = 404,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = "no such capsule file\n"};
}

}  // namespace

FileAnswer answer_file(CapsuleStore& store, const FileQuestion& question) {
  const auto file = store.open_file(question.hash, question.file);
  if (!file) return not_there();
  FileAnswer answer;
  answer.headers = {{"ETag", file->etag},
                    {"Cache-Control", "private, max-age=31536000, immutable"},
                    {"Accept-Ranges", "bytes"},
                    {"X-Content-Type-Options", "nosniff"}};
  if (!question.if_none_match.empty() && lists(question.if_none_match, file->etag)) {
    answer.status = 304;
    return answer;
  }
  const bool whole = !question.if_range.empty() && question.if_range != file->etag;
  auto [kind, range] =
      whole ? std::pair(RangeKind::none, ByteRange{}) : parse_byte_range(question.range, file->bytes);
  if (kind == RangeKind::unsatisfiable) {
    answer.status = 416;
    answer.headers.emplace_back("Content-Range", fmt::format("bytes */{}", file->bytes));
    return answer;
  }
  if (kind == RangeKind::none) range = {0, file->bytes};
  auto bytes = read_range(*file, range);
  if (!bytes) return not_there();
  answer.status = kind == RangeKind::one ? 206 : 200;
  answer.headers.emplace_back("Content-Type", file->content_type);
  if (kind == RangeKind::one)
    answer.headers.emplace_back("Content-Range",
                                fmt::format("bytes {}-{}/{}", range.begin, range.end - 1, file->bytes));
  answer.body = std::move(*bytes);
  return answer;
}

}  // namespace relay::capsule
