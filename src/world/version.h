// The version, in one place; CMake fills it in from project(relay VERSION ...).
#pragma once

#include <string_view>

namespace relay::world {

inline constexpr std::string_view kVersion = RELAY_VERSION;

}  // namespace relay::world
