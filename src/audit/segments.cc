#include "audit/segments.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ranges>

#include <fmt/format.h>

#include "audit/canonical.h"
#include "base/fd.h"
#include "base/limits.h"

namespace relay::audit {
namespace {

constexpr std::size_t kReadBytes = 256 * limits::kKiB;
constexpr std::size_t kTailReadBytes = 64 * limits::kKiB;
constexpr std::size_t kLinesBeforeChain = 1000;  // how far into a file the first chained record is looked for

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// What follows the log's own name in the name of a rotated file: "-20261115", "-20261115-093000", ".1", each
// with or without ".gz".
bool is_rotation_suffix(std::string_view suffix) {
  if (suffix.ends_with(".gz")) suffix.remove_suffix(3);
  if (suffix.starts_with('.')) return all_digits(suffix.substr(1));
  if (!suffix.starts_with('-')) return false;
  suffix.remove_prefix(1);
  const std::string_view date = suffix.substr(0, suffix.find('-'));
  const std::string_view time =
      date.size() < suffix.size() ? suffix.substr(date.size() + 1) : std::string_view("0");
  return date.size() == 8 && all_digits(date) && all_digits(time);
}

std::optional<std::uint64_t> first_seq_of(const std::string& path) {
  auto file = LineFile::open(path);
  if (!file) return std::nullopt;
  for (std::size_t i = 0; i < kLinesBeforeChain; ++i) {
    const auto line = file->next();
    if (!line || !*line) return std::nullopt;
    const auto parsed = parse_line((*line)->text);
    if (parsed && parsed->chained()) return parsed->seq;
  }
  return std::nullopt;
}

FileTail split_tail(std::string_view text, bool from_start, std::size_t max_lines) {
  FileTail tail;
  const std::size_t last = text.rfind('\n');
  if (last == std::string_view::npos) {
    tail.fragment = text;
    return tail;
  }
  tail.fragment = text.substr(last + 1);
  std::size_t end = last;
  while (tail.lines.size() < max_lines) {
    const std::size_t before = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    if (before == std::string_view::npos && !from_start) break;
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    tail.lines.emplace_back(text.substr(begin, end - begin));
    if (before == std::string_view::npos) break;
    end = before;
  }
  std::ranges::reverse(tail.lines);
  return tail;
}

}  // namespace

struct LineFile::State {
  gzFile file = nullptr;
  std::string path;
  std::string buffer;
  std::size_t begin = 0;
  std::size_t scanned = 0;
  bool ended = false;
  ~State() {
    if (file) ::gzclose(file);
  }
};

LineFile::LineFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineFile::LineFile(LineFile&&) noexcept = default;
LineFile& LineFile::operator=(LineFile&&) noexcept = default;
LineFile::~LineFile() = default;

Result<LineFile> LineFile::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.is_open()) return fail(from_errno(errno, fmt::format("opening {}", path)));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(invalid(fmt::format("{} is not a regular file", path)));
  state->file = ::gzdopen(fd.get(), "rb");
  if (!state->file) return fail(internal("zlib could not open a descriptor"));
  [[maybe_unused]] const int owned_by_zlib = fd.release();
  ::gzbuffer(state->file, kReadBytes);
  return LineFile(std::move(state));
}

Result<std::optional<LineFile::Line>> LineFile::next() {
  State& s = *state_;
  for (;;) {
    const std::size_t newline = s.buffer.find('\n', s.scanned);
    if (newline != std::string::npos) {
      const Line line{std::string_view(s.buffer).substr(s.begin, newline - s.begin)};
      s.begin = s.scanned = newline + 1;
      return line;
    }
    if (s.buffer.size() - s.begin > limits::kAuditLineBytes)
      return fail(too_large(fmt::format("a line of {} is over {} bytes", s.path, limits::kAuditLineBytes)));
    if (s.ended) break;
    s.buffer.erase(0, s.begin);
    s.begin = 0;
    s.scanned = s.buffer.size();
    s.buffer.resize(s.scanned + kReadBytes);
    const int got = ::gzread(s.file, s.buffer.data() + s.scanned, static_cast<unsigned>(kReadBytes));
    s.buffer.resize(s.scanned + static_cast<std::size_t>(std::max(got, 0)));
    if (got < 0)
      return fail(unavailable(fmt::format("{} cannot be read: damaged gzip data or a read error", s.path)));
    s.ended = got == 0;
  }
  if (s.begin == s.buffer.size()) return std::optional<Line>{};
  const Line line{std::string_view(s.buffer).substr(s.begin), false};
  s.begin = s.scanned = s.buffer.size();
  return line;
}

std::vector<Segment> find_rotated(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<Segment> found;
  const fs::path live(path);
  const std::string name = live.filename().string();
  std::error_code ignored;
  const fs::path folder = live.has_parent_path() ? live.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string other = entry.path().filename().string();
    if (!other.starts_with(name) || !is_rotation_suffix(std::string_view(other).substr(name.size())))
      continue;
    if (const auto seq = first_seq_of(entry.path().string())) found.push_back({entry.path().string(), *seq});
  }
  std::ranges::sort(found, {}, [](const Segment& segment) {
    return std::pair(segment.first_seq, std::string_view(segment.path));
  });
  return found;
}

Result<FileTail> read_tail(const std::string& path, std::size_t max_lines, std::size_t max_bytes) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.is_open() && errno == ENOENT) return FileTail{};
  if (!fd.is_open()) return fail(from_errno(errno, fmt::format("opening {}", path)));
  return read_tail(fd.get(), max_lines, max_bytes);
}

Result<FileTail> read_tail(int file, std::size_t max_lines, std::size_t max_bytes) {
  struct stat info{};
  if (::fstat(file, &info) != 0) return fail(from_errno(errno, "reading the log"));
  std::vector<std::string> pieces;  // the last one of the file first
  std::size_t bytes = 0;
  std::size_t lines = 0;
  auto offset = static_cast<std::size_t>(info.st_size);
  while (offset > 0 && bytes < max_bytes && lines <= max_lines) {
    const std::size_t step = std::min(offset, kTailReadBytes);
    offset -= step;
    std::string piece(step, '\0');
    const ssize_t got = ::pread(file, piece.data(), step, static_cast<off_t>(offset));
    if (got < 0) return fail(from_errno(errno, "reading the log"));
    piece.resize(static_cast<std::size_t>(got));
    bytes += piece.size();
    lines += static_cast<std::size_t>(std::ranges::count(piece, '\n'));
    pieces.push_back(std::move(piece));
  }
  std::string text;
  text.reserve(bytes);
  for (const std::string& piece : std::views::reverse(pieces)) text += piece;
  return split_tail(text, offset == 0, max_lines);
}

}  // namespace relay::audit
