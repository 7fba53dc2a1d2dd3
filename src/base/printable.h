// Text of others that is shown to people: nothing in it moves a cursor, hides or turns around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace relay {

struct Character {
  std::uint32_t point;
  std::size_t bytes;
};
/// Of valid UTF-8 that is not empty.
Character first_character(std::string_view text);

/// Controls, line separators, marks that turn the direction of text, and characters without width.
bool is_hidden(std::uint32_t point);

/// Hidden characters become `instead`, invalid bytes become U+FFFD, a tab
/// becomes a space, newlines stay.
std::string printable(std::string_view text, char instead);

}  // namespace relay
