// Checks a log. Fail-closed: what is missing, unreadable or not understood is not fine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::audit {

/// Walks records in order. Pure: feed it lines from anywhere.
class ChainVerifier {
 public:
  /// False once the chain is broken; reason() says where and how, and nothing more is looked at.
  bool feed(std::string_view line);
  /// The next line comes from another file: the count of lines begins again.
  void next_file() { line_ = 0; }
  /// The last line had no newline. Call instead of feed for it.
  bool feed_unterminated(std::string_view line);
  /// After the last line.
  bool finish();

  [[nodiscard]] bool broken() const { return broken_at_.has_value(); }
  [[nodiscard]] std::optional<std::uint64_t> broken_at() const { return broken_at_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }
  [[nodiscard]] std::uint64_t unchained() const { return unchained_; }
  [[nodiscard]] std::uint64_t recovered() const { return recovered_; }
  [[nodiscard]] std::optional<std::uint64_t> start_seq() const { return start_seq_; }
  /// The first record is the first there ever was.
  [[nodiscard]] bool anchored() const { return anchored_; }

 private:
  bool break_here(std::string reason);
  bool keep_fragment(std::string_view line);
  bool check_recovery(std::string_view action, std::string_view args);

  std::uint64_t line_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t unchained_ = 0;
  std::uint64_t recovered_ = 0;
  std::uint64_t expected_seq_ = 0;
  std::string expected_prev_;
  std::optional<std::uint64_t> start_seq_;
  bool anchored_ = false;
  std::string fragment_;  // lines that are no records, waiting for the record that accounts for them
  std::uint64_t fragment_line_ = 0;
  std::optional<std::uint64_t> broken_at_;
  std::string reason_;
};

enum class Scope : std::uint8_t {
  whole,    // from the first record ever: rotated siblings and the live file
  segment,  // this file alone, wherever it begins
};

struct Verification {
  bool ok = false;
  bool chain_ok = false;
  bool present = false;
  bool anchored = false;
  bool segment_mode = false;
  std::string path;  // the file, or the one in which the chain breaks
  std::uint64_t records = 0;
  std::optional<std::uint64_t> start_seq;
  std::optional<std::uint64_t> broken_at;  // line number in `path`, from 1
  std::string reason;
};

Verification verify_log(const std::string& path, Scope scope);

/// {"ok":…,"chain_ok":…,"present":…,"anchored":…,"segment_mode":…,"path":…,"records":…,"start_seq":…,"broken_at":…,"reason":…}
json::object to_json(const Verification& verification);

}  // namespace relay::audit
