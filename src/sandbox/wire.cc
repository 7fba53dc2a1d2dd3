#include "sandbox/wire.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace relay::sandbox {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kInnerPrefixBytes =
    kFramePrefixBytes - kLengthBytes;  // what the length counts before the header

void put_number(char* out, std::size_t number) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<char>(number >> (8 * i));
}

}  // namespace

std::optional<FrameKind> find_frame_kind(std::uint8_t number, FrameSource source) {
  const bool from_relay = number >= 1 && number <= 4;
  const bool from_child = number >= 16 && number <= 21;
  if (source == FrameSource::relay ? !from_relay : !from_child) return std::nullopt;
  return static_cast<FrameKind>(number);
}

std::string make_frame_prefix(FrameKind kind, std::size_t header_bytes, std::size_t body_bytes) {
  std::string prefix(kFramePrefixBytes, '\0');
  put_number(prefix.data(), kInnerPrefixBytes + header_bytes + body_bytes);
  prefix[4] = static_cast<char>(kind);
  put_number(prefix.data() + 5, header_bytes);
  return prefix;
}

std::string make_frame(FrameKind kind, std::string_view header, std::string_view body) {
  std::string frame = make_frame_prefix(kind, header.size(), body.size());
  frame.append(header).append(body);
  return frame;
}

char* FrameReader::prepare(std::size_t bytes) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (buffer_.size() - end_ < bytes && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < bytes)
    buffer_.resize(std::max(end_ + bytes, std::min(2 * buffer_.size(), frame_bytes_max_)));
  return buffer_.data() + end_;
}

void FrameReader::feed(std::string_view bytes) {
  std::memcpy(prepare(bytes.size()), bytes.data(), bytes.size());
  commit(bytes.size());
}

std::uint32_t FrameReader::number_at(std::size_t offset) const {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(buffer_[begin_ + offset + i])) << (8 * i);
  return number;
}

Result<std::optional<FrameView>> FrameReader::next() {
  const std::size_t available = end_ - begin_;
  if (available < kLengthBytes) return std::optional<FrameView>{};
  const std::size_t length = number_at(0);
  if (length < kInnerPrefixBytes)
    return fail(invalid(fmt::format("a frame of {} bytes is too short", length)));
  if (length > frame_bytes_max_)
    return fail(
        too_large(fmt::format("a frame of {} bytes is over the limit of {}", length, frame_bytes_max_)));
  if (available < kFramePrefixBytes) return std::optional<FrameView>{};
  const auto number = static_cast<std::uint8_t>(buffer_[begin_ + kLengthBytes]);
  const std::optional<FrameKind> kind = find_frame_kind(number, source_);
  if (!kind) return fail(invalid(fmt::format("{} is no kind of frame that may come from this side", number)));
  const std::size_t header_bytes = number_at(5);
  if (header_bytes > length - kInnerPrefixBytes)
    return fail(invalid("a frame's header is longer than the frame"));
  if (available < kLengthBytes + length) return std::optional<FrameView>{};
  const std::string_view content(buffer_.data() + begin_ + kFramePrefixBytes, length - kInnerPrefixBytes);
  begin_ += kLengthBytes + length;
  return FrameView{*kind, content.substr(0, header_bytes), content.substr(header_bytes)};
}

std::size_t FrameReader::missing_bytes() const {
  const std::size_t available = end_ - begin_;
  if (available < kFramePrefixBytes) return kFramePrefixBytes - available;
  const std::size_t whole = kLengthBytes + std::min<std::size_t>(number_at(0), frame_bytes_max_);
  return whole > available ? whole - available : 1;
}

}  // namespace relay::sandbox
