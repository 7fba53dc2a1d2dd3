// HostCallTable: the host calls of one run that are in flight.
//
// Each call is a task of its own that owns what it needs. The table bounds how many there are and how many
// bytes they brought along: has_room() tells the reader of the socket to leave further frames where they are.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "executors/run.h"
#include "executors/run_child.h"
#include "io/event.h"
#include "io/spawn.h"

namespace relay::executors {

class HostCallTable : public std::enable_shared_from_this<HostCallTable> {
 public:
  HostCallTable(io::Loop executor, std::shared_ptr<RunChild> child, std::shared_ptr<HostCalls> calls);

  /// Begins a call. Fails when the guest uses a number twice at the same time.
  Result<void> begin(std::int64_t id, HostCall call);
  /// The guest no longer wants it. A number that is not there has been answered already.
  void cancel(std::int64_t id);
  /// The run is over: cancels everything; nothing is sent from here on.
  void close();

  [[nodiscard]] bool has_room() const;
  /// Waits for room, or for close().
  Task<void> wait_for_room();
  [[nodiscard]] std::size_t in_flight() const { return calls_.size(); }

 private:
  class Stream;
  Task<void> perform(std::int64_t id, HostCall call);
  void answer(std::int64_t id, Result<HostReply> reply);

  io::Loop executor_;
  std::shared_ptr<RunChild> child_;  // null once closed
  std::shared_ptr<HostCalls> host_;
  struct Entry {
    io::CancelSource cancel;
    std::size_t body_bytes = 0;
  };
  std::map<std::int64_t, Entry> calls_;
  std::size_t body_bytes_ = 0;
  io::Event room_;
};

}  // namespace relay::executors
