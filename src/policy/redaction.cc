#include "policy/redaction.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/canonical_number.h"
#include "base/limits.h"
#include "policy/secret_shapes.h"

namespace relay::policy {
namespace {

// A replacement can bring together what was apart, which may look like a secret again. Real text settles at
// once; the bound is for text that was made to not settle.
constexpr int kRounds = 8;

// False when there was nothing to replace; out is untouched then.
bool redact_once(std::string_view text, std::string& out) {
  SecretScanner scanner(text);
  std::size_t copied = 0;
  bool changed = false;
  while (const auto secret = scanner.next()) {
    if (!changed) out.clear();
    changed = true;
    out.append(text.substr(copied, secret->begin - copied));
    out.append(kRedacted);
    copied = secret->end;
  }
  if (changed) out.append(text.substr(copied));
  return changed;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}
std::size_t count_chars(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation));
}
std::size_t bytes_of_chars(std::string_view text, std::size_t chars) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!is_continuation(text[at]) && chars-- == 0) break;
  return at;
}

// A command as a list: ["tool", "--password", "V"], ["sshpass", "-p", "V"], ["curl", "-u", "user:V"].
bool is_secret_argument(std::string_view program, std::string_view flag, std::string_view argument) {
  if (argument.empty() || argument.starts_with("--")) return false;
  if (is_secret_flag(flag)) return true;
  if (program.ends_with("sshpass")) return flag == "-p";
  const bool names_user = flag == "-u" || flag == "-U" || flag == "--user" || flag == "--proxy-user";
  return names_user && program.ends_with("curl") && argument.find(':') != std::string_view::npos;
}

bool has_reference(std::string_view word) {
  return std::ranges::any_of(std::array{"${env:", "${file:", "${secret:"},
                             [&](const char* kind) { return word.find(kind) != std::string_view::npos; });
}

class ArgsWriter {
 public:
  ArgsWriter(std::string& out, const secrets::Redactor* known)
      : out_(out), limit_(out.size() + limits::kAuditArgsBytes), known_(known) {}

  void write(const json::value& value) {
    if (const auto* members = value.if_object()) return write_object(*members);
    if (const auto* items = value.if_array()) return write_array(*items);
    if (const auto* text = value.if_string())
      return json::append_quoted(out_, redact_for_audit(json::view(*text), known_));
    if (const double* number = value.if_double()) return append_canonical_number(out_, *number);
    write_plain(json::write(value));
  }

 private:
  // A secret of digits alone may come as a number.
  void write_plain(const std::string& text) {
    if (known_ && known_->holds_secret(text)) return json::append_quoted(out_, kRedacted);
    out_ += text;
  }

  [[nodiscard]] bool full() const { return out_.size() > limit_; }

  struct Member {
    std::string key;  // as it is written: the order of the canonical form goes by it
    const boost::json::key_value_pair* source;
  };

  // Two secrets used as keys would both become the placeholder; a member must not vanish because of that.
  static bool make_unique(std::vector<Member>& members) {
    bool changed = false;
    for (std::size_t i = members.size(); i-- > 1;) {
      if (members[i].key != members[i - 1].key) continue;
      members[i].key += fmt::format("#{}", i);
      changed = true;
    }
    return changed;
  }

  [[nodiscard]] std::vector<Member> sorted_members(const json::object& object) const {
    std::vector<Member> members;
    members.reserve(object.size());
    for (const auto& member : object)
      members.push_back({redact_for_audit({member.key().data(), member.key().size()}, known_), &member});
    std::ranges::sort(members, {}, [](const Member& member) {
      return std::pair(std::string_view(member.key), member.source);
    });
    if (make_unique(members)) std::ranges::sort(members, {}, &Member::key);
    return members;
  }

