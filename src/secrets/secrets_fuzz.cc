// Any text with references in it: its pieces are the text, no piece is lost, and what is resolved is never
// looked at again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "secrets/redactor.h"
#include "secrets/secrets.h"

using namespace relay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto pieces = secrets::split_references(text);
  if (!pieces) return 0;
  std::string whole, expected;
  for (const secrets::TextPiece& piece : *pieces) {
    if (piece.text.empty() ||
        (piece.is_reference && !(piece.text.starts_with("${") && piece.text.ends_with("}"))))
      std::abort();
    whole += piece.text;
    expected += piece.is_reference ? "${env:AGAIN}" : piece.text;
  }
  if (whole != text) std::abort();
  secrets::Redactor redactor;
  const auto value = [](std::string_view) -> Result<std::string> { return "${env:AGAIN}"; };
  const auto resolved = secrets::resolve_all({{"text", std::string(text)}}, value, redactor);
  if (resolved ? resolved->at("text") != expected : expected.find('\0') == std::string::npos) std::abort();
  // What is cut out of JSON leaves JSON.
  redactor.learn(text.substr(0, 64));
  if (const auto json = redactor.find_redacted_json(text); json && !json::parse(*json)) std::abort();
  return 0;
}
