#include "net/response_head.h"

#include <charconv>

#include "base/bytes.h"

namespace relay::net {
namespace {

constexpr std::string_view kBreaks("\r\n\0", 3);

bool is_ours(std::string_view name) {
  switch (name.size()) {
    case 4: return equal_ignoring_case(name, "date");
    case 10: return equal_ignoring_case(name, "connection");
    case 14: return equal_ignoring_case(name, "content-length");
    case 17: return equal_ignoring_case(name, "transfer-encoding");
    default: return false;
  }
}

void append_number(std::string& out, std::size_t number, int base) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number, base);
  out.append(digits, end);
}

void append_value(std::string& out, std::string_view value) {
  const std::size_t begin = out.size();
  out += value;
  if (value.find_first_of(kBreaks) == std::string_view::npos) return;
  for (std::size_t i = begin; i < out.size(); ++i)
    if (kBreaks.find(out[i]) != std::string_view::npos) out[i] = ' ';
}

void append_framing(std::string& out, const HeadShape& shape) {
  switch (shape.framing) {
    case Framing::length:
      out += "Content-Length: ";
      append_number(out, shape.content_length, 10);
      out += "\r\n";
      return;
    case Framing::chunked: out += "Transfer-Encoding: chunked\r\n"; return;
    case Framing::close:
    case Framing::none: return;
  }
}

}  // namespace

void append_head(std::string& out, int status, const Headers& headers, const HeadShape& shape,
                 std::string_view date) {
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::size_t>(status), 10);
  out += ' ';
  out += reason_phrase(status);
  out += "\r\nDate: ";
  out += date;
  out += "\r\n";
  for (const auto& [name, value] : headers) {
    if (is_ours(name) || !is_http_token(name)) continue;
    out += name;
    out += ": ";
    append_value(out, value);
    out += "\r\n";
  }
  append_framing(out, shape);
  if (shape.after == AfterAnswer::close) out += "Connection: close\r\n";
  if (shape.after == AfterAnswer::keep_said) out += "Connection: keep-alive\r\n";
  out += "\r\n";
}

void append_chunk_size(std::string& out, std::size_t bytes) {
  append_number(out, bytes, 16);
  out += "\r\n";
}

std::string_view DateText::now() {
  const std::time_t second = std::time(nullptr);
  if (second == second_) return text_;
  second_ = second;
  std::tm parts{};
  ::gmtime_r(&second, &parts);
  char text[40];
  text_.assign(text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts));
  return text_;
}

}  // namespace relay::net