  void write_object(const json::object& object) {
    const std::vector<Member> members = sorted_members(object);
    out_ += '{';
    std::size_t written = 0;
    const bool setting = is_secret_setting(object);
    for (; written < members.size() && !full(); ++written) {
      const bool hidden =
          setting && members[written].key == "value" && members[written].source->value().is_string();
      write_member(members[written], written, hidden ? Value::hidden : Value::shown);
    }
    // The marker extends the last key that is there, which is where it belongs in the order.
    if (written < members.size()) {
      const std::string_view last =
          written > 0 ? std::string_view(members[written - 1].key) : std::string_view();
      if (written > 0) out_ += ',';
      json::append_quoted(out_, fmt::format("{}...(+{})", last, members.size() - written));
      out_ += ":null";
    }
    out_ += '}';
  }

  enum class Value : unsigned char { shown, hidden };

  void write_member(const Member& member, std::size_t index, Value shown) {
    if (index > 0) out_ += ',';
    json::append_quoted(out_, member.key);
    out_ += ':';
    const json::value& value = member.source->value();
    const std::string_view name(member.source->key().data(), member.source->key().size());
    if (shown == Value::hidden || is_secret_member(name, value)) return json::append_quoted(out_, kRedacted);
    write(value);
  }

  // {"pass": 12} counts passed tests.
  static bool is_secret_member(std::string_view name, const json::value& value) {
    if (value.is_null() || value.is_bool() || !is_secret_name(name)) return false;
    return value.is_string() || !equal_ignoring_case(name, "pass");
  }

  // A setting as an object, the way Kubernetes writes it: {"name": "DB_PASSWORD", "value": "V"}.
  static bool is_secret_setting(const json::object& object) {
    for (const std::string_view member : {"name", "key"})
      if (const auto* name = object.if_contains(boost::json::string_view(member.data(), member.size())))
        if (name->is_string() && is_secret_name(json::view(name->get_string()))) return true;
    return false;
  }

  static std::string_view text_of(const json::value& value) {
    const auto* text = value.if_string();
    return text ? json::view(*text) : std::string_view();
  }

  static bool is_secret_item(const json::array& items, std::size_t index) {
    return index > 0 &&
           is_secret_argument(text_of(items[0]), text_of(items[index - 1]), text_of(items[index]));
  }

  void write_array(const json::array& items) {
    out_ += '[';
    std::size_t written = 0;
    for (; written < items.size() && !full(); ++written) {
      if (written > 0) out_ += ',';
      if (is_secret_item(items, written))
        json::append_quoted(out_, kRedacted);
      else
        write(items[written]);
    }
    if (written < items.size())
      out_ += fmt::format("{}\"...(+{})\"", written > 0 ? "," : "", items.size() - written);
    out_ += ']';
  }

  std::string& out_;
  std::size_t limit_;
  const secrets::Redactor* known_;
};

}  // namespace

std::string redact(std::string_view text) {
  std::string current(text);
  std::string next;
  for (int round = 0; round < kRounds && redact_once(current, next) && next != current; ++round)
    std::swap(current, next);
  return current;
}

std::string redact_for_audit(std::string_view value, const secrets::Redactor* known) {
  const std::string_view window = utf8_prefix(value, limits::kAuditValueChars + limits::kAuditScanBytes);
  std::string text = redact(known ? known->redact(window, kRedacted) : window);
  const std::size_t shown = bytes_of_chars(text, limits::kAuditValueChars);
  const std::size_t missing =
      count_chars(std::string_view(text).substr(shown)) + count_chars(value.substr(window.size()));
  if (missing == 0) return text;
  text.resize(shown);
  return text + fmt::format("...(+{})", missing);
}

void append_redacted_json(std::string& out, const json::value& value, const secrets::Redactor* known) {
  ArgsWriter(out, known).write(value);
}

std::vector<std::string> redact_arguments(std::string_view program, const std::vector<std::string>& args) {
  std::vector<std::string> clean;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view before = i > 0 ? std::string_view(args[i - 1]) : program;
    if (has_reference(args[i]))
      clean.push_back(args[i]);
    else if (is_secret_argument(program, before, args[i]))
      clean.emplace_back(kRedacted);
    else
      clean.push_back(redact(args[i]));
  }
  return clean;
}

}  // namespace relay::policy
