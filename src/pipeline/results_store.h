// ResultsStore: what did not fit a reply, kept for a while, in memory, for whoever asked for it.
//
//   relay://results/<id>                          the first 64 KiB
//   relay://results/<id>?offset=65000&length=9000 bytes, moved to the boundaries of characters
//   relay://results/<id>?line=120&lines=40        lines, from 1
//
// Bounded in number, in bytes and in time; the oldest go first. Ids cannot be guessed, and another principal
// cannot use them. Bound to this process (docs/decisions/0031-room-for-a-second-machine.md).
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/id_maker.h"
#include "base/limits.h"
#include "base/result.h"

namespace relay::pipeline {

inline constexpr std::string_view kResultsPrefix = "relay://results/";

/// A piece of a kept result.
struct Slice {
  std::string text;
  std::size_t offset = 0;  // of the first byte
  std::size_t total_bytes = 0;
  [[nodiscard]] std::size_t next_offset() const { return offset + text.size(); }
  [[nodiscard]] bool last() const { return next_offset() >= total_bytes; }
};

struct RangeRequest {
  std::string id;
  std::optional<std::size_t> offset;
  std::optional<std::size_t> length;
  std::optional<std::size_t> line;  // from 1
  std::optional<std::size_t> lines;
};

/// Fails with what is wrong with the URI.
Result<RangeRequest> parse_results_uri(std::string_view uri);

class ResultsStore {
 public:
  ResultsStore(const Clock& clock, IdMaker ids) : clock_(clock), ids_(std::move(ids)) {}

  /// The URI. Text beyond limits::kKeptResultBytes is not kept.
  std::string keep(std::string_view principal, std::string text);
  /// At most `bytes_max` at once.
  Result<Slice> read(std::string_view principal, const RangeRequest& request,
                     std::size_t bytes_max = limits::kResultBytes);
  Result<Slice> read(std::string_view principal, std::string_view uri);

  /// The tool that reads kept results, when clients have one; otherwise they are told to read a resource.
  void set_read_tool(std::string name) { read_tool_ = std::move(name); }
  [[nodiscard]] const std::string& read_tool() const { return read_tool_; }
  /// "call read with path <places>", or "read resource <places>".
  [[nodiscard]] std::string how_to_read(std::string_view places) const;
  static std::int64_t kept_minutes();

  [[nodiscard]] std::size_t count() const { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Forgets what is too old; keep and read do it too.
  void sweep();

 private:
  struct Entry {
    std::string id;
    std::string principal;
    std::string text;
    MonoTime expires;
  };
  using Entries = std::list<Entry>;
  void drop_oldest();

  const Clock& clock_;
  IdMaker ids_;
  Entries entries_;  // oldest first
  std::unordered_map<std::string, Entries::iterator> by_id_;
  std::size_t bytes_ = 0;
  std::string read_tool_;
};

}  // namespace relay::pipeline
