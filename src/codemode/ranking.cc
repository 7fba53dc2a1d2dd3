#include "codemode/ranking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

namespace relay::codemode {
namespace {

constexpr float kToolWeight = 4, kServerWeight = 2, kParameterWeight = 1, kDescriptionWeight = 1;
constexpr double kSaturation = 1.2, kLengthShare = 0.75;  // BM25's usual k1 and b
constexpr double kPrefixShare = 0.5;  // "auth" also finds "authenticate", at half its weight
constexpr std::size_t kPrefixBytes = 3;
constexpr std::size_t kQueryWords = 32;
constexpr std::size_t kWordBytes = 48;

constexpr std::array<std::string_view, 26> kNoise{
    "a",  "an", "and", "are", "as", "at",   "be",  "by",   "for", "from", "how",  "i",     "in",
    "is", "it", "of",  "on",  "or", "that", "the", "this", "to",  "use",  "what", "which", "with"};

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
// Bytes beyond ASCII belong to words: names in other scripts are compared as they are.
bool is_word(char c) {
  return is_lower(c) || is_upper(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}

// listIssues | HTTPServer -> HTTP Server
bool begins_word(std::string_view text, std::size_t at) {
  if (at == 0 || !is_word(text[at - 1])) return true;
  if (is_upper(text[at]) && !is_upper(text[at - 1])) return true;
  return is_upper(text[at]) && at + 1 < text.size() && is_lower(text[at + 1]);
}

std::string singular(std::string word) {
  if (word.size() > 4 && word.ends_with("ies")) return word.substr(0, word.size() - 3) + "y";
  const bool plural = word.size() > 3 && word.ends_with('s') && !word.ends_with("ss") &&
                      !word.ends_with("us") && !word.ends_with("is");
  if (plural) word.pop_back();
  return word;
}

bool is_noise(std::string_view word) {
  return std::ranges::find(kNoise, word) != kNoise.end();
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && word.size() <= kWordBytes) words.push_back(singular(std::move(word)));
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_word(text[i]) || begins_word(text, i)) end_word();
    if (is_word(text[i])) word += is_upper(text[i]) ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
  }
  end_word();
  return words;
}

void WordIndex::count(std::string_view text, float weight, std::map<std::string, float>& weights) const {
  for (std::string& word : words_of(text))
    if (!is_noise(word)) weights[std::move(word)] += weight;
}

std::size_t WordIndex::add(const Text& text) {
  std::map<std::string, float> weights;
  count(text.server, kServerWeight, weights);
  count(text.tool, kToolWeight, weights);
  count(text.description, kDescriptionWeight, weights);
  count(text.parameters, kParameterWeight, weights);
  const auto tool = static_cast<std::uint32_t>(lengths_.size());
  float length = 0;
  for (const auto& [word, weight] : weights) {
    postings_[word].push_back({tool, weight});
    length += weight;
  }
  lengths_.push_back(length);
  return tool;
}

std::vector<Hit> Ranking::find(std::string_view query, std::size_t limit) const {
  double tools = 0, total_length = 0;
  std::vector<std::vector<double>> scores;
  for (const WordIndex* index : indexes_) {
    scores.emplace_back(index->size(), 0.0);
    tools += static_cast<double>(index->size());
    for (const float length : index->lengths_) total_length += length;
  }
  const double mean_length = tools > 0 ? std::max(1.0, total_length / tools) : 1.0;

  const auto score_word = [&](std::string_view word, double share, const auto& matches) {
    double holders = 0;
    const auto each = [&](const auto& visit) {
      for (std::size_t i = 0; i < indexes_.size(); ++i)
        for (auto at = indexes_[i]->postings_.lower_bound(word);
             at != indexes_[i]->postings_.end() && at->first.starts_with(word); ++at)
          if (matches(at->first)) visit(i, at->second);
    };
    each([&](std::size_t, const auto& postings) { holders += static_cast<double>(postings.size()); });
    const double rarity = std::log(1 + std::max(0.0, tools - holders + 0.5) / (holders + 0.5));
    each([&](std::size_t i, const auto& postings) {
      for (const auto& [tool, weight] : postings) {
        const double norm =
            kSaturation * (1 - kLengthShare + kLengthShare * indexes_[i]->lengths_[tool] / mean_length);
        scores[i][tool] += share * rarity * weight * (kSaturation + 1) / (weight + norm);
      }
    });
  };
  std::set<std::string> asked;
  for (const std::string& word : words_of(query)) {
    if (is_noise(word) || asked.size() >= kQueryWords || !asked.insert(word).second) continue;
    score_word(word, 1.0, [&](std::string_view found) { return found == word; });
    if (word.size() >= kPrefixBytes)
      score_word(word, kPrefixShare, [&](std::string_view found) { return found != word; });
  }

  std::vector<Hit> hits;
  for (std::size_t i = 0; i < scores.size(); ++i)
    for (std::size_t tool = 0; tool < scores[i].size(); ++tool)
      if (scores[i][tool] > 0) hits.push_back({i, tool, scores[i][tool]});
  std::ranges::sort(hits, [](const Hit& a, const Hit& b) {
    return std::tuple(-a.score, a.index, a.tool) < std::tuple(-b.score, b.index, b.tool);
  });
  if (hits.size() > limit) hits.resize(limit);
  return hits;
}

}  // namespace relay::codemode
