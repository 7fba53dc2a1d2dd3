// V8's platform, with one change: pages are handed out one after the other instead of at random places.
//
// V8 asks for memory in pieces of 256 KiB and scatters them over the address space. Each piece then has page
// tables of its own on three levels, and a fork copies them all and the end of the child frees them all. Side
// by side they share a few. The first address is random; what follows is the same in all children anyway,
// because they are forked.
#pragma once

#include <memory>

#include <v8-platform.h>

namespace relay::zygote {

class V8Platform final : public v8::Platform {
 public:
  V8Platform();
  ~V8Platform() override;

  /// Runs one task that is due; false when there is none.
  bool pump(v8::Isolate* isolate);

  v8::PageAllocator* GetPageAllocator() override;
  int NumberOfWorkerThreads() override { return platform_->NumberOfWorkerThreads(); }
  std::shared_ptr<v8::TaskRunner> GetForegroundTaskRunner(v8::Isolate* isolate) override {
    return platform_->GetForegroundTaskRunner(isolate);
  }
  void CallOnWorkerThread(std::unique_ptr<v8::Task> task) override {
    platform_->CallOnWorkerThread(std::move(task));
  }
  void CallDelayedOnWorkerThread(std::unique_ptr<v8::Task> task, double seconds) override {
    platform_->CallDelayedOnWorkerThread(std::move(task), seconds);
  }
  std::unique_ptr<v8::JobHandle> PostJob(v8::TaskPriority priority,
                                         std::unique_ptr<v8::JobTask> task) override {
    return platform_->PostJob(priority, std::move(task));
  }
  double MonotonicallyIncreasingTime() override { return platform_->MonotonicallyIncreasingTime(); }
  double CurrentClockTimeMillis() override { return platform_->CurrentClockTimeMillis(); }
  v8::TracingController* GetTracingController() override { return platform_->GetTracingController(); }

 private:
  std::unique_ptr<v8::Platform> platform_;
  std::unique_ptr<v8::PageAllocator> pages_;
};

}  // namespace relay::zygote
