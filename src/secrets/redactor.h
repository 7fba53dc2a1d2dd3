// Redactor: knows the secret values that were given out and blots them out of text for people: errors,
// stderr, logs.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace relay::secrets {

class Redactor {
 public:
  /// Values under limits::kSecretBytesMin are not learned: they would blot out ordinary words.
  void learn(std::string_view value);
  void learn_all(const Redactor& other) { values_.insert(other.values_.begin(), other.values_.end()); }
  /// Every occurrence of a learned value becomes ***. Of two values that overlap the longer one is taken.
  [[nodiscard]] std::string redact(std::string_view text) const;

 private:
  struct LongerFirst {
    bool operator()(const std::string& a, const std::string& b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };
  std::set<std::string, LongerFirst> values_;
};

}  // namespace relay::secrets
