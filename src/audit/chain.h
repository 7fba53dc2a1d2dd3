// The hash chain: each record commits to the one before it.
//
//   chain = SHA-256( prev || canonical JSON of the record without `chain` )      in lower-case hex, prev as
//   its 64 digits
//
// Editing, inserting, removing or reordering lines breaks it from that point on. Removing lines at the very
// end does not, which is why copies go off the host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "audit/record.h"

namespace relay::audit {

inline constexpr std::string_view kGenesis =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// Where the next record joins.
struct ChainPoint {
  std::uint64_t seq = 0;
  std::string prev = std::string(kGenesis);

  bool operator==(const ChainPoint&) const = default;
};

std::string chain_hash(std::string_view prev, std::string_view canonical);

/// Appends the whole line with its newline and moves the point on.
void append_chained(std::string& out, const Record& record, ChainPoint& point);

}  // namespace relay::audit
