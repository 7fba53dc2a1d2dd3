#include "secrets/redactor.h"

#include "secrets/spellings.h"

namespace relay::secrets {
namespace {

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

}  // namespace

void Redactor::learn(const std::vector<std::string>& values) {
  const std::scoped_lock lock(mutex_);
  bool changed = false;
  for (const std::string& value : values) changed = remember(value) || changed;
  while (bytes_ > bytes_max_ && forget_oldest()) changed = true;
  if (!changed) return;
  std::vector<std::string> spellings;
  for (const Known& known : known_)
    for (std::string& spelling : spellings_of(known.value)) spellings.push_back(std::move(spelling));
  scanner_ = std::make_shared<const ValueScanner>(std::move(spellings));
  knows_any_ = true;
}

// True when it was not known.
bool Redactor::remember(const std::string& value) {
  if (const auto found = by_value_.find(value); found != by_value_.end()) {
    known_.splice(known_.begin(), known_, found->second);
    return false;
  }
  const std::size_t bytes = bytes_of(spellings_of(value));
  if (bytes == 0) return false;
  known_.push_front({value, bytes});
  by_value_.emplace(known_.front().value, known_.begin());
  bytes_ += bytes;
  return true;
}

// The newest value stays, however long it is.
bool Redactor::forget_oldest() {
  if (known_.size() < 2) return false;
  bytes_ -= known_.back().bytes;
  by_value_.erase(known_.back().value);
  known_.pop_back();
  return true;
}

std::shared_ptr<const ValueScanner> Redactor::scanner() const {
  if (!knows_any_) return nullptr;
  const std::scoped_lock lock(mutex_);
  return scanner_;
}

std::optional<std::string> Redactor::find_redacted(std::string_view text, std::string_view blot) const {
  const std::shared_ptr<const ValueScanner> known = scanner();
  if (!known) return std::nullopt;
  const std::vector<FoundRange> ranges = known->find_all(text);
  if (ranges.empty()) return std::nullopt;
  std::string clean;
  std::size_t copied = 0;
  for (const FoundRange& range : ranges) {
    clean += text.substr(copied, range.begin - copied);
    clean += blot;
    copied = range.end;
  }
  clean += text.substr(copied);
  return clean;
}

std::string Redactor::redact(std::string_view text, std::string_view blot) const {
  std::optional<std::string> clean = find_redacted(text, blot);
  return clean ? std::move(*clean) : std::string(text);
}

bool Redactor::holds_secret(std::string_view text) const {
  const std::shared_ptr<const ValueScanner> known = scanner();
  return known && !known->find_all(text).empty();
}

// Most values lie inside of one string, where they can be cut out of the text. A value that is itself JSON,
// or a number, cannot: then the strings and numbers of the tree are looked at one by one. What is found even
// after that spans several of them, and nothing of it is passed on.
std::optional<std::string> Redactor::find_redacted_json(std::string_view text) const {
  std::optional<std::string> clean = find_redacted(text);
  if (!clean || json::parse(*clean, {.bytes = clean->size()})) return clean;
  const auto tree = json::parse(text, {.bytes = text.size()});
  if (!tree) return json::quote(kBlot);
  std::string written = json::write(redacted_tree(*tree));
  return holds_secret(written) ? json::quote(kBlot) : std::move(written);
}

json::value Redactor::redacted_tree(const json::value& value) const {
  if (const json::array* items = value.if_array()) {
    json::array out;
    for (const json::value& item : *items) out.push_back(redacted_tree(item));
    return out;
  }
  if (const json::object* members = value.if_object()) {
    json::object out;
    for (const auto& member : *members)
      out[redact({member.key().data(), member.key().size()})] = redacted_tree(member.value());
    return out;
  }
  if (const json::string* text = value.if_string()) return json::value(redact(json::view(*text)));
  if (holds_secret(json::write(value))) return json::value(std::string(kBlot));
  return value;
}

void Redactor::redact_strings(json::value& value) const {
  if (knows_any_) value = redacted_tree(value);
}

}  // namespace relay::secrets
