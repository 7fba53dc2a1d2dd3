#include "protocol/id_scanner.h"

#include <utility>

#include "base/bytes.h"
#include "base/limits.h"

namespace relay::protocol {
namespace {

constexpr std::size_t kTokenBytes =
    6 * limits::kIdBytes + 2;  // an id with every byte escaped, and its quotes

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

void IdScanner::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (in_string_) {
      take_in_string(c);
    } else if (!is_space(c)) {
      take(c);
    } else if (is_value_ && !token_.empty()) {
      keep(c);  // "1 2" is not 12
    }
  }
}

void IdScanner::take_in_string(char c) {
  keep(c);
  if (!escaped_ && c == '"') in_string_ = false;
  escaped_ = !escaped_ && c == '\\';
}

void IdScanner::take(char c) {
  switch (c) {
    case '{':
    case '[':
      if (depth_ == 0) is_object_ = c == '{';
      keep(c);  // a value that is not a scalar is no id
      ++depth_;
      return;
    case '}':
    case ']':
      if (depth_ == 1) end_member();
      if (depth_ > 0) --depth_;
      return;
    case ':':
      if (depth_ != 1) return;
      key_ = std::exchange(token_, {});
      is_value_ = true;
      return;
    case ',':
      if (depth_ == 1) end_member();
      return;
    default: in_string_ = c == '"'; keep(c);
  }
}

// One byte over the limit is kept, so that a token that was cut is too long for an id.
void IdScanner::keep(char c) {
  if (depth_ == 1 && token_.size() <= kTokenBytes) token_ += c;
}

void IdScanner::end_member() {
  const std::string value = std::exchange(token_, {});
  if (!std::exchange(is_value_, false)) return;
  if (key_ == "\"method\"") has_method_ = true;
  if (key_ != "\"id\"") return;
  ++ids_;
  id_text_ = trim_ascii(value);
}

Id IdScanner::id() const {
  if (!is_object_ || !has_method_ || ids_ != 1 || id_text_.size() > kTokenBytes) return {};
  const auto parsed = json::parse(id_text_);
  if (!parsed) return {};
  if (const json::string* name = parsed->if_string())
    return name->size() <= limits::kIdBytes ? Id::string(json::view(*name)) : Id();
  return parsed->is_int64() || parsed->is_uint64() ? Id::from_text(id_text_) : Id();
}

}  // namespace relay::protocol
