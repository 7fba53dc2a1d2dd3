#include "v8_platform.h"

#include <cstdint>

#include <libplatform/libplatform.h>

namespace relay::zygote {
namespace {

constexpr std::uintptr_t kGiB = std::uintptr_t{1} << 30;
constexpr std::uintptr_t kArea =
    64 * kGiB;  // of addresses; then it begins again and the kernel finds the holes
constexpr std::size_t kLargestPiece = 64 << 20;  // longer ones are reservations, and stay where V8 wants them

class SideBySide final : public v8::PageAllocator {
 public:
  explicit SideBySide(v8::PageAllocator& pages)
      : pages_(pages),
        begin_(reinterpret_cast<std::uintptr_t>(pages.GetRandomMmapAddr()) & ~(kGiB - 1)),
        next_(begin_) {}

  size_t AllocatePageSize() override { return pages_.AllocatePageSize(); }
  size_t CommitPageSize() override { return pages_.CommitPageSize(); }
  void SetRandomMmapSeed(int64_t seed) override { pages_.SetRandomMmapSeed(seed); }
  void* GetRandomMmapAddr() override { return pages_.GetRandomMmapAddr(); }
  bool FreePages(void* address, size_t length) override { return pages_.FreePages(address, length); }
  bool ReleasePages(void* address, size_t length, size_t new_length) override {
    return pages_.ReleasePages(address, length, new_length);
  }
  bool SetPermissions(void* address, size_t length, Permission permissions) override {
    return pages_.SetPermissions(address, length, permissions);
  }
  bool DiscardSystemPages(void* address, size_t size) override {
    return pages_.DiscardSystemPages(address, size);
  }
  bool DecommitPages(void* address, size_t size) override { return pages_.DecommitPages(address, size); }

  // The address is a wish: where it is taken the kernel chooses another.
  void* AllocatePages(void* address, size_t length, size_t alignment, Permission permissions) override {
    if (length > kLargestPiece) return pages_.AllocatePages(address, length, alignment, permissions);
    if (next_ - begin_ > kArea) next_ = begin_;
    void* const got = pages_.AllocatePages(reinterpret_cast<void*>(next_), length, alignment, permissions);
    const auto at = reinterpret_cast<std::uintptr_t>(got);
    next_ = (at >= begin_ && at - begin_ <= kArea ? at : next_) + length;
    return got;
  }

 private:
  v8::PageAllocator& pages_;
  std::uintptr_t begin_;
  std::uintptr_t next_;
};

}  // namespace

V8Platform::V8Platform()
    : platform_(v8::platform::NewSingleThreadedDefaultPlatform()),
      pages_(std::make_unique<SideBySide>(*platform_->GetPageAllocator())) {}

V8Platform::~V8Platform() = default;

v8::PageAllocator* V8Platform::GetPageAllocator() {
  return pages_.get();
}

bool V8Platform::pump(v8::Isolate* isolate) {
  return v8::platform::PumpMessageLoop(platform_.get(), isolate);
}

}  // namespace relay::zygote
