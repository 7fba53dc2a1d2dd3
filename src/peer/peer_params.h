// Parameters as text: a request is passed on as it was spelled, with our own `_meta` put in. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::peer {

/// The object with further members at its end: ({"a":1}, "b":2) gives {"a":1,"b":2}. Precondition: an
/// object's text, or nothing.
std::string with_members(std::string_view object, std::string_view members);

/// The members of an object's text without its braces, trimmed. Precondition: an object's text.
std::string_view members_of(std::string_view object);

/// The string that a member holds, unescaped; empty when there is none. Precondition: an object's text.
std::string text_member(std::string_view object, std::string_view key);

/// True for the methods that take long enough to report progress.
bool may_progress(std::string_view method);

/// Which request a text answers that cannot be parsed: a guess from how its beginning and its end are
/// spelled.
std::optional<std::int64_t> find_spelled_id(std::string_view head, std::string_view tail);

}  // namespace relay::peer
