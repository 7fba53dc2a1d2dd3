// Bodies of a guest's requests and responses while they are under way.
//
// A Download reads ahead of the guest, a little: so a response that fits is over and done with whether or not
// anybody looks at it, and a longer one stops until the guest has taken some. While it stops it does not
// count among the requests in flight. An Upload hands one piece at a time from the guest to the client, which
// takes the next one when the peer has taken this one: a slow peer slows the guest down. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fetch/guarded_fetch.h"
#include "io/event.h"
#include "io/spawn.h"

namespace relay::runs {

class Download {
 public:
  Download(io::Loop loop, std::unique_ptr<fetch::FetchResponse> response);
  /// Ends the transfer.
  ~Download();
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  /// What has arrived and was not taken, nothing at the end. Fails when the rest cannot be had, or while
  /// another read waits.
  io::Task<std::optional<std::string>> read();

 private:
  struct State;
  static io::Task<void> pump(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
  io::CancelSource cancel_;
};

class Upload : public std::enable_shared_from_this<Upload> {
 public:
  Upload(const io::Loop& loop, std::size_t max_bytes) : taken_(loop), given_(loop), max_bytes_(max_bytes) {}

  /// Completes when there is room for the next piece. Fails once the request is over, or with too_large over
  /// the cap.
  io::Task<void> write(std::string piece);
  void finish();
  /// The guest cannot go on: the request fails.
  void abort();
  /// The request is over; who still writes is told.
  void close();
  /// What the client reads from.
  net::BodySource source();

 private:
  io::Task<std::optional<std::string>> next();

  io::Event taken_, given_;
  std::optional<std::string> piece_;
  std::optional<Error> failure_;
  std::size_t bytes_ = 0;
  std::size_t max_bytes_;
  bool finished_ = false, closed_ = false;
};

}  // namespace relay::runs
