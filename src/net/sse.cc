#include "net/sse.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace relay::net {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kRetryDigits = 9;  // eleven days in milliseconds: more is nonsense, and would overflow

// The first line of text, which loses it and its line break.
std::string_view cut_line(std::string_view& text) {
  const std::size_t end = text.find_first_of("\r\n");
  const std::string_view line = text.substr(0, end);
  if (end == std::string_view::npos) {
    text = {};
  } else {
    text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  return line;
}

// Names and ids are one line; a break in them would begin a field of its own.
std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (c == '\r' || c == '\n') c = ' ';
  return line;
}

// Receivers ignore an id with a NUL in it.
std::string id_line(std::string_view id) {
  std::string line = one_line(id);
  std::ranges::replace(line, '\0', ' ');
  return line;
}

std::optional<std::chrono::milliseconds> find_retry(std::string_view value) {
  const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits || value.size() > kRetryDigits) return std::nullopt;
  int number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return std::chrono::milliseconds(number);
}

}  // namespace

std::string format_sse(const SseEvent& event) {
  std::string out;
  out.reserve(event.data.size() + event.event.size() + 48);
  if (event.id) out += "id: " + id_line(*event.id) + "\n";
  if (!event.event.empty()) out += "event: " + one_line(event.event) + "\n";
  if (event.retry) out += fmt::format("retry: {}\n", event.retry->count());
  std::string_view rest = event.data;
  bool more = true;
  while (more) {
    // A break at the very end makes one more, empty line: it is part of the data.
    more = rest.find_first_of("\r\n") != std::string_view::npos;
    out += "data: ";
    out += cut_line(rest);
    out += '\n';
  }
  out += '\n';
  return out;
}

std::string format_sse_comment(std::string_view text) {
  std::string out;
  while (true) {
    out += ": ";
    out += cut_line(text);
    out += '\n';
    if (text.empty()) break;
  }
  return out + '\n';
}

Result<std::vector<SseEvent>> SseParser::feed(std::string_view bytes) {
  std::vector<SseEvent> out;
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (line_.size() + piece.size() + pending_.data.size() > max_event_bytes_)
      return fail(too_large(fmt::format("an event of the stream is over {} bytes", max_event_bytes_)));
    if (end == std::string_view::npos) {
      line_ += piece;
      break;
    }
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (line_.empty()) {
      take_line(piece, out);
    } else {
      line_ += piece;
      take_line(line_, out);
      line_.clear();
    }
  }
  return out;
}

void SseParser::take_line(std::string_view line, std::vector<SseEvent>& out) {
  if (at_start_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  at_start_ = false;
  if (line.empty()) return dispatch(out);
  if (line.front() == ':') return;
  const std::size_t colon = line.find(':');
  std::string_view value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  take_field(line.substr(0, colon), value);
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) pending_.data += '\n';
    pending_.data += value;
    has_data_ = true;
  } else if (name == "event") {
    pending_.event = value;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) pending_.id = value;
  } else if (name == "retry") {
    if (const auto retry = find_retry(value)) retry_ = pending_.retry = retry;
  }
}

// An id counts even when its event has no data and is therefore not one.
void SseParser::dispatch(std::vector<SseEvent>& out) {
  if (pending_.id) last_id_ = pending_.id;
  if (has_data_) out.push_back(std::move(pending_));
  pending_ = {};
  has_data_ = false;
}

}  // namespace relay::net
