#include "audit/formats.h"

#include <algorithm>
#include <vector>

#include "base/json.h"

namespace relay::audit {
namespace {

constexpr std::string_view kCefHeader = "CEF:0|relay|relay|1.0|audit|tool-call|5|";
constexpr std::string_view kLeefHeader = "LEEF:2.0|relay|relay|1.0|audit|x09|";

struct Field {
  std::string_view key;
  std::string value;
};

// Strings lose their quotes; everything else stays as JSON.
std::string plain_value(std::string_view json_text) {
  if (!json_text.starts_with('"')) return std::string(json_text);
  const auto parsed = json::parse(json_text);
  return parsed ? std::string(json::view(parsed->get_string())) : std::string(json_text);
}

std::vector<Field> sorted_fields(const Record& record) {
  std::vector<Field> fields;
  for (const Record::Member& member : record.members())
    fields.push_back(
        {record.key(member), plain_value(record.member_text(member).substr(member.key_bytes + 3))});
  std::ranges::sort(fields, {}, &Field::key);
  return fields;
}

// Whatever separates fields or lines must not come out of a value, or a client could forge fields.
void append_escaped(std::string& out, std::string_view value, std::string_view specials) {
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t' && specials.find('\t') != std::string_view::npos) {
      out += "\\t";
    } else {
      if (specials.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
}

void append_fields(std::string& out, const Record& record, char separator, std::string_view specials) {
  bool first = true;
  for (const Field& field : sorted_fields(record)) {
    if (!first) out += separator;
    first = false;
    out += field.key;
    out += '=';
    append_escaped(out, field.value, specials);
  }
  out += '\n';
}

}  // namespace

std::optional<LogFormat> find_format(std::string_view name) {
  if (name == "jsonl") return LogFormat::jsonl;
  if (name == "cef") return LogFormat::cef;
  if (name == "leef") return LogFormat::leef;
  return std::nullopt;
}

void append_plain(std::string& out, const Record& record) {
  out += '{';
  out += record.text();
  out += "}\n";
}

void append_cef(std::string& out, const Record& record) {
  out += kCefHeader;
  append_fields(out, record, ' ', "\\=|");
}

void append_leef(std::string& out, const Record& record) {
  out += kLeefHeader;
  append_fields(out, record, '\t', "\\=\t");
}

}  // namespace relay::audit
