// Which capsules are not kept: a capsule is signed, so nothing can be removed from it, and the cache holds it
// in clear for days.
#pragma once

#include "capsule/capsule.h"
#include "secrets/redactor.h"

namespace relay::world {

/// True when its code, arguments or environment hold a secret that is known by value, or something with the
/// shape of one. Dependencies come from registries and are not looked at. Linear; safe from any thread.
bool holds_secret(const capsule::Capsule& capsule, const secrets::Redactor& known);

}  // namespace relay::world
