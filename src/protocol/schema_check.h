// Checking a value against a compiled schema. Internal to schema.cc.
#pragma once

#include <vector>

#include "protocol/schema.h"
#include "protocol/schema_node.h"

namespace relay::protocol::schema {

std::vector<SchemaProblem> check(const Node& root, const json::value& value, std::size_t max_problems);

}  // namespace relay::protocol::schema
