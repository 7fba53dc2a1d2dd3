// Redactor: knows every secret value in force and removes it from what leaves Relay: answers of upstream
// servers, errors, logs, audit lines. It also says whether a text that cannot be changed, such as a signed
// capsule, holds one.
//
// One per program: the entry point makes it before the log, and whoever resolves a reference learns the value
// before using it. A value stays known after its server is gone, because an old answer may still hold it.
// Past limits::kRedactorBytes the values learned longest ago are forgotten; learning a value again makes it
// new.
//
// Safe from every thread. Learning builds a new scanner, which takes a moment for long values; reading takes
// the scanner that is there. Without any value reading costs one load.
//
// It is made for servers that echo what they were given. A server that wants to tell a secret can spell it in
// a way that no scanner knows.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "secrets/value_scanner.h"

namespace relay::secrets {

/// Whether the answers of upstream servers are redacted on their way to clients (policy.redactSecrets). Logs,
/// errors of Relay, the audit log and capsules always are.
enum class AnswerRedaction : std::uint8_t { on, off };

class Redactor {
 public:
  /// What stands in place of a value, unless the caller says otherwise.
  static constexpr std::string_view kBlot = "***";

  explicit Redactor(std::size_t bytes_max = limits::kRedactorBytes) : bytes_max_(bytes_max) {}

  /// From here on the values and their usual spellings (spellings.h) are known. Those under
  /// limits::kSecretBytesMin are not learned: they would remove ordinary words.
  void learn(const std::vector<std::string>& values);
  void learn(std::string_view value) { learn(std::vector<std::string>{std::string(value)}); }

  /// Every occurrence of a known value becomes `blot`; values that overlap become one.
  [[nodiscard]] std::string redact(std::string_view text, std::string_view blot = kBlot) const;
  /// The same where text without a known value, however long, is not worth a copy: nothing means unchanged.
  [[nodiscard]] std::optional<std::string> find_redacted(std::string_view text,
                                                         std::string_view blot = kBlot) const;
  /// For a JSON text: the result is JSON again, also when a value spans more than one string of it.
  [[nodiscard]] std::optional<std::string> find_redacted_json(std::string_view text) const;
  void redact_strings(json::value& value) const;
  [[nodiscard]] bool holds_secret(std::string_view text) const;

  void set_answers(AnswerRedaction answers) { answers_ = answers; }
  [[nodiscard]] AnswerRedaction answers() const { return answers_; }

 private:
  struct Known {
    std::string value;
    std::size_t bytes = 0;  // of all spellings
  };

  /// Null while nothing is known.
  [[nodiscard]] std::shared_ptr<const ValueScanner> scanner() const;
  bool remember(const std::string& value);
  [[nodiscard]] bool forget_oldest();
  [[nodiscard]] json::value redacted_tree(const json::value& value) const;

  const std::size_t bytes_max_;
  std::atomic<bool> knows_any_ = false;
  std::atomic<AnswerRedaction> answers_ = AnswerRedaction::on;

  mutable std::mutex mutex_;  // for what follows
  std::list<Known> known_;    // newest first
  std::unordered_map<std::string_view, std::list<Known>::iterator> by_value_;
  std::size_t bytes_ = 0;
  std::shared_ptr<const ValueScanner> scanner_;
};

}  // namespace relay::secrets
