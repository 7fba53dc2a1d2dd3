// ObjectWriter: appends the members of one JSON object to a text, with the commas in the right places.
//
// Results are written straight into the bytes that are sent: no tree of values is built in between. A writer
// refers to the text of its caller, lives in one scope, and cannot fail: raw members must be JSON already.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "protocol/jsonrpc.h"

namespace relay::protocol {

class ObjectWriter {
 public:
  /// Writes the opening brace; finish() the closing one.
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

  /// The key; the caller appends the value to out().
  std::string& key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    json::append_quoted(out_, name);
    out_ += ':';
    return out_;
  }
  void text(std::string_view name, std::string_view value) { json::append_quoted(key(name), value); }
  /// Left out when empty.
  void text_if(std::string_view name, std::string_view value) {
    if (!value.empty()) text(name, value);
  }
  void flag(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
  void number(std::string_view name, std::int64_t value) { key(name) += std::to_string(value); }
  void number(std::string_view name, double value) { key(name) += json::write(json::value(value)); }
  void raw(std::string_view name, std::string_view json) { key(name) += json; }
  void object_if(std::string_view name, const json::object& value) {
    if (!value.empty()) key(name) += json::write(value);
  }
  void texts_if(std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) return;
    array(name, values, [](std::string& out, const std::string& value) { json::append_quoted(out, value); });
  }
  template <class Range, class Append>
  void array(std::string_view name, const Range& items, Append append) {
    std::string& out = key(name);
    out += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out += ',';
      first = false;
      append(out, item);
    }
    out += ']';
  }
  /// Members written by somebody else: `"a":1,"b":2`, or nothing.
  void members(std::string_view text) {
    if (text.empty()) return;
    if (!first_) out_ += ',';
    first_ = false;
    out_ += text;
  }
  void finish() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace relay::protocol
