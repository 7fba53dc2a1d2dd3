// How relay-cage ends when something could not be built.
#pragma once

#include "base/error.h"

namespace relay::cage {

/// One sentence on stderr, and code 125. Never returns.
[[noreturn]] void give_up(const Error& error);

}  // namespace relay::cage
