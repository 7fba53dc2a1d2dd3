// search_bench DIR PATTERN [-i] [-F] [--runs N]: searches a directory as the search tool does and prints
// every match as path:line:column:text, the form of `rg -n --column --no-heading`, so that bench/search.py
// can compare the two.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "search/search.h"
#include "vfs/workspace.h"

namespace {

using namespace relay::search;
using namespace relay::vfs;
using relay::Case;

struct Arguments {
  std::string directory;
  SearchRequest request;
  int runs = 1;
};

Arguments parse(int count, char** words) {
  Arguments arguments;
  arguments.directory = words[1];
  arguments.request.pattern.text = words[2];
  for (int i = 3; i < count; ++i) {
    const std::string word = words[i];
    if (word == "-i") arguments.request.pattern.letters = Case::ignored;
    if (word == "-F") arguments.request.pattern.syntax = Syntax::literal;
    if (word == "--runs" && i + 1 < count) arguments.runs = std::atoi(words[++i]);
  }
  arguments.request.results_max = arguments.request.total_max = SIZE_MAX / 4;
  arguments.request.line_bytes_max = 1 << 20;
  arguments.request.paths = {"/host/bench"};
  return arguments;
}

void flush(std::string& out) {
  for (std::size_t at = 0; at < out.size();) {
    const ssize_t wrote = ::write(STDOUT_FILENO, out.data() + at, out.size() - at);
    if (wrote <= 0) std::exit(1);
    at += static_cast<std::size_t>(wrote);
  }
  out.clear();
}

void print(const PackedResult& result, const std::string& directory) {
  constexpr std::size_t kFlushBytes = 1 << 18;
  std::string out, path;
  for (const FileMatches& file : result.files) {
    path = directory + file.path.substr(std::strlen("/host/bench")) + ':';
    for (const FileMatches::Row& row : file.rows) {
      out += path;
      fmt::format_int line(row.line), column(row.column);
      out.append(line.data(), line.size()) += ':';
      out.append(column.data(), column.size()) += ':';
      out += file.text(row);
      out += '\n';
      if (out.size() > kFlushBytes) flush(out);
    }
  }
  flush(out);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const Arguments arguments = parse(count, words);
  TreeParts parts;
  parts.host.push_back(Mount::open({"bench", arguments.directory}).value());
  const Tree tree(std::move(parts));
  Searcher searcher(std::thread::hardware_concurrency() - 1);
  for (int run = 0; run < arguments.runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = searcher.search_packed(tree, arguments.request);
    if (!result) return std::fprintf(stderr, "%s\n", result.error().message.c_str()), 1;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (arguments.runs > 1)
      std::fprintf(stderr, "%.1f ms, %zu matches\n", took.count(), static_cast<std::size_t>(result->total));
    if (run == 0) print(*result, arguments.directory);
  }
  return 0;
}
