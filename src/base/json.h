// The door to Boost.JSON: parse with limits, write, look things up without throwing. Pure, safe from any
// thread.
//
// Parsing is for text from anyone: it fails with an Error of kind invalid that names the place, and it bounds
// depth and size. The split functions below trust their input instead, and say so.
//
// Boost.JSON turns 1.0 into a double and forgets how a number was spelled. Where Relay passes something on
// (ids, schemas, an upstream's results), it keeps the original text: split_object and split_array give the
// pieces of a text that is known to be valid JSON, as views into it, byte for byte. The text must outlive
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "base/limits.h"
#include "base/result.h"

namespace relay::json {

using boost::json::array;
using boost::json::object;
using boost::json::string;
using boost::json::value;

struct ParseLimits {
  std::size_t depth = limits::kJsonDepth;
  std::size_t bytes = limits::kMessageBytes;
};

/// Strict JSON in valid UTF-8, one value, nothing after it but white space.
Result<value> parse(std::string_view text, const ParseLimits& limits = {});
Result<object> parse_object(std::string_view text, const ParseLimits& limits = {});

/// False when an object of the text has the same member twice: then `parsed` holds only one of the two, and
/// another reader may take the other. Precondition: parsed is what parse() made of the text.
bool names_members_once(std::string_view text, const value& parsed);

/// Compact. Numbers that were parsed keep their value, not their spelling: the shortest that reads back the
/// same, 1.5 and not 1.5E0.
std::string write(const value& value);
std::string write(const object& object);
/// Two spaces, members in their order: for people and files.
std::string write_pretty(const value& value);
/// "text" with its quotes, escaping what JSON demands and nothing else (the bytes that Python's
/// json.dumps(ensure_ascii=False) writes): the audit chain hashes them.
void append_quoted(std::string& out, std::string_view text);
std::string quote(std::string_view text);
/// Compact, members sorted by key at every level: equal values give equal bytes.
std::string write_canonical(const value& value);

// Look-ups. A member that is missing or of another type is "not there"; validation says which, earlier.
const value* find(const object& object, std::string_view key);
const object* find_object(const object& object, std::string_view key);
const array* find_array(const object& object, std::string_view key);
std::optional<std::string_view> find_string(const object& object, std::string_view key);
std::optional<std::int64_t> find_int(const object& object, std::string_view key);
std::optional<double> find_number(const object& object, std::string_view key);
std::optional<bool> find_bool(const object& object, std::string_view key);
/// What a reference names when no object was found. It lives as long as the process.
const object& empty_object();

inline std::string_view view(const string& text) {
  return {text.data(), text.size()};
}

// Text-preserving access.
struct Member {
  std::string key;        // unescaped
  std::string_view text;  // the value's own bytes, trimmed
};

/// The members of a JSON object, in order. Precondition: text is valid JSON and an object.
std::vector<Member> split_object(std::string_view text);
/// The elements of a JSON array. Precondition: text is valid JSON and an array.
std::vector<std::string_view> split_array(std::string_view text);
/// The bytes of one member, or nothing. Precondition: text is valid JSON and an object.
std::optional<std::string_view> find_text(std::string_view text, std::string_view key);

}  // namespace relay::json
