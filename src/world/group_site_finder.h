// GroupSiteFinder: where control groups are made, for zygotes, upstream servers and package tools alike. The
// place is looked for when the first of them needs it, because looking may move Relay into a group of its
// own. Loop thread only.
#pragma once

#include <optional>
#include <utility>

#include "config/choices.h"
#include "sandbox/control_group.h"

namespace relay::world {

class GroupSiteFinder {
 public:
  explicit GroupSiteFinder(config::CgroupChoice wanted) : wanted_(std::move(wanted)) {}

  const sandbox::GroupSite& find() {
    if (!site_) {
      site_ = sandbox::prepare_group_site(sandbox::find_group_site(config::text_of(wanted_)));
      sandbox::remove_abandoned_groups(*site_);
    }
    return *site_;
  }

 private:
  config::CgroupChoice wanted_;
  std::optional<sandbox::GroupSite> site_;
};

}  // namespace relay::world
