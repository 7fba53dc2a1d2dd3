// Spellings: how a value looks after a program has written it down: in JSON, in a URL, in base64, line by
// line. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::secrets {

/// The value itself and its other spellings of at least limits::kSecretBytesMin bytes, each once. Empty for a
/// value that is shorter.
///
/// One encoding at a time, but for JSON inside of JSON: a URL-encoded value inside of base64 is not among
/// them. Base64 stands in three forms, one for each place that the value can have in groups of three bytes,
/// without the characters that its neighbours share: `user:value` of a Basic header is found as well.
std::vector<std::string> spellings_of(std::string_view value);

}  // namespace relay::secrets
