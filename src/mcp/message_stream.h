// MessageStream: the messages of one HTTP reply, kept until they are sent, and a while longer where a client
// may come back for them (Last-Event-ID).
//
// One coroutine writes them out at a time; a second one that attaches takes over and the first one ends. The
// buffer is bounded: what is oldest goes first, whether it was read or not. So a client that does not read
// loses progress, not our memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "io/waker.h"
#include "mcp/reply.h"

namespace relay::mcp {

class MessageStream final : public Reply {
 public:
  struct Entry {
    std::uint64_t number;  // from 1
    std::string text;
  };
  enum class Replay : std::uint8_t { no, yes };

  MessageStream(io::Loop executor, Replay replay) : changed_(std::move(executor)), replay_(replay) {}

  /// Becomes the writer; `after` is the number of the last entry that the client has.
  std::uint64_t attach(std::uint64_t after = 0);
  /// False when another writer took over.
  [[nodiscard]] bool is_writer(std::uint64_t ticket) const { return ticket == ticket_; }

  /// The next message for the writer, without the answer.
  std::optional<Entry> take();
  [[nodiscard]] bool has_messages() const;
  /// The answer as a value: only while nothing went before it.
  std::optional<FinalMessage> take_answer();
  [[nodiscard]] bool is_drained() const { return finished() && !has_messages() && !answer_; }
  /// Moves the answer behind the messages: it is an event like them from now on.
  void turn_into_events();
  [[nodiscard]] bool has_answer() const { return answer_.has_value(); }

  void close_early() override;
  [[nodiscard]] bool close_requested() const { return close_requested_; }
  /// The number of the last entry that was handed to a writer.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// True once after close_early().
  bool take_close_request() { return std::exchange(close_requested_, false); }

  [[nodiscard]] io::Waker& changed() { return changed_; }
  /// The number in event ids; zero until it is known to a session.
  std::uint64_t id = 0;

 protected:
  void write(std::string message) override;
  void end(FinalMessage answer) override;

 private:
  void append(std::string message);

  io::Waker changed_;
  Replay replay_;
  std::vector<Entry> entries_;
  std::size_t bytes_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint64_t position_ = 0;  // number of the last entry taken
  std::uint64_t ticket_ = 0;
  std::optional<FinalMessage> answer_;
  bool events_ = false;
  bool close_requested_ = false;
};

/// "7-12": stream 7, entry 12.
std::string format_event_id(std::uint64_t stream, std::uint64_t number);
struct EventId {
  std::uint64_t stream;
  std::uint64_t number;
};
std::optional<EventId> find_event_id(std::string_view text);

}  // namespace relay::mcp
