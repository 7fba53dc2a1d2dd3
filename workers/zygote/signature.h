// The signature of a capsule, which a child checks before it looks at anything else of its run.
#pragma once

#include <string_view>

#include "base/result.h"

namespace relay::zygote {

/// `key` is SPKI DER in base64: what the start frame carries.
Result<void> verify_manifest(std::string_view manifest, std::string_view jws, std::string_view key);

/// Loads what the libraries load on first use: after the walls they could not.
void warm_up_crypto();

}  // namespace relay::zygote
