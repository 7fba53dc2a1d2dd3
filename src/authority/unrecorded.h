// Unrecorded: the permission to use a door without a Recorded, with the reason why no record is needed. The
// reasons are a closed set, each with a maker of its own: a search for "Unrecorded::" finds every place where
// something is done that is not in the audit log.
#pragma once

#include <cstdint>
#include <utility>

#include "authority/caller.h"

namespace relay::authority {

class Unrecorded {
 public:
  enum class Reason : std::uint8_t { listing, completion };

  /// Names of what there is, for resources/list: what is in a file is read with a record.
  static Unrecorded listing(Caller caller) { return {Reason::listing, std::move(caller)}; }
  /// What a user types ahead. It names a prompt or a resource and calls nothing.
  static Unrecorded completion(Caller caller) { return {Reason::completion, std::move(caller)}; }

  [[nodiscard]] Reason reason() const { return reason_; }
  [[nodiscard]] const Caller& caller() const { return caller_; }

 private:
  Unrecorded(Reason reason, Caller caller) : reason_(reason), caller_(std::move(caller)) {}
  Reason reason_;
  Caller caller_;
};

}  // namespace relay::authority
