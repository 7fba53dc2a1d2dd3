// The files of one log: the live one and what rotation left beside it, plain or gzipped.
//
//   audit.jsonl   audit.jsonl-20261115   audit.jsonl-20261114.gz   audit.jsonl.1   audit.jsonl.2.gz
//
// Their order is not in their names (rotation tools differ) but in the chain: the seq of the first record.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::audit {

/// Reads lines, from plain and gzipped files alike, with a bound on their length.
class LineFile {
 public:
  static Result<LineFile> open(const std::string& path);
  LineFile(LineFile&&) noexcept;
  LineFile& operator=(LineFile&&) noexcept;
  ~LineFile();

  struct Line {
    std::string_view text;   // without the newline; valid until the next call
    bool terminated = true;  // false for a last line without its newline
  };
  /// Nothing at the end. Fails when reading does, or for a line over limits::kAuditLineBytes.
  Result<std::optional<Line>> next();

 private:
  struct State;
  explicit LineFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct Segment {
  std::string path;
  std::uint64_t first_seq = 0;  // of the first chained record

  bool operator==(const Segment&) const = default;
};

/// Rotated siblings that hold chained records, oldest first; the live file is not among them.
std::vector<Segment> find_rotated(const std::string& path);

/// The end of a plain file, without reading the rest.
struct FileTail {
  std::vector<std::string> lines;  // whole lines, oldest first
  std::string fragment;            // what follows the last newline
};
/// At most max_lines lines, and not much more than max_bytes of the file. A missing file is an empty one.
Result<FileTail> read_tail(const std::string& path, std::size_t max_lines, std::size_t max_bytes);
Result<FileTail> read_tail(int file, std::size_t max_lines, std::size_t max_bytes);

}  // namespace relay::audit
