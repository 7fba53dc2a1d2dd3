// The beginning of a span of the log, as people give it: how long ago (`90s`, `10m`, `1h30m`, `2d`), or a
// time
// (`2026-11-15`, `2026-11-15T20:04`, `2026-11-15T20:04:05.5Z`, `2026-11-15 20:04+01:00`; UTC when it does not
// say).
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace relay::audit {

/// The error says which forms there are.
Result<WallTime> parse_since(std::string_view text, WallTime now);

}  // namespace relay::audit
