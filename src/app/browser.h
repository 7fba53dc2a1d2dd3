// Opens the user's browser, where there is one to open.
#pragma once

#include <string>

#include "io/task.h"

namespace relay::app {

/// True when there is a display and a program that opens URLs.
bool can_open_browser();

/// Starts the opener and forgets it: a failure is not worth more than a log line.
Result<void> open_browser(const io::Loop& executor, const std::string& url);

}  // namespace relay::app
