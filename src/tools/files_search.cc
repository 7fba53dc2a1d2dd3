#include "tools/files_search.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/media_type.h"
#include "tools/file_uri.h"

namespace relay::tools {
namespace {

constexpr std::size_t kLinks =
    5;  // files that a result links to; more would cost the model more than they help

json::array to_json(const std::vector<std::string>& lines) {
  json::array array;
  for (const std::string& line : lines) array.emplace_back(line);
  return array;
}

json::object to_json(const search::SearchMatch& match, search::Report report) {
  json::object object{{"path", to_valid_utf8(match.path)}};
  if (report != search::Report::lines) return object;
  object["line"] = match.line;
  object["column"] = match.column;
  object["text"] = match.text;
  if (!match.before.empty()) object["before"] = to_json(match.before);
  if (!match.after.empty()) object["after"] = to_json(match.after);
  return object;
}

// Lines around matches that are near each other are shown once. Matches are in the order of path and line.
std::vector<search::SearchMatch> without_repeats(std::vector<search::SearchMatch> matches) {
  for (std::size_t i = 1; i < matches.size(); ++i) {
    search::SearchMatch& above = matches[i - 1];
    search::SearchMatch& below = matches[i];
    if (above.path != below.path) continue;
    const std::size_t between = static_cast<std::size_t>(below.line - above.line) - 1;
    above.after.resize(std::min(above.after.size(), between));
    const std::size_t left = std::min(below.before.size(), between - above.after.size());
    below.before.erase(below.before.begin(), below.before.end() - static_cast<std::ptrdiff_t>(left));
  }
  return matches;
}

void append_match(std::string& text, const search::SearchMatch& match) {
  std::uint64_t line = match.line - match.before.size();
  for (const std::string& before : match.before) text += fmt::format("  {}- {}\n", line++, before);
  text += fmt::format("  {}:{}: {}\n", match.line, match.column, match.text);
  line = match.line + 1;
  for (const std::string& after : match.after) text += fmt::format("  {}- {}\n", line++, after);
}

// As grep does it: between lines with context that do not follow each other.
bool has_gap(const search::SearchMatch& above, const search::SearchMatch& below) {
  return above.line + above.after.size() + 1 < below.line - below.before.size();
}

std::string_view why_partial(search::SearchEnd end) {
  switch (end) {
    case search::SearchEnd::complete: return "";
    case search::SearchEnd::counted: return "; counting stopped, there may be more";
    case search::SearchEnd::deadline: return "; the time was up before all files were searched";
    case search::SearchEnd::stopped: return "; the search was cancelled";
  }
  return "";
}

bool is_truncated(const search::SearchResult& found) {
  return found.matches.size() < found.total || found.end != search::SearchEnd::complete;
}

void put_rest(json::object& out, const search::SearchResult& found) {
  const std::string_view why = why_partial(found.end);
  out["rest"] = fmt::format("the first {} are here; raise maxResults, or narrow paths or filePattern{}",
                            found.matches.size(), why);
}

std::string summary(const search::SearchRequest& request, const search::SearchResult& found) {
  const std::string_view unit = request.report == search::Report::lines ? "matches" : "files";
  const std::string shown =
      found.matches.size() < found.total
          ? fmt::format(", the first {} shown (maxResults, paths or filePattern change that)",
                        found.matches.size())
          : std::string();
  return fmt::format("[{} {} in {} files searched{}{}]", found.total, unit, found.files_searched, shown,
                     why_partial(found.end));
}

std::string text_of(const search::SearchRequest& request, const search::SearchResult& found) {
  std::string text;
  const search::SearchMatch* last = nullptr;
  for (const search::SearchMatch& match : found.matches) {
    const bool same_file = last && last->path == match.path;
    if (!same_file) text += to_valid_utf8(match.path) + "\n";
    if (same_file && request.context > 0 && has_gap(*last, match)) text += "  --\n";
    last = &match;
    if (request.report == search::Report::lines) append_match(text, match);
  }
  return text + summary(request, found);
}

void add_links(protocol::ToolResult& result, const search::SearchResult& found) {
  std::string_view path;
  std::size_t links = 0;
  for (const search::SearchMatch& match : found.matches) {
    if (match.path == path) continue;
    if (links++ == kLinks) return;
    path = match.path;
    protocol::ResourceLink link;
    link.resource.uri = uri_of_file(path);
    link.resource.name = to_valid_utf8(path.substr(path.rfind('/') + 1));
    link.resource.mime_type = media_type_of(path);
    result.content.emplace_back(std::move(link));
  }
}

}  // namespace

search::SearchRequest read_search_arguments(const json::object& arguments) {
  const auto flag = [&](std::string_view name, bool otherwise) {
    return json::find_bool(arguments, name).value_or(otherwise);
  };
  const auto count = [&](std::string_view name, std::size_t otherwise, std::size_t most) {
    const std::int64_t given = json::find_int(arguments, name).value_or(static_cast<std::int64_t>(otherwise));
    return std::min(most, static_cast<std::size_t>(std::max<std::int64_t>(given, 0)));
  };
  search::SearchRequest request;
  request.pattern.text = json::find_string(arguments, "pattern").value_or("");
  request.pattern.syntax = flag("literal", false) ? search::Syntax::literal : search::Syntax::regex;
  request.pattern.letters = flag("caseSensitive", true) ? Case::sensitive : Case::ignored;
  if (const json::array* paths = json::find_array(arguments, "paths")) {
    for (const json::value& path : *paths) {
      if (path.is_string()) request.paths.emplace_back(json::view(path.get_string()));
    }
  }
  request.file_pattern = json::find_string(arguments, "filePattern").value_or("");
  request.ignored = flag("includeIgnored", false) ? search::Ignored::included : search::Ignored::left_out;
  request.report = flag("filesOnly", false) ? search::Report::files : search::Report::lines;
  if (!json::find(arguments, "pattern")) request.report = search::Report::names;
  request.context = count("context", 0, limits::kSearchContext);
  request.results_max =
      std::max<std::size_t>(1, count("maxResults", limits::kSearchResults, limits::kSearchResultsMax));
  return request;
}

protocol::ToolResult search_result(const search::SearchRequest& request, search::SearchResult found) {
  found.matches = without_repeats(std::move(found.matches));
  protocol::ToolResult result = protocol::ToolResult::text(text_of(request, found));
  add_links(result, found);
  json::array matches;
  for (const search::SearchMatch& match : found.matches) matches.push_back(to_json(match, request.report));
  result.structured = json::object{{"matches", std::move(matches)},
                                   {"totalMatches", found.total},
                                   {"truncated", is_truncated(found)},
                                   {"filesSearched", found.files_searched}};
  if (is_truncated(found)) put_rest(result.structured->get_object(), found);
  return result;
}

}  // namespace relay::tools
