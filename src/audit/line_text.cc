#include "audit/line_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/id_maker.h"
#include "base/json.h"
#include "base/printable.h"

namespace relay::audit {
namespace {

constexpr std::size_t kShortDigits = 8;  // `relay explain` takes the beginning of an id

// "2026-11-16T15:09:37.045+00:00", in UTC as it stands in the log.
std::string time_of(const json::object& record) {
  std::string time(text_of(record, "ts").substr(0, 19));
  if (time.size() == 19) time[10] = ' ';
  return time.size() == 19 ? time.substr(5) : time;
}

// Records of the log itself and opening lines have no outcome yet, or never.
std::string_view ending_of(const json::object& record) {
  const std::string_view outcome = text_of(record, "outcome");
  if (outcome == "confirm_required") return "confirm";
  return outcome.empty() ? text_of(record, "action") : outcome;
}

// Older records, opening lines and those of the log itself have none.
std::string took_of(const json::object& record) {
  const auto took = json::find_int(record, "duration_us");
  return took ? format_took(std::chrono::microseconds(*took)) : std::string();
}

bool is_empty(const json::value& item) {
  if (const json::string* text = item.if_string()) return text->empty();
  if (const json::array* items = item.if_array()) return items->empty();
  const json::object* members = item.if_object();
  return members ? members->empty() : item.is_null();
}

std::string subject_of(const json::object& record) {
  json::object said;
  if (const json::object* args = json::find_object(record, "args"))
    for (const auto& member : *args)
      if (!is_empty(member.value())) said.emplace(member.key(), member.value());
  return said.empty() ? std::string() : json::write(said);
}

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

std::string cut(const std::string& text, std::size_t columns) {
  if (static_cast<std::size_t>(std::ranges::count_if(text, begins_character)) <= columns) return text;
  std::string out;
  std::size_t used = 0;
  for (const char c : text) {
    if (begins_character(c) && ++used > columns - std::min<std::size_t>(columns, 3)) break;
    out += c;
  }
  return out.append(std::min<std::size_t>(columns, 3), '.');
}

// "req_", the node where there is one, and the first digits.
std::string_view short_id(std::string_view id) {
  const std::string_view node = find_node(id);
  const std::size_t digits = node.empty() ? id.find('_') + 1 : id.find(node) + node.size() + 1;
  return id.substr(0, digits + kShortDigits);
}

}  // namespace

// Three digits are enough to compare calls. The limits are those where rounding reaches the next form.
std::string format_took(std::chrono::microseconds took) {
  const auto us = static_cast<double>(took.count());
  if (us < 1'000) return fmt::format("{:.0f} us", us);
  if (us < 9'950) return fmt::format("{:.1f} ms", us / 1e3);
  if (us < 999'500) return fmt::format("{:.0f} ms", us / 1e3);
  if (us < 99'950'000) return fmt::format("{:.1f} s", us / 1e6);
  return fmt::format("{:.0f} s", us / 1e6);
}

std::string_view text_of(const json::object& record, std::string_view key) {
  return json::find_string(record, key).value_or("");
}

std::string to_readable(std::string_view line, std::size_t columns) {
  const auto record = json::parse_object(line);
  if (!record) return cut(printable(line, '?'), columns);
  const std::string_view id = short_id(text_of(*record, "request_id"));
  const std::string text = fmt::format("{:14}  {:<8} {:>7}  {:<14} {:<18} {:<17}  {}", time_of(*record),
                                       ending_of(*record), took_of(*record), text_of(*record, "tool"),
                                       text_of(*record, "client_id"), id, subject_of(*record));
  return cut(printable(text, '?'), columns);
}

}  // namespace relay::audit
