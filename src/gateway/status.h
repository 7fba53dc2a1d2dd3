// What server_info says of the upstream servers: which of them are there, in which state, since when and why.
#pragma once

#include "gateway/exposed_catalog.h"
#include "upstream/fleet.h"

namespace relay::gateway {

json::value describe_fleet(const upstream::Fleet& fleet, const ExposedCatalog& shelf);

}  // namespace relay::gateway
