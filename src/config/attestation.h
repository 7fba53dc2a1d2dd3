// Attestation: how Relay's own commands vouch for a configuration that they wrote. Before the new file takes
// its place, a MAC over its bytes, made with a key of the state directory, is put there; a running Relay that
// sees the file change accepts exactly these bytes without asking the operator. A process that cannot write
// the state directory cannot make one. One is accepted once and soon: bytes that were vouched for earlier and
// come back later are a change like any other. docs/formats/approvals.md has the bytes.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::config {

/// Vouches for the text of a configuration file. Makes the key when there is none. Blocks.
Result<void> attest_config(const std::filesystem::path& state, std::string_view text);

struct Attestation {
  std::string nonce;  // differs each time
  std::string mac;
  std::chrono::seconds age{};  // by the clock of the file system
};
/// The one that was made last, if it can be read. Blocks.
std::optional<Attestation> find_attestation(const std::filesystem::path& state);
/// Whether it is about this text and made with the key of this state directory. Blocks.
bool attests(const std::filesystem::path& state, const Attestation& attestation, std::string_view text);

}  // namespace relay::config
