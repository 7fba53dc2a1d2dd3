// JsonText: a JSON value kept as the bytes it came in, parsed when somebody looks inside.
//
// Schemas pass through Relay untouched: unknown keywords, the order of members and the spelling of numbers
// survive. Copies share one text. One thread at a time: the parsed form is made on first use. `trusted` does
// not check its text, `parse` does.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::protocol {

class JsonText {
 public:
  /// "{}"
  JsonText();
  /// Refuses what is not valid JSON.
  static Result<JsonText> parse(std::string text);
  /// Precondition: valid JSON, for literals in the source and for text that was validated as part of a
  /// message.
  static JsonText trusted(std::string text);
  static JsonText from(const json::value& value);

  [[nodiscard]] std::string_view text() const;
  [[nodiscard]] const json::value& value() const;

 private:
  struct Shared;
  explicit JsonText(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

/// The members of an object as they are, with one of them replaced by a text; it comes first.
void append_with_text(std::string& out, const JsonText& object, std::string_view key, std::string_view text);

}  // namespace relay::protocol
