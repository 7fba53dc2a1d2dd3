#include "search/line_scan.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/limits.h"
#include "search/utf16.h"

namespace relay::search {
namespace {

constexpr std::size_t kWindowBytes = 64 * limits::kKiB;
constexpr std::size_t kWideTextBytes = 16 * limits::kMiB;  // UTF-16 files are converted whole, up to here

// The end of the last whole line, or 0.
std::size_t last_line_end(std::string_view text) {
  const std::size_t newline = text.rfind('\n');
  return newline == std::string_view::npos ? 0 : newline + 1;
}

// Where the count-th line before `at` starts. at is the start of a line.
std::size_t back_lines(std::string_view text, std::size_t at, std::size_t count) {
  for (; count > 0 && at > 0; --count) {
    const std::size_t newline = at >= 2 ? text.rfind('\n', at - 2) : std::string_view::npos;
    at = newline == std::string_view::npos ? 0 : newline + 1;
  }
  return at;
}

std::size_t forward_lines(std::string_view text, std::size_t at, std::size_t count) {
  for (; count > 0 && at < text.size(); --count) {
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  return at;
}

std::string_view without_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool has_wide_mark(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

}  // namespace

LineScan::LineScan(const LineMatcher& matcher, std::size_t context)
    : matcher_(matcher), context_(context), window_(kWindowBytes) {}

void LineScan::start_over() {
  begin_ = end_ = counted_ = 0;
  line_ = 1;
  read_ = 0;
  // One long line must not keep its memory for all the files that follow.
  if (window_.size() > limits::kMiB) std::vector<char>(kWindowBytes).swap(window_);
}

LineScan::Filled LineScan::fill(const Fd& file) {
  if (read_ > 0 && read_ == size_hint_) return Filled::end;
  if (end_ == window_.size()) window_.resize(2 * window_.size());
  const ssize_t got = ::read(file.get(), window_.data() + end_, window_.size() - end_);
  if (got < 0 && errno == EINTR) return Filled::more;
  if (got <= 0) return Filled::end;
  const char* fresh = window_.data() + end_;
  const bool first = read_ == 0;
  end_ += static_cast<std::size_t>(got);
  read_ += static_cast<std::uint64_t>(got);
  const bool wide = first && has_wide_mark(held());
  const bool binary = !wide && std::memchr(fresh, 0, static_cast<std::size_t>(got)) != nullptr;
  return binary ? Filled::binary : Filled::more;
}

void LineScan::skip_mark() {
  if (held().starts_with("\xEF\xBB\xBF")) begin_ = counted_ = 3;
}

std::size_t LineScan::searchable_end(Filled filled) const {
  if (filled == Filled::end) return end_;
  // A line that never ends is searched in pieces, so that memory stays bounded.
  if (end_ - begin_ >= limits::kSearchLineBufferBytes) return end_;
  const std::size_t lines_end = begin_ + last_line_end(held().substr(begin_));
  if (context_ == 0) return lines_end;
  return std::max(begin_, back_lines(held(), lines_end, context_));
}

void LineScan::search(const Fd& file, std::uint64_t size_hint, const std::function<bool()>& should_stop,
                      HitSink& sink) {
  start_over();
  size_hint_ = size_hint;
  bool first = true;
  while (!should_stop()) {
    const Filled filled = fill(file);
    if (filled == Filled::binary) return;
    if (first && has_wide_mark(held())) return search_wide_text(file, sink);
    if (first) skip_mark();
    first = false;
    const std::size_t end = searchable_end(filled);
    if (end > begin_ && report(held(), end, sink) == Go::stop) return;
    if (filled == Filled::end) return;
    if (end > begin_) roll(end);
  }
}

void LineScan::search_wide_text(const Fd& file, HitSink& sink) {
  while (end_ < kWideTextBytes && fill(file) != Filled::end) {
  }
  const std::string text = utf16_to_utf8(held());
  search(text, sink);
}

void LineScan::search(std::string_view content, HitSink& sink) {
  start_over();
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  const std::size_t head = std::min(content.size(), kWindowBytes);
  if (content.empty() || std::memchr(content.data(), 0, head) != nullptr) return;
  (void)report(content, content.size(), sink);
}

Go LineScan::report(std::string_view text, std::size_t end, HitSink& sink) {
  const std::string_view lines = text.substr(0, end);
  std::size_t from = begin_;
  for (std::size_t at; from < end && (at = matcher_.find(lines, from)) != LineMatcher::kNone;) {
    const Place line = line_at(text, at, from);
    if (sink.take(make_hit(text, at, line)) == Go::stop) return Go::stop;
    from = line.end;
  }
  return Go::on;
}

// floor is the start of a line, at or before the one that is asked for.
LineScan::Place LineScan::line_at(std::string_view text, std::size_t at, std::size_t floor) {
  const void* before = at > floor ? ::memrchr(text.data() + floor, '\n', at - floor) : nullptr;
  const std::size_t start =
      before == nullptr ? floor
                        : static_cast<std::size_t>(static_cast<const char*>(before) - text.data()) + 1;
  return {start, forward_lines(text, at, 1)};
}

LineHit LineScan::make_hit(std::string_view text, std::size_t at, Place line) {
  line_ += count_newlines(text.substr(counted_, line.start - counted_));
  counted_ = line.start;
  LineHit hit{
      line_, at - line.start + 1, without_end(text.substr(line.start, line.end - line.start)), {}, {}};
  if (context_ > 0) {
    const std::size_t from = back_lines(text, line.start, context_),
                      to = forward_lines(text, line.end, context_);
    hit.before = text.substr(from, line.start - from);
    hit.after = text.substr(line.end, to - line.end);
  }
  return hit;
}

void LineScan::roll(std::size_t searched) {
  line_ += count_newlines(held().substr(counted_, searched - counted_));
  const std::size_t keep = context_ == 0 ? searched : back_lines(held(), searched, context_);
  std::memmove(window_.data(), window_.data() + keep, end_ - keep);
  end_ -= keep;
  begin_ = counted_ = searched - keep;
}

}  // namespace relay::search
