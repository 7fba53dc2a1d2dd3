#include "packages/log_excerpt.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"

namespace relay::packages {
namespace {

bool is_word_end(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '"' || c == '\'' || c == ',' || c == ')' ||
         c == '>' || c == ';';
}

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_word_end(text[at])) ++at;
  return at;
}

// "https://user:secret@host:1/a?token=b" -> "<registry>/a"
std::string redact_url(std::string_view url) {
  const std::size_t host = url.find("://") + 3;
  const std::size_t path = std::min(url.find_first_of("/?#", host), url.size());
  std::string_view rest = url.substr(path);
  rest = rest.substr(0, rest.find_first_of("?#"));
  return fmt::format("<registry>{}", rest);
}

std::string redact_urls(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t mark = text.find("://");
    if (mark == std::string_view::npos) return out.append(text);
    std::size_t begin = mark;
    while (begin > 0 && ((text[begin - 1] >= 'a' && text[begin - 1] <= 'z') || text[begin - 1] == '+'))
      --begin;
    const std::size_t end = word_end(text, mark + 3);
    out.append(text.substr(0, begin)).append(redact_url(text.substr(begin, end - begin)));
    text.remove_prefix(end);
  }
}

// Whatever follows these is a secret, up to the end of the word (for a header: of two words).
std::string redact_after(std::string text, std::string_view key) {
  for (std::size_t at = 0; (at = to_lower_ascii(text).find(key, at)) != std::string::npos;) {
    std::size_t begin = at + key.size();
    while (begin < text.size() &&
           (text[begin] == '=' || text[begin] == ':' || text[begin] == ' ' || text[begin] == '"'))
      ++begin;
    std::size_t end = word_end(text, begin);
    const std::string scheme = to_lower_ascii(text.substr(begin, end - begin));
    if ((scheme == "bearer" || scheme == "basic") && end < text.size()) end = word_end(text, end + 1);
    text.replace(begin, end - begin, "***");
    at = begin + 3;
  }
  return text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty() || from == "/") return;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

std::string redact_log(std::string_view log, const std::vector<std::string>& paths) {
  std::string text = redact_urls(to_valid_utf8(log));
  for (const std::string_view key : {"_authtoken", "_auth", "_password", "authorization", "npm_", "token"})
    text = redact_after(std::move(text), key);
  std::vector<std::string> longest_first = paths;
  std::ranges::sort(longest_first, std::ranges::greater{}, &std::string::size);
  for (const std::string& path : longest_first) replace_all(text, path, "<dir>");
  return text;
}

std::string last_lines(std::string_view log, std::size_t max_lines, std::size_t max_bytes) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string_view line = trim_ascii(log.substr(begin, end - begin));
    if (!line.empty()) lines.push_back(line);
    begin = end + 1;
  }
  const std::size_t first = lines.size() > max_lines ? lines.size() - max_lines : 0;
  std::string out;
  for (std::size_t i = first; i < lines.size(); ++i) out.append(out.empty() ? "" : "\n").append(lines[i]);
  return std::string(utf8_suffix(out, max_bytes));
}

}  // namespace relay::packages
