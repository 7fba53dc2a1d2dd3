#include "config/config_document.h"

#include <algorithm>

#include <fmt/format.h>

#include "imports/document.h"

namespace relay::config {
namespace {

constexpr std::size_t kLineBytes = 110;

std::string on_one_line(const json::value& value) {
  std::string out;
  if (const json::object* object = value.if_object()) {
    for (const auto& member : *object)
      out += fmt::format("{}{}: {}", out.empty() ? "" : ", ",
                         json::quote(std::string_view(member.key().data(), member.key().size())),
                         on_one_line(member.value()));
    return "{" + out + "}";
  }
  if (const json::array* list = value.if_array()) {
    for (const json::value& item : *list) out += (out.empty() ? "" : ", ") + on_one_line(item);
    return "[" + out + "]";
  }
  return json::write(value);
}

std::string name_of(std::string_view entry) {
  const auto parsed = imports::parse_jsonc(entry);
  return parsed ? std::string(json::find_string(*parsed, "name").value_or("")) : std::string();
}

}  // namespace

// Walks text that a parser has accepted: what it meets is well formed.
class ConfigDocument::Scanner {
 public:
  Scanner(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void step() { ++at_; }

  void skip_space() {
    for (;;) {
      while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) ++at_;
      if (rest().starts_with("//"))
        skip_past("\n");
      else if (rest().starts_with("/*"))
        skip_past("*/");
      else
        return;
    }
  }

  Span value() {
    skip_space();
    const std::size_t begin = at_;
    if (peek() == '"')
      skip_string();
    else if (peek() == '{' || peek() == '[')
      skip_nested();
    else
      while (at_ < text_.size() && !std::string_view(",]} \t\r\n/").contains(text_[at_])) ++at_;
    return {begin, at_};
  }

  // To the next item: past a comma, if there is one.
  void skip_comma() {
    skip_space();
    if (peek() == ',') ++at_;
    skip_space();
  }

 private:
  [[nodiscard]] std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }

  void skip_past(std::string_view end) {
    const std::size_t found = text_.find(end, at_ + 2 > text_.size() ? at_ : at_ + 2);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    at_ = std::min(at_ + 1, text_.size());
  }

