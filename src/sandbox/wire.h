// The run socket's frames, as values: the one codec that relay, the zygote's children and the fuzzer share.
// docs/formats/worker_wire.md defines the bytes.
//
// A frame is u32 length | u8 kind | u32 header length | header (UTF-8 JSON) | body. The codec checks lengths
// and kinds only; what a header says, and whether a frame may come now, is its reader's business. Everything
// that a child sends is hostile until checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::sandbox {

enum class FrameKind : std::uint8_t {
  // relay to child
  start = 1,
  reply = 2,
  event = 3,
  interrupt = 4,
  // child to relay
  ready = 16,
  output = 17,
  call = 18,
  cancel = 19,
  done = 20,
  pace = 21,
};

enum class FrameSource : std::uint8_t { relay, child };

/// Nothing for a number that is no kind, or a kind that this side never sends.
std::optional<FrameKind> find_frame_kind(std::uint8_t number, FrameSource source);

/// Length, kind and header length: what stands before every header.
inline constexpr std::size_t kFramePrefixBytes = 9;

/// A frame inside somebody else's buffer.
struct FrameView {
  FrameKind kind;
  std::string_view header;
  std::string_view body;
};

/// The prefix of a frame whose header and body follow: for writers that do not want to copy either.
/// Precondition: both fit into 32 bits together.
std::string make_frame_prefix(FrameKind kind, std::size_t header_bytes, std::size_t body_bytes);
/// The whole frame in one piece.
std::string make_frame(FrameKind kind, std::string_view header, std::string_view body = {});

/// Takes bytes as they come and gives frames. Memory is bounded by the frame limit: a length over it is an
/// error as soon as its four bytes are there, before anything is kept for it.
class FrameReader {
 public:
  FrameReader(FrameSource source, std::size_t frame_bytes_max)
      : source_(source), frame_bytes_max_(frame_bytes_max) {}

  /// Room for at least this many bytes; views of earlier frames end here.
  char* prepare(std::size_t bytes);
  /// How many of the prepared bytes were filled.
  void commit(std::size_t bytes) { end_ += bytes; }
  void feed(std::string_view bytes);

  /// The next whole frame, nothing when bytes are missing, an error that no further byte can mend.
  Result<std::optional<FrameView>> next();
  /// How many bytes the frame that has begun still needs; at least 1.
  [[nodiscard]] std::size_t missing_bytes() const;
  [[nodiscard]] bool empty() const { return begin_ == end_; }

 private:
  [[nodiscard]] std::uint32_t number_at(std::size_t offset) const;

  FrameSource source_;
  std::size_t frame_bytes_max_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace relay::sandbox
