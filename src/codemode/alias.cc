#include "codemode/alias.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/limits.h"

namespace relay::codemode {
namespace {

constexpr std::array<std::string_view, 35> kPythonKeywords{
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Contained names count as near, however much longer the other one is: "issues" means "list_issues".
std::size_t distance(const std::string& wanted, const std::string& name) {
  if (wanted.size() >= 3 && name.find(wanted) != std::string::npos) return 1;
  return edit_distance(wanted, name);
}

}  // namespace

bool is_python_keyword(std::string_view word) {
  return std::ranges::find(kPythonKeywords, word) != kPythonKeywords.end();
}

bool is_identifier(std::string_view word) {
  if (word.empty() || is_digit(word.front())) return false;
  return std::ranges::all_of(word, [](char c) { return c == '_' || is_letter_or_digit(c); });
}

std::string alias_of(std::string_view name) {
  std::string alias;
  for (const char c : to_lower_ascii(name)) {
    if (is_letter_or_digit(c))
      alias += c;
    else if (!alias.empty() && alias.back() != '_')
      alias += '_';
  }
  while (!alias.empty() && alias.back() == '_') alias.pop_back();
  if (alias.empty()) return "server";
  if (is_digit(alias.front())) alias.insert(alias.begin(), '_');
  if (is_python_keyword(alias)) alias += '_';
  return alias;
}

namespace {

std::string made_free(const std::string& first, std::set<std::string, std::less<>>& taken) {
  std::string alias = first;
  for (int number = 2; !taken.insert(alias).second; ++number) alias = fmt::format("{}_{}", first, number);
  return alias;
}

}  // namespace

std::string free_alias(std::string_view name, std::set<std::string, std::less<>>& taken) {
  return made_free(alias_of(name), taken);
}

std::string free_tool_alias(std::string_view name, std::set<std::string, std::less<>>& taken) {
  const bool usable =
      is_identifier(name) && !is_python_keyword(name) && name.size() <= limits::kToolNameBytes;
  return made_free(usable ? std::string(name) : alias_of(name), taken);
}

std::string plain_spelling(std::string_view name) {
  std::string plain;
  for (const char c : to_lower_ascii(name))
    if (is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80) plain += c;
  return plain;
}

std::vector<std::string> nearest(std::string_view wanted, const std::vector<std::string>& names,
                                 std::size_t max_count) {
  constexpr std::size_t kComparedBytes = 64;  // of a name that a guest made up
  const std::string plain = plain_spelling(wanted.substr(0, kComparedBytes));
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& name : names) {
    const std::size_t away =
        distance(plain, plain_spelling(std::string_view(name).substr(0, kComparedBytes)));
    if (away <= std::max<std::size_t>(2, plain.size() / 3)) scored.emplace_back(away, name);
  }
  std::ranges::sort(scored);
  std::vector<std::string> best;
  for (auto& [away, name] : scored)
    if (best.size() < max_count) best.push_back(std::move(name));
  return best;
}

}  // namespace relay::codemode