  void skip_nested() {
    int depth = 0;
    do {
      skip_space();
      const char c = peek();
      if (c == '"') {
        skip_string();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    } while (depth > 0 && at_ < text_.size());
    at_ = std::min(at_, text_.size());
  }

  std::string_view text_;
  std::size_t at_;
};

Result<ConfigDocument> ConfigDocument::parse(std::string text) {
  RELAY_TRY(const json::object value, imports::parse_jsonc(text));
  if (const json::value* mcps = json::find(value, "mcps"); mcps && !mcps->is_array())
    return fail(invalid("$.mcps is not a list"));
  return ConfigDocument(std::move(text));
}

std::vector<ConfigDocument::Member> ConfigDocument::members(Span object) const {
  std::vector<Member> out;
  Scanner scanner(text_, object.begin + 1);
  scanner.skip_space();
  while (scanner.peek() == '"') {
    const Span key = scanner.value();
    scanner.skip_space();
    scanner.step();  // the colon
    const auto name = json::parse(std::string_view(text_).substr(key.begin, key.end - key.begin));
    const Span value = scanner.value();
    out.push_back(
        {name && name->is_string() ? std::string(json::view(name->get_string())) : std::string(), value});
    scanner.skip_comma();
  }
  return out;
}

std::vector<ConfigDocument::Span> ConfigDocument::elements(Span array) const {
  std::vector<Span> out;
  Scanner scanner(text_, array.begin + 1);
  scanner.skip_space();
  while (scanner.at() < array.end && scanner.peek() != ']') {
    out.push_back(scanner.value());
    scanner.skip_comma();
  }
  return out;
}

ConfigDocument::Span ConfigDocument::root() const {
  const std::size_t mark = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  return Scanner(text_, mark).value();
}

// Of two members of one name the last one counts.
std::vector<ConfigDocument::Member> ConfigDocument::find_mcps() const {
  std::vector<Member> found;
  for (Member& member : members(root()))
    if (member.key == "mcps") found.assign(1, std::move(member));
  return found;
}

std::vector<std::string> ConfigDocument::server_names() const {
  std::vector<std::string> names;
  for (const Member& mcps : find_mcps())
    for (const Span element : elements(mcps.value))
      names.push_back(name_of(std::string_view(text_).substr(element.begin, element.end - element.begin)));
  return names;
}

Result<std::size_t> ConfigDocument::index_of(std::string_view name) const {
  const std::vector<std::string> names = server_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    return fail(
        not_found(fmt::format("there is no server \"{}\"; `relay mcp list` shows the ones that are", name)));
  return static_cast<std::size_t>(found - names.begin());
}

// After the last item, or, where there is none, after whatever comments there are.
void ConfigDocument::insert_before_end(Span container, std::size_t last_end, bool is_empty,
                                       const std::string& item, std::string_view indent) {
  if (!is_empty) {
    text_.insert(last_end, fmt::format(",\n{}{}", indent, item));
    return;
  }
  std::size_t at = container.end - 1;
  while (at > container.begin + 1 && std::string_view(" \t\r\n").contains(text_[at - 1])) --at;
  text_.replace(at, container.end - 1 - at, fmt::format("\n{}{}\n{}", indent, item, indent.substr(2)));
}

void ConfigDocument::append_server(const json::object& entry) {
  const std::vector<Member> found = find_mcps();
  if (found.empty()) {
    const Span whole = root();
    const std::vector<Member> all = members(whole);
    const std::string block = fmt::format("\"mcps\": [\n    {}\n  ]", format_entry(entry, "    "));
    return insert_before_end(whole, all.empty() ? 0 : all.back().value.end, all.empty(), block, "  ");
  }
  const std::vector<Span> entries = elements(found[0].value);
  insert_before_end(found[0].value, entries.empty() ? 0 : entries.back().end, entries.empty(),
                    format_entry(entry, "    "), "    ");
}

Result<void> ConfigDocument::replace_server(std::string_view name, const json::object& entry) {
  RELAY_TRY(const std::size_t index, index_of(name));
  const Span span = elements(find_mcps()[0].value)[index];
  text_.replace(span.begin, span.end - span.begin, format_entry(entry, "    "));
  return {};
}

// With it go the comma that separates it and what stands between.
Result<void> ConfigDocument::remove_server(std::string_view name) {
  RELAY_TRY(const std::size_t index, index_of(name));
  const std::vector<Span> entries = elements(find_mcps()[0].value);
  Span gone = entries[index];
  if (index + 1 < entries.size()) {
    gone.end = entries[index + 1].begin;
  } else if (index > 0) {
    gone.begin = entries[index - 1].end;
  } else {
    Scanner after(text_, gone.end);
    after.skip_space();
    if (after.peek() == ',') gone.end = after.at() + 1;
  }
  text_.erase(gone.begin, gone.end - gone.begin);
  return {};
}

Result<void> ConfigDocument::set_in_server(std::string_view name, std::string_view key,
                                           const json::value& value) {
  RELAY_TRY(const std::size_t index, index_of(name));
  const std::vector<Member> all = members(elements(find_mcps()[0].value)[index]);
  const auto known = std::ranges::find(all, key, &Member::key);
  if (known != all.end())
    text_.replace(known->value.begin, known->value.end - known->value.begin, on_one_line(value));
  else
    text_.insert(all.back().value.end, fmt::format(", {}: {}", json::quote(key), on_one_line(value)));
  return {};
}

std::string format_entry(const json::object& entry, std::string_view indent) {
  std::string line = on_one_line(json::value(entry));
  if (line.size() <= kLineBytes) return line;
  std::string out;
  for (const auto& member : entry)
    out += fmt::format("{}\n{}  {}: {}", out.empty() ? "{" : ",", indent,
                       json::quote(std::string_view(member.key().data(), member.key().size())),
                       on_one_line(member.value()));
  return out + fmt::format("\n{}}}", indent);
}

}  // namespace relay::config
