// TOML, as far as configuration goes: lines, tables and lists of tables. toml++ of Debian 12 was tried first:
// some invalid texts run into its assertions, which a release build turns into assumptions.
#include <set>

#include <fmt/format.h>

#include "imports/document.h"
#include "imports/toml_value.h"

namespace relay::imports {
namespace {

class TomlReader {
 public:
  explicit TomlReader(std::string_view text) : in_(text) {}

  Result<json::object> read() {
    for (;;) {
      in_.skip_lines();
      if (in_.at_end()) return std::move(root_);
      RELAY_CHECK(in_.peek() == '[' ? header() : assignment());
      RELAY_CHECK(in_.end_of_line());
    }
  }

 private:
  // Where a header leads: the table, and its path with the numbers of list items in it.
  struct Place {
    json::object* table;
    std::string path;
  };

  Result<void> header() {
    const bool is_list = in_.take("[[");
    if (!is_list) in_.take("[");
    RELAY_TRY(std::vector<std::string> key, in_.key());
    if (!in_.take(is_list ? "]]" : "]")) return in_.wrong("a header does not end");
    const std::string last = std::move(key.back());
    key.pop_back();
    RELAY_TRY(Place place, walk(key));
    return is_list ? begin_item(place, last) : begin_table(place, last);
  }

  // Tables on the way are made; of a list of tables the last one is meant. What was written as a value is
  // complete.
  Result<Place> walk(const std::vector<std::string>& key) {
    Place place{&root_, ""};
    for (const std::string& part : key) {
      json::value& next = place.table->emplace(part, json::object()).first->value();
      place.path += "\n" + part;
      if (closed_.contains(place.path)) return in_.wrong(fmt::format("{} is complete already", part));
      if (json::array* list = next.if_array()) place.path += fmt::format("\n{}", list->size());
      json::value& inside = next.is_array() ? next.get_array().back() : next;
      if (!inside.is_object()) return in_.wrong(fmt::format("{} is no table", part));
      place.table = &inside.get_object();
    }
    return place;
  }

  Result<void> begin_table(const Place& place, const std::string& name) {
    const std::string path = place.path + "\n" + name;
    json::value& table = place.table->emplace(name, json::object()).first->value();
    if (!table.is_object() || closed_.contains(path) || !opened_.insert(path).second)
      return in_.wrong(fmt::format("{} is defined twice", name));
    table_ = &table.get_object();
    path_ = path;
    return {};
  }

  Result<void> begin_item(const Place& place, const std::string& name) {
    const std::string path = place.path + "\n" + name;
    const auto [member, is_new] = place.table->emplace(name, json::array());
    if (is_new) lists_.insert(path);
    if (!lists_.contains(path)) return in_.wrong(fmt::format("{} is no list of tables", name));
    json::array& list = member->value().get_array();
    list.emplace_back(json::object());
    table_ = &list.back().get_object();
    path_ = fmt::format("{}\n{}", path, list.size());
    return {};
  }

  Result<void> assignment() {
    RELAY_TRY(const std::vector<std::string> key, in_.key());
    if (!in_.take("=")) return in_.wrong("= is missing");
    in_.skip_space();
    RELAY_TRY(json::value value, in_.value());
    std::string path = path_;
    for (const std::string& part : key) {
      path += "\n" + part;
      if (closed_.contains(path)) return in_.wrong(fmt::format("{} is complete already", part));
    }
    if (value.is_structured()) closed_.insert(path);
    return in_.assign(*table_, key, std::move(value));
  }

  TomlValueReader in_;
  json::object root_;
  // The table that lines belong to. Headers are the only ones that add to other tables, and they set it anew.
  json::object* table_ = &root_;
  std::string path_;
  std::set<std::string, std::less<>> opened_;  // tables that had their header
  std::set<std::string, std::less<>> closed_;  // lists and tables that were written as values
  std::set<std::string, std::less<>> lists_;   // lists that were made by [[headers]]
};

}  // namespace

Result<json::object> parse_toml(std::string_view text) {
  return TomlReader(text).read();
}

}  // namespace relay::imports
