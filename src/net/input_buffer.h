// InputBuffer: bytes that have arrived and are not yet used, in one piece. Grows when a head needs it, gives
// its memory back when a connection becomes a long-lived stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include <boost/asio/buffer.hpp>

namespace relay::net {

class InputBuffer {
 public:
  explicit InputBuffer(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  [[nodiscard]] std::string_view view() const { return {bytes_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] bool full() const { return end_ - begin_ == max_bytes_; }

  /// Room at the end for at least one byte, unless it is full.
  boost::asio::mutable_buffer prepare() {
    if (end_ == capacity_) make_room();
    return {bytes_.get() + end_, capacity_ - end_};
  }
  void commit(std::size_t bytes) { end_ += bytes; }
  void consume(std::size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  /// Makes the next reads bigger: for a body that is known to be long. Only when empty.
  void expect(std::size_t bytes) {
    bytes = std::min(bytes, max_bytes_);
    if (!empty() || bytes <= capacity_) return;
    bytes_.reset(new char[bytes]);
    capacity_ = bytes;
  }
  /// Gives the memory back, if nothing is in it and there is more than that.
  void release(std::size_t keep_bytes = 0) {
    if (empty() && capacity_ > keep_bytes) *this = InputBuffer(max_bytes_);
  }

 private:
  static constexpr std::size_t kFirstBytes = 4096;

  void make_room() {
    const std::size_t used = end_ - begin_;
    const bool crowded = used * 2 > capacity_ || capacity_ == 0;
    const std::size_t wanted =
        crowded ? std::min(max_bytes_, std::max(kFirstBytes, capacity_ * 2)) : capacity_;
    if (wanted == capacity_) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, used);
    } else {
      std::unique_ptr<char[]> bigger(new char[wanted]);
      if (used != 0) std::memcpy(bigger.get(), bytes_.get() + begin_, used);
      bytes_ = std::move(bigger);
      capacity_ = wanted;
    }
    begin_ = 0;
    end_ = used;
  }

  std::size_t max_bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::unique_ptr<char[]> bytes_;
};

}  // namespace relay::net
