#include "search/required_literal.h"

#include <utility>

#include "search/multi_literal.h"

namespace relay::search {
namespace {

constexpr std::uint8_t kRareRank =
    200;  // a single byte is worth looking for when it is rarer than most letters

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Unicode folds the Kelvin sign to k and the long s to s, and other letters we do not know about.
bool folds_plainly(char c) {
  return static_cast<unsigned char>(c) < 0x80 && c != 'k' && c != 'K' && c != 's' && c != 'S';
}

// Rare and long is good.
std::size_t score(std::string_view run) {
  std::size_t sum = 0;
  for (const char c : run) sum += 256U - byte_rank(static_cast<unsigned char>(c));
  return sum;
}

// Collects the runs of plain text of an expression, at its top level.
class RunReader {
 public:
  RunReader(std::string_view regex, Case letters) : regex_(regex), case_(letters) {}

  RequiredLiterals read() {
    while (at_ < regex_.size()) {
      if (!step()) return {};
    }
    if (!end_alternative()) return {};
    return std::move(found_);
  }

  void add(char c) {
    if (case_ == Case::ignored && !folds_plainly(c)) {
      pure_ = false;
      end_run();
      return;
    }
    run_ += case_ == Case::ignored && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }

 private:
  // False: give up.
  bool step() {
    const char c = regex_[at_++];
    switch (c) {
      case '\\': return escape();
      case '[': return break_run() && skip_class();
      case '(': return break_run() && skip_group();
      case ')': return false;
      case '|': return end_alternative();
      case '.':
      case '^':
      case '$': return break_run();
      case '*':
      case '?': return drop_last();
      case '+': return break_run();
      case '{':
        if (skip_repetition()) return drop_last();
        add(c);  // not a repetition: a brace like any other character
        return true;
      default: add(c); return true;
    }
  }

  bool escape() {
    if (at_ >= regex_.size()) return false;
    const char c = regex_[at_++];
    if (!is_alnum(c)) {
      add(c);
      return static_cast<unsigned char>(c) < 0x80;
    }
    return std::string_view("dDwWsSbBtrfva").find(c) != std::string_view::npos && break_run();
  }

  bool break_run() {
    pure_ = false;
    end_run();
    return true;
  }

  // The last character may be missing; the text before it may not.
  bool drop_last() {
    while (!run_.empty() && (static_cast<unsigned char>(run_.back()) & 0xC0) == 0x80) run_.pop_back();
    if (!run_.empty()) run_.pop_back();
    return break_run();
  }

  void end_run() {
    if (score(run_) > score(best_)) best_ = run_;
    run_.clear();
  }

  // Every alternative must have something to look for, or nothing is gained.
  bool end_alternative() {
    end_run();
    const bool useful =
        best_.size() > 1 ||
        (best_.size() == 1 && (pure_ || byte_rank(static_cast<unsigned char>(best_[0])) < kRareRank));
    if (!useful || found_.any.size() == MultiLiteral::kMost) return false;
    found_.whole = (found_.whole || found_.any.empty()) && pure_;
    found_.any.push_back(std::exchange(best_, {}));
    pure_ = true;
    return true;
  }

  // "2}", "2,}" or "2,5}" behind an opening brace.
  bool skip_repetition() {
    std::size_t at = at_, digits = 0;
    const auto skip_digits = [&] {
      while (at < regex_.size() && regex_[at] >= '0' && regex_[at] <= '9') ++at, ++digits;
    };
    skip_digits();
    if (digits == 0) return false;
    if (at < regex_.size() && regex_[at] == ',') ++at;
    skip_digits();
    if (at >= regex_.size() || regex_[at] != '}') return false;
    at_ = at + 1;
    return true;
  }

  bool skip_past(char end) {
    const std::size_t found = regex_.find(end, at_);
    if (found == std::string_view::npos) return false;
    at_ = found + 1;
    return true;
  }

  bool skip_class() {
    if (at_ < regex_.size() && regex_[at_] == '^') ++at_;
    if (at_ < regex_.size() && regex_[at_] == ']') ++at_;
    while (at_ < regex_.size() && regex_[at_] != ']') {
      if (regex_.substr(at_).starts_with("[:")) {
        at_ += 2;
        if (!skip_past(']')) return false;
      } else {
        at_ += regex_[at_] == '\\' ? 2 : 1;
      }
    }
    return at_ < regex_.size() && ++at_ > 0;
  }

  bool skip_group() {
    if (regex_.substr(at_).starts_with("?") && !regex_.substr(at_).starts_with("?:")) return false;
    for (std::size_t depth = 1; depth > 0;) {
      if (at_ >= regex_.size()) return false;
      const char c = regex_[at_++];
      if (c == '\\' && at_ < regex_.size() && regex_[at_++] == 'Q') return false;
      if (c == '[' && !skip_class()) return false;
      if (c == '(') ++depth;
      if (c == ')') --depth;
    }
    return true;
  }

  std::string_view regex_;
  Case case_;
  std::size_t at_ = 0;
  std::string run_, best_;  // of the alternative that is being read
  bool pure_ = true;        // it is nothing but plain text so far
  RequiredLiterals found_;
};

}  // namespace

RequiredLiterals required_literals(std::string_view regex, Case letters) {
  return RunReader(regex, letters).read();
}

RequiredLiterals required_literals_of_text(std::string_view text, Case letters) {
  std::string escaped;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80 && !is_alnum(c)) escaped += '\\';
    escaped += c;
  }
  return required_literals(escaped, letters);
}

}  // namespace relay::search
