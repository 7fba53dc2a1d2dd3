// How many megabytes of text redaction gets through in a second: plain text, code, and text full of secrets.
//   relay-bench-redaction      prints one JSON object, {"name": MB per second, …}
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "policy/redaction.h"

namespace {

constexpr std::size_t kBytes = 4U << 20U;

std::string repeated(std::string_view piece) {
  std::string text;
  text.reserve(kBytes + piece.size());
  while (text.size() < kBytes) text += piece;
  return text;
}

// Runs for about half a second; the result is used, so that the work cannot be left out.
double megabytes_per_second(const std::string& text) {
  using Clock = std::chrono::steady_clock;
  const auto from = Clock::now();
  std::size_t bytes = 0;
  std::size_t kept = 0;
  while (Clock::now() - from < std::chrono::milliseconds(500)) {
    kept += relay::policy::redact(text).size();
    bytes += text.size();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - from).count();
  return kept > 0 ? static_cast<double>(bytes) / (1 << 20) / seconds : 0;
}

}  // namespace

int main() {
  const double prose =
      megabytes_per_second(repeated("The quick brown fox jumps over the lazy dog, and nobody minds. "));
  const double code = megabytes_per_second(
      repeated("const total = items.map((item) => item.price * 2).filter(Boolean); // key=value\n"));
  const double secrets = megabytes_per_second(repeated(
      "password=hunter2 AKIAIOSFODNN7EXAMPLE https://user:pass@host/ Bearer abcdefghijklmnop.qrstuv\n"));
  const double letters = megabytes_per_second(std::string(kBytes, 'a'));
  std::printf("{\"prose\":%.1f,\"code\":%.1f,\"secrets\":%.1f,\"one endless word\":%.1f}\n", prose, code,
              secrets, letters);
  return 0;
}
