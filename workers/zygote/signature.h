// Ed25519, for the capsule signature that a child checks before it runs anything.
#pragma once

#include <string_view>

namespace relay::zygote {

/// False for a wrong signature, and for a key that is no Ed25519 key in SPKI DER form.
bool verify_ed25519(std::string_view spki_der, std::string_view signature, std::string_view message);

/// Loads what OpenSSL loads on first use: after the walls it could not.
void warm_up_crypto();

}  // namespace relay::zygote
