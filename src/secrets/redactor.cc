#include "secrets/redactor.h"

#include "base/json.h"
#include "base/limits.h"

namespace relay::secrets {
namespace {

constexpr std::string_view kBlot = "***";

void blot_out(std::string& text, const std::string& value) {
  for (std::size_t at = text.find(value); at != std::string::npos; at = text.find(value, at + kBlot.size()))
    text.replace(at, value.size(), kBlot);
}

}  // namespace

void Redactor::learn(std::string_view value) {
  if (value.size() < limits::kSecretBytesMin) return;
  values_.emplace(value);
  // Servers print what they were given as JSON, where quotes and line ends look different.
  const std::string quoted = json::quote(value);
  values_.emplace(quoted.substr(1, quoted.size() - 2));
  // Keys of several lines are shown line by line.
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t end = std::min(value.find('\n', begin), value.size());
    if (end - begin >= limits::kSecretBytesMin) values_.emplace(value.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string Redactor::redact(std::string_view text) const {
  std::string clean(text);
  for (const std::string& value : values_) blot_out(clean, value);
  return clean;
}

}  // namespace relay::secrets
