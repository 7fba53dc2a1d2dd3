// V8Host: the JavaScript engine of a zygote, and the harness inside it.
//
// One thread, one isolate, one context: that is what makes fork safe. boot() runs in the zygote, before the
// walls; it may read files. serve() runs in a child, after them; it talks on the run socket and nothing else.
// Nothing outside this folder's v8 files includes V8.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "run_socket.h"
#include "worker.h"

namespace relay::zygote {

/// Whether this boot may leave files behind for later boots.
enum class CacheUse : std::uint8_t { read, make };

struct V8Options {
  std::string bundle;       // path of the harness bundle
  std::string runtime_dir;  // where the bundle's relative paths begin
  CacheUse cache = CacheUse::read;
};

class V8Host final : public Engine {
 public:
  /// Starts the engine, evaluates the bundle and runs relayHarness.boot() to its end.
  static Result<V8Host> boot(const V8Options& options);

  V8Host(V8Host&&) noexcept;
  V8Host& operator=(V8Host&&) noexcept;
  ~V8Host() override;

  /// Collects garbage, so that children share clean pages. Call before the first fork.
  void settle();
  /// relayHarness.practise(): whole runs of all kinds that lead nowhere (practice.h). Call before the first
  /// fork.
  Result<void> practise() override;
  /// relayHarness.rehearse(): one ordinary run that leads nowhere.
  Result<void> rehearse() override;
  /// relayHarness.serve().
  Result<void> serve(RunSocket& socket, StartHook on_start) override;

  struct State;

 private:
  Result<void> run_practice(std::string_view name);
  explicit V8Host(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace relay::zygote
