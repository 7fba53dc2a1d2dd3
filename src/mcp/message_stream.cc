#include "mcp/message_stream.h"

#include <charconv>

#include <fmt/format.h>

namespace relay::mcp {

std::uint64_t MessageStream::attach(std::uint64_t after) {
  position_ = after;
  ++ticket_;
  changed_.wake();
  return ticket_;
}

bool MessageStream::has_messages() const {
  return !entries_.empty() && entries_.back().number > position_;
}

std::optional<MessageStream::Entry> MessageStream::take() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].number <= position_) continue;
    position_ = entries_[i].number;
    if (replay_ == Replay::yes) return entries_[i];
    Entry entry = std::move(entries_[i]);
    bytes_ -= entry.text.size();
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return entry;
  }
  return std::nullopt;
}

std::optional<FinalMessage> MessageStream::take_answer() {
  return std::exchange(answer_, std::nullopt);
}

void MessageStream::turn_into_events() {
  events_ = true;
  if (auto answer = take_answer(); answer && !answer->text.empty()) append(std::move(answer->text));
}

void MessageStream::close_early() {
  close_requested_ = true;
  changed_.wake();
}

void MessageStream::write(std::string message) {
  append(std::move(message));
  changed_.wake();
}

void MessageStream::end(FinalMessage answer) {
  if (!events_) {
    answer_ = std::move(answer);
  } else if (!answer.text.empty()) {
    append(std::move(answer.text));
  }
  changed_.wake();
}

void MessageStream::append(std::string message) {
  bytes_ += message.size();
  entries_.push_back({++last_number_, std::move(message)});
  std::size_t dropped = 0;
  // The newest entry stays, however large: it may be the answer.
  while (entries_.size() - dropped > 1 &&
         (entries_.size() - dropped > limits::kReplayEvents || bytes_ > limits::kReplayBytes))
    bytes_ -= entries_[dropped++].text.size();
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(dropped));
}

std::string format_event_id(std::uint64_t stream, std::uint64_t number) {
  return fmt::format("{}-{}", stream, number);
}

std::optional<EventId> find_event_id(std::string_view text) {
  EventId id{};
  const char* end = text.data() + text.size();
  const auto stream = std::from_chars(text.data(), end, id.stream);
  if (stream.ec != std::errc() || stream.ptr == end || *stream.ptr != '-') return std::nullopt;
  const auto number = std::from_chars(stream.ptr + 1, end, id.number);
  if (number.ec != std::errc() || number.ptr != end) return std::nullopt;
  return id;
}

}  // namespace relay::mcp
