// Runtime: the program that interprets the code of a run. A language may have several: Python runs as Pyodide
// in a sandbox of WebAssembly, or as the machine's own CPython.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "capsule/manifest.h"

namespace relay::executors {

using capsule::Language;
using capsule::name_of;

enum class Runtime : std::uint8_t { quickjs, pyodide, cpython };
inline constexpr std::array kRuntimes = {Runtime::quickjs, Runtime::pyodide, Runtime::cpython};

/// "quickjs": as server_info and results spell it.
std::string_view name_of(Runtime runtime);
/// The language of the code that it takes.
Language language_of(Runtime runtime);
/// What runs code of this language when nothing else is said.
Runtime default_runtime(Language language);

}  // namespace relay::executors
