#include "peer/peer_params.h"

#include <charconv>

#include "base/bytes.h"

namespace relay::peer {
namespace {

constexpr std::string_view kId = "\"id\":";

// The digits after a key, if nothing but digits stands there.
std::optional<std::int64_t> find_digits(std::string_view text) {
  text = trim_ascii(text);
  std::int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string_view members_of(std::string_view object) {
  object = trim_ascii(object);
  if (object.size() < 2) return {};
  object.remove_prefix(1);
  object.remove_suffix(1);
  return trim_ascii(object);
}

std::string with_members(std::string_view object, std::string_view members) {
  const std::string_view before = members_of(object);
  std::string out;
  out.reserve(before.size() + members.size() + 3);
  out += '{';
  out += before;
  if (!before.empty() && !members.empty()) out += ',';
  out += members;
  out += '}';
  return out;
}

std::string text_member(std::string_view object, std::string_view key) {
  const auto text = json::find_text(object, key);
  if (!text || !text->starts_with('"')) return {};
  const auto parsed = json::parse(*text);
  return parsed ? std::string(json::view(parsed->as_string())) : std::string();
}

bool may_progress(std::string_view method) {
  return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

std::optional<std::int64_t> find_spelled_id(std::string_view head, std::string_view tail) {
  tail = trim_ascii(tail);
  if (tail.ends_with('}')) {
    tail.remove_suffix(1);
    const std::size_t at = tail.rfind(kId);
    if (at != std::string_view::npos)
      if (const auto id = find_digits(tail.substr(at + kId.size()))) return id;
  }
  for (const std::string_view begin : {R"({"jsonrpc":"2.0",)", "{"}) {
    if (!head.starts_with(begin) || !head.substr(begin.size()).starts_with(kId)) continue;
    const std::string_view rest = head.substr(begin.size() + kId.size());
    if (const auto id = find_digits(rest.substr(0, rest.find(',')))) return id;
  }
  return std::nullopt;
}

}  // namespace relay::peer
