#include "codemode/alias.h"

#include <algorithm>
#include <array>

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

}  // namespace relay::codemode
