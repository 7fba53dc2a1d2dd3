// LineScan: reads one file in pieces and reports its matching lines.
//
// Memory stays small whatever the file: a window of 64 KiB of whole lines moves over it, and grows only for
// lines that do not fit. As in ripgrep, a NUL byte means a binary file: the piece that has it and all that
// follows are not searched. A byte order mark is skipped; UTF-16 files that have one are searched as UTF-8.
// One scan belongs to one thread and is used for many files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "search/line_matcher.h"

namespace relay::search {

struct LineHit {
  std::uint64_t line = 0;    // from 1
  std::uint64_t column = 0;  // in bytes, from 1, as ripgrep's --column
  std::string_view text;     // the whole line, without its end
  std::string_view before;   // context, whole lines with their ends; "" without
  std::string_view after;
};

enum class Go : std::uint8_t { on, stop };

/// Whoever wants the hits of a file, in the order of lines.
class HitSink {
 public:
  virtual ~HitSink() = default;
  /// The views in hit are valid during the call only.
  virtual Go take(const LineHit& hit) = 0;
};

class LineScan {
 public:
  /// The matcher must outlive the scan. context: lines around each hit.
  LineScan(const LineMatcher& matcher, std::size_t context);

  /// Searches an open file from its start. should_stop is asked for each piece of it.
  void search(const Fd& file, std::uint64_t size_hint, const std::function<bool()>& should_stop,
              HitSink& sink);
  void search(std::string_view content, HitSink& sink);

 private:
  enum class Filled : std::uint8_t { more, end, binary };
  Filled fill(const Fd& file);
  void start_over();
  void skip_mark();
  void search_wide_text(const Fd& file, HitSink& sink);
  [[nodiscard]] std::string_view held() const { return {window_.data(), end_}; }
  [[nodiscard]] std::size_t searchable_end(Filled filled) const;
  Go report(std::string_view text, std::size_t end, HitSink& sink);
  struct Place {
    std::size_t start, end;  // of a line, with its end
  };
  [[nodiscard]] static Place line_at(std::string_view text, std::size_t at, std::size_t floor);
  LineHit make_hit(std::string_view text, std::size_t at, Place line);
  void roll(std::size_t searched);

  const LineMatcher& matcher_;
  const std::size_t context_;
  std::vector<char> window_;
  std::size_t begin_ = 0;  // the first line that is not searched yet; before it: context
  std::size_t end_ = 0;
  std::size_t counted_ = 0;  // where line_ is
  std::uint64_t line_ = 1;   // the number of the line at counted_
  std::uint64_t read_ = 0;   // bytes of this file so far
  std::uint64_t size_hint_ = 0;
};

}  // namespace relay::search
