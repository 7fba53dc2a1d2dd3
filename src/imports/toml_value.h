// TomlValueReader: the values of TOML, and the white space around them. The lines and tables are toml.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace relay::imports {

class TomlValueReader {
 public:
  explicit TomlValueReader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  /// True, and past it, when the text goes on with these characters.
  bool take(std::string_view expected);
  /// Spaces and tabs.
  void skip_space();
  /// Also line ends and comments.
  void skip_lines();
  /// A comment may follow, then the line ends.
  Result<void> end_of_line();

  /// a, "b c", 'd', a."b".c
  Result<std::vector<std::string>> key();
  Result<json::value> value(std::size_t depth = 0);
  /// Assigns below `table`, making tables for the parts of a dotted key. Fails when the key is there already.
  Result<void> assign(json::object& table, const std::vector<std::string>& key, json::value value) const;

  [[nodiscard]] std::unexpected<Error> wrong(std::string_view what) const;

 private:
  Result<std::string> key_part();
  Result<std::string> basic_string();
  Result<std::string> multi_line(std::string_view quotes, bool has_escapes);
  Result<std::string> literal_string();
  Result<void> escape(std::string& out);
  Result<json::value> array(std::size_t depth);
  Result<json::value> inline_table(std::size_t depth);
  Result<json::value> scalar();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace relay::imports
