// ConfigDocument: relay.config.json as its author wrote it, with comments and spacing, and edits of its
// "mcps" that leave the rest alone.
//
// The text is scanned, not printed anew: an edit replaces the bytes of one entry or one value. Pure; reading
// and writing files is config_file.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace relay::config {

class ConfigDocument {
 public:
  /// JSON with comments and trailing commas. Fails when it is none, or "mcps" is there and no list.
  static Result<ConfigDocument> parse(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// The names in "mcps", in order; empty where an entry has none.
  [[nodiscard]] std::vector<std::string> server_names() const;

  /// Makes "mcps" if there is none.
  void append_server(const json::object& entry);
  /// not_found when there is no entry of that name.
  Result<void> replace_server(std::string_view name, const json::object& entry);
  Result<void> remove_server(std::string_view name);
  /// One member of an entry.
  Result<void> set_in_server(std::string_view name, std::string_view key, const json::value& value);

 private:
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct Member {
    std::string key;
    Span value;
  };
  class Scanner;

  explicit ConfigDocument(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::vector<Member> members(Span object) const;
  [[nodiscard]] std::vector<Span> elements(Span array) const;
  [[nodiscard]] Span root() const;
  [[nodiscard]] std::vector<Member> find_mcps() const;  // none or one
  [[nodiscard]] Result<std::size_t> index_of(std::string_view name) const;
  void insert_before_end(Span container, std::size_t last_end, bool is_empty, const std::string& item,
                         std::string_view indent);

  std::string text_;
};

/// On one line when it is short, otherwise a line for each member; `indent` is that of the first line.
std::string format_entry(const json::object& entry, std::string_view indent);

}  // namespace relay::config
