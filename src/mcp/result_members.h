// ResultMembers: what a method gave, before an era dresses it as a result.
#pragma once

#include <optional>
#include <string>

#include "protocol/jsonrpc.h"
#include "protocol/listing.h"

namespace relay::mcp {

struct ResultMembers {
  std::string members;                       // of the result object, without its braces and without _meta
  std::string meta_members;                  // of _meta, without its braces
  std::optional<protocol::Caching> caching;  // for the methods whose results a modern client may keep
};

/// "a":1,"b":2 of {"a":1,"b":2}. Precondition: the text of a JSON object.
std::string_view members_of(std::string_view object_text);

/// A whole result from elsewhere, taken apart: `resultType` and the caching fields are ours to say.
/// Structured content that a legacy client cannot take (anything but an object) is left out.
ResultMembers outcome_of_raw(std::string_view result_text, protocol::Revision revision);

std::string write_legacy_result(const ResultMembers& outcome);
/// `server_info` is the JSON text of our own introduction.
std::string write_modern_result(const ResultMembers& outcome, std::string_view server_info);

}  // namespace relay::mcp
