#include "vfs/quota.h"

#include <algorithm>
#include <utility>

namespace relay::vfs {

Quota::Quota(Usage limit, std::function<Usage()> measure)
    : limit_(limit), measure_(std::move(measure)), used_(measure_()) {}

bool Quota::fits(std::uint64_t bytes, std::uint64_t files) const {
  const auto room = [](std::uint64_t limit, std::uint64_t used) { return limit > used ? limit - used : 0; };
  return bytes <= room(limit_.bytes, used_.bytes) && files <= room(limit_.files, used_.files);
}

Usage Quota::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

Quota::Change::Change(Quota* quota) : quota_(quota) {
  if (quota_ != nullptr) lock_ = std::unique_lock(quota_->mutex_);
}

bool Quota::Change::charge(std::uint64_t bytes, std::uint64_t files) {
  if (quota_ == nullptr) return true;
  if (!quota_->fits(bytes, files) && quota_->refusals_++ % 32 == 0) quota_->used_ = quota_->measure_();
  if (!quota_->fits(bytes, files)) return false;
  quota_->used_.bytes += bytes;
  quota_->used_.files += files;
  quota_->refusals_ = 0;
  return true;
}

void Quota::Change::credit(std::uint64_t bytes, std::uint64_t files) {
  if (quota_ == nullptr) return;
  quota_->used_.bytes -= std::min(bytes, quota_->used_.bytes);
  quota_->used_.files -= std::min(files, quota_->used_.files);
}

}  // namespace relay::vfs
