// Ranking: which tools fit a few words. BM25 over server names, tool names, descriptions and parameter names.
//
// Names count more than prose. Words are compared without case, plural or the habits of identifiers:
// "listIssues" is found by "issue list". Equal scores keep the order in which tools were added, so the same
// question has the same answer. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace relay::codemode {

/// The words of a name or a sentence, in lower case and singular: "listIssues by repo_id" -> list issue by
/// repo id.
std::vector<std::string> words_of(std::string_view text);

/// The words of some tools, and how much each weighs.
class WordIndex {
 public:
  /// What is searched of one tool. Returns its number: 0, 1, 2...
  struct Text {
    std::string_view server;
    std::string_view tool;
    std::string_view description;
    std::string_view parameters;  // their names and descriptions
  };
  std::size_t add(const Text& text);
  [[nodiscard]] std::size_t size() const { return lengths_.size(); }

 private:
  friend class Ranking;
  struct Posting {
    std::uint32_t tool;
    float weight;
  };
  void count(std::string_view text, float weight, std::map<std::string, float>& weights) const;

  std::map<std::string, std::vector<Posting>, std::less<>> postings_;
  std::vector<float> lengths_;
};

struct Hit {
  std::size_t index = 0;  // which of the indexes
  std::size_t tool = 0;   // its number there
  double score = 0;
};

/// Ranks the tools of several indexes, which must outlive it, as if they were one.
class Ranking {
 public:
  void add(const WordIndex& index) { indexes_.push_back(&index); }
  [[nodiscard]] std::vector<Hit> find(std::string_view query, std::size_t limit) const;

 private:
  std::vector<const WordIndex*> indexes_;
};

}  // namespace relay::codemode
