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

/// Text of others that a model reads: what a person would not see in it is left out. Besides hidden
/// characters that is soft hyphens, fillers and variation selectors. Newlines and tabs stay; invalid bytes
/// become U+FFFD.
std::string visible_text(std::string_view text);
/// True when visible_text would change it.
bool has_invisible(std::string_view text);

}  // namespace relay
