// How a floating-point number is spelled where bytes are hashed: the audit chain. Python's json.dumps is the
// reference, because other programs verify the log with it: the shortest digits that read back the same,
// always with a fraction or an exponent (`1.0`, `-0.0`, `1e+16`, `1e-07`). A reader can tell it from an
// integer.
#pragma once

#include <string>

namespace relay {

/// Infinities and NaN, which JSON does not have, become `null`.
void append_canonical_number(std::string& out, double number);

}  // namespace relay
