#include "audit/since.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace relay::audit {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr long kYearMin = 1970;
constexpr long kAmountMax = 1'000'000'000;  // seconds: 31 years; the sum stays far from what a time can hold

/// Takes a text apart from the left. What does not match stays.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<char> take_any() {
    if (rest_.empty()) return std::nullopt;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  /// Digits only; from_chars alone would take a sign.
  std::optional<long> take_number(std::size_t digits_min, std::size_t digits_max) {
    std::size_t length = 0;
    while (length < rest_.size() && rest_[length] >= '0' && rest_[length] <= '9') ++length;
    if (length < digits_min || length > digits_max) return std::nullopt;
    long number = 0;
    std::from_chars(rest_.data(), rest_.data() + length, number);
    rest_.remove_prefix(length);
    return number;
  }
  std::optional<int> take_digit() {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return std::nullopt;
    return *take_any() - '0';
  }
  std::optional<long> take_number(std::size_t digits) { return take_number(digits, digits); }

 private:
  std::string_view rest_;
};

std::optional<seconds> find_unit(char unit) {
  switch (unit) {
    case 's': return seconds(1);
    case 'm': return minutes(1);
    case 'h': return hours(1);
    case 'd': return hours(24);
    default: return std::nullopt;
  }
}

std::optional<seconds> find_span(std::string_view text) {
  Words words(text);
  seconds span{0};
  do {
    const auto amount = words.take_number(1, 9);
    const auto letter = words.take_any();
    const auto unit = letter ? find_unit(*letter) : std::nullopt;
    if (!amount || !unit || *amount > kAmountMax / unit->count()) return std::nullopt;
    span += *amount * *unit;
  } while (!words.at_end());
  return span;
}

std::optional<std::chrono::sys_days> take_day(Words& words) {
  const auto year = words.take_number(4);
  const bool dashed = words.take('-');
  const auto month = words.take_number(2);
  const bool dashed_again = words.take('-');
  const auto day = words.take_number(2);
  if (!year || !month || !day || !dashed || !dashed_again || *year < kYearMin) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date);
}

std::optional<minutes> take_hour_and_minute(Words& words) {
  const auto hour = words.take_number(2);
  const bool colon = words.take(':');
  const auto minute = words.take_number(2);
  if (!hour || !colon || !minute || *hour > 23 || *minute > 59) return std::nullopt;
  return hours(*hour) + minutes(*minute);
}

// ":05", ":05.25", or nothing.
std::optional<microseconds> take_seconds(Words& words) {
  if (!words.take(':')) return microseconds(0);
  const auto whole = words.take_number(2);
  if (!whole || *whole > 59) return std::nullopt;
  microseconds time = seconds(*whole);
  if (!words.take('.')) return time;
  microseconds digit(100'000);
  int digits = 0;
  while (const auto value = words.take_digit()) {
    time += *value * digit;
    digit /= 10;
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  return time;
}

// "Z", "+01:00", "-05:30", or nothing, which is UTC too.
std::optional<minutes> take_offset(Words& words) {
  if (words.at_end() || words.take('Z')) return minutes(0);
  const bool east = words.take('+');
  if (!east && !words.take('-')) return std::nullopt;
  const auto offset = take_hour_and_minute(words);
  if (!offset) return std::nullopt;
  return east ? *offset : -*offset;
}

std::optional<WallTime> find_time(std::string_view text) {
  Words words(text);
  const auto day = take_day(words);
  if (!day) return std::nullopt;
  if (words.at_end()) return WallTime(*day);
  if (!words.take('T') && !words.take(' ')) return std::nullopt;
  const auto time = take_hour_and_minute(words);
  if (!time) return std::nullopt;
  const auto rest = take_seconds(words);
  if (!rest) return std::nullopt;
  const auto offset = take_offset(words);
  if (!offset || !words.at_end()) return std::nullopt;
  return WallTime(*day) + *time + *rest - *offset;
}

}  // namespace

Result<WallTime> parse_since(std::string_view text, WallTime now) {
  if (const auto span = find_span(text)) return now - *span;
  if (const auto time = find_time(text)) return *time;
  return fail(invalid(fmt::format(
      "\"{}\" is neither a span (90s, 10m, 1h30m, 2d) nor a time (2026-11-15, 2026-11-15T20:04:05Z)", text)));
}

}  // namespace relay::audit
