// Outcome: how a call ended, as the audit line and the metrics tell it. The output itself is never kept
// there, only its hash and its length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace relay::authority {

/// A closed set: it is a metric label.
enum class Ending : std::uint8_t {
  ok,
  error,
  denied,
  confirm_required,
  invalid,
  timeout,
  too_large,
  busy,
  cancelled
};

std::string_view name(Ending ending);
Ending ending_of(ErrorKind kind);

struct Outcome {
  Ending ending = Ending::ok;
  std::string
      output_sha256;  // of the bytes that the client gets; empty stands for "no output": the hash of ""
  std::uint64_t output_bytes = 0;
  std::optional<int> exit_code;
  std::string action;  // "confirm_plan", "confirm_execute"; empty for an ordinary call
};

/// Hashes the output.
Outcome make_outcome(Ending ending, std::string_view output, std::optional<int> exit_code = std::nullopt);

}  // namespace relay::authority
