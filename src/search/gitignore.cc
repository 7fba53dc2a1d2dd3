#include "search/gitignore.h"

#include <algorithm>

namespace relay::search {
namespace {

std::string_view last_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Spaces at the end do not count, unless the last is escaped.
std::string_view trim_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  return line;
}

std::string_view below(std::string_view path, std::string_view directory) {
  return directory.empty() ? path : path.substr(directory.size() + 1);
}

}  // namespace

std::optional<IgnoreFile::Rule> IgnoreFile::find_rule(std::string_view line) {
  line = trim_line(line);
  if (line.empty() || line.front() == '#') return std::nullopt;
  const bool negated = line.front() == '!';
  if (negated) line.remove_prefix(1);
  const bool directories_only = line.ends_with('/');
  if (directories_only) line.remove_suffix(1);
  if (line.empty()) return std::nullopt;
  const bool anchored = line.find('/') != std::string_view::npos;
  auto glob = Glob::parse(line, Case::sensitive, Braces::plain);
  if (!glob) return std::nullopt;
  return Rule{std::move(*glob), negated, directories_only, anchored};
}

IgnoreFile IgnoreFile::parse(std::string_view text) {
  IgnoreFile file;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (auto rule = find_rule(text.substr(at, end - at))) file.rules_.push_back(std::move(*rule));
    at = end + 1;
  }
  return file;
}

IgnoreVerdict IgnoreFile::judge(std::string_view path, vfs::FileType type) const {
  const std::string_view name = last_name(path);
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->directories_only && type != vfs::FileType::directory) continue;
    if (rule->glob.matches(rule->anchored ? path : name))
      return rule->negated ? IgnoreVerdict::kept : IgnoreVerdict::ignored;
  }
  return IgnoreVerdict::none;
}

bool IgnoreChain::ignores(std::string_view path, vfs::FileType type) const {
  IgnoreVerdict by_ignore = IgnoreVerdict::none, by_git = IgnoreVerdict::none;
  bool same_repository = true;
  for (const IgnoreChain* chain = this; chain != nullptr; chain = chain->above_.get()) {
    const Level& level = chain->level_;
    const std::string_view relative = below(path, level.directory);
    if (by_ignore == IgnoreVerdict::none) by_ignore = level.ignore.judge(relative, type);
    if (by_git == IgnoreVerdict::none && same_repository) by_git = level.gitignore.judge(relative, type);
    same_repository = same_repository && !level.is_repository;
  }
  return (by_ignore != IgnoreVerdict::none ? by_ignore : by_git) == IgnoreVerdict::ignored;
}

}  // namespace relay::search
