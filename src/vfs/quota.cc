#include "vfs/quota.h"

#include <algorithm>
#include <utility>

namespace relay::vfs {
namespace {

void add(Usage& usage, std::uint64_t bytes, std::uint64_t files) {
  usage.bytes += bytes;
  usage.files += files;
}

void subtract(Usage& usage, std::uint64_t bytes, std::uint64_t files) {
  usage.bytes -= std::min(bytes, usage.bytes);
  usage.files -= std::min(files, usage.files);
}

}  // namespace

Quota::Quota(Usage limit, Measure measure) : limit_(limit), measure_(std::move(measure)) {}

bool Quota::fits(std::uint64_t bytes, std::uint64_t files) const {
  const auto room = [](std::uint64_t limit, std::uint64_t used) { return limit > used ? limit - used : 0; };
  return bytes <= room(limit_.bytes, used_.bytes) && files <= room(limit_.files, used_.files);
}

// A count that failed never lowers what is known; a workspace that was never counted is full.
void Quota::count() {
  if (const std::optional<Usage> found = measure_()) {
    used_ = *found;
    add(used_, reserved_.bytes, reserved_.files);
    known_ = Known::counted;
  } else if (known_ == Known::nothing) {
    used_ = limit_;
    known_ = Known::failed;
  }
}

Usage Quota::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

Quota::Change::Change(Quota* quota) : quota_(quota) {
  if (quota_ == nullptr) return;
  lock_ = std::unique_lock(quota_->mutex_);
  if (quota_->known_ == Known::nothing) quota_->count();
}

bool Quota::Change::charge(std::uint64_t bytes, std::uint64_t files) {
  if (quota_ == nullptr) return true;
  if (!quota_->fits(bytes, files) && quota_->refusals_++ % 32 == 0) quota_->count();
  if (!quota_->fits(bytes, files)) return false;
  add(quota_->used_, bytes, files);
  quota_->refusals_ = 0;
  return true;
}

void Quota::Change::credit(std::uint64_t bytes, std::uint64_t files) {
  if (quota_ != nullptr) subtract(quota_->used_, bytes, files);
}

bool Quota::Change::reserve(std::uint64_t bytes, std::uint64_t files) {
  if (!charge(bytes, files)) return false;
  if (quota_ != nullptr) add(quota_->reserved_, bytes, files);
  return true;
}

void Quota::Change::settle(std::uint64_t bytes, std::uint64_t files) {
  if (quota_ != nullptr) subtract(quota_->reserved_, bytes, files);
}

}  // namespace relay::vfs
