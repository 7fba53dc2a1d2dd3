// What results look like, learned from the results themselves: for tools whose server does not say it.
//
// A sample becomes a JSON Schema, and schemas are merged: a member is required while every sample had it,
// types unite, whole numbers beside others become numbers. Merging is commutative, associative and
// idempotent, so the order of results does not matter and nothing but the schema has to be kept. Pure.
#pragma once

#include "base/json.h"

namespace relay::codemode {

/// The schema of one value: types, members and items only.
json::value learned_from(const json::value& sample);

/// A schema that both describe. Both come from here, or from a file that did.
json::value merged_schemas(const json::value& a, const json::value& b);

/// The same with its deepest levels left open until it fits limits::kLearnedTypeBytes.
json::value bounded_schema(json::value schema);

}  // namespace relay::codemode
