#include "v8_host.h"

#include <unistd.h>

#include <optional>

#include <fmt/format.h>

#include "v8_state.h"

namespace relay::zygote {
namespace {

// Single-threaded V8 never tiers WebAssembly up on its own, so everything is compiled by the optimising
// compiler at once; the code cache pays for it. Code pages are never writable and executable together: the
// seccomp filter of a child refuses such pages.
constexpr std::string_view kFlags =
    "--single-threaded --no-liftoff --no-wasm-tier-up --wasm-write-protect-code-memory "
    "--write-protect-code-memory --no-write-code-using-rwx "
    "--stack-size=3900 --max-lazy --no-flush-bytecode --no-turbo-use-mid-tier-regalloc-for-huge-functions";

constexpr int kOutOfMemoryExit = 137;

void exit_on_oom(const char*, bool) {
  ::_exit(kOutOfMemoryExit);
}

void exit_on_fatal(const char* location, const char* message) {
  const std::string text =
      fmt::format("relay-zygote: V8 failed in {}: {}\n", location ? location : "?", message ? message : "?");
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(70);
}

void start_engine(V8Host::State& state) {
  v8::V8::SetFlagsFromString(kFlags.data(), kFlags.size());
  state.platform = std::make_unique<V8Platform>();
  v8::V8::InitializePlatform(state.platform.get());
  v8::V8::EnableWebAssemblyTrapHandler(true);
  v8::V8::Initialize();
  state.allocator.reset(v8::ArrayBuffer::Allocator::NewDefaultAllocator());
  v8::Isolate::CreateParams params;
  params.array_buffer_allocator = state.allocator.get();
  params.constraints.set_max_old_generation_size_in_bytes(std::size_t{1} << 30);
  state.isolate = v8::Isolate::New(params);
  state.isolate->SetData(0, &state);
  state.isolate->SetMicrotasksPolicy(v8::MicrotasksPolicy::kExplicit);
  state.isolate->SetOOMErrorHandler(exit_on_oom);
  state.isolate->SetFatalErrorHandler(exit_on_fatal);
  state.isolate->SetCaptureStackTraceForUncaughtExceptions(true, 20);
}

Result<void> run_script(V8Host::State& state, v8::Local<v8::Context> context, const std::string& path) {
  RELAY_TRY(const std::string source, load_file(path));
  v8::TryCatch caught(state.isolate);
  // The name stands in stack traces, which guests can read: it says nothing of this machine.
  v8::ScriptOrigin origin(state.isolate, to_v8(state.isolate, "relay:" + path.substr(path.rfind('/') + 1)));
  v8::Local<v8::Script> script;
  if (!v8::Script::Compile(context, to_v8(state.isolate, source), &origin).ToLocal(&script) ||
      script->Run(context).IsEmpty())
    return fail(internal("the harness bundle failed: " + describe_exception(state.isolate, caught)));
  pump(state);
  return {};
}

std::optional<v8::Local<v8::Function>> find_harness_function(V8Host::State& state,
                                                             v8::Local<v8::Context> context,
                                                             std::string_view name) {
  v8::Local<v8::Value> harness;
  v8::Local<v8::Value> function;
  if (!context->Global()->Get(context, to_v8(state.isolate, "relayHarness")).ToLocal(&harness) ||
      !harness->IsObject() ||
      !harness.As<v8::Object>()->Get(context, to_v8(state.isolate, name)).ToLocal(&function) ||
      !function->IsFunction())
    return std::nullopt;
  return function.As<v8::Function>();
}

Result<v8::Local<v8::Value>> call_harness(V8Host::State& state, v8::Local<v8::Context> context,
                                          std::string_view name) {
  const auto function = find_harness_function(state, context, name);
  if (!function) return fail(internal(fmt::format("the harness bundle sets no relayHarness.{}", name)));
  v8::TryCatch caught(state.isolate);
  v8::Local<v8::Value> value;
  if (!(*function)->Call(context, context->Global(), 0, nullptr).ToLocal(&value))
    return fail(internal(fmt::format("{} failed: {}", name, describe_exception(state.isolate, caught))));
  return value;
}

std::string describe_reason(v8::Isolate* isolate, v8::Local<v8::Value> reason) {
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  v8::Local<v8::Value> stack;
  if (reason->IsObject() && reason.As<v8::Object>()->Get(context, to_v8(isolate, "stack")).ToLocal(&stack) &&
      stack->IsString())
    return from_v8(isolate, stack);
  return from_v8(isolate, reason);
}

// Nothing happens in a zygote but what was asked for, so a promise that stays pending without work would hang
// for ever.
Result<void> settle_promise(V8Host::State& state, v8::Local<v8::Value> value) {
  if (!value->IsPromise()) return {};
  const v8::Local<v8::Promise> promise = value.As<v8::Promise>();
  for (int idle = 0; promise->State() == v8::Promise::kPending && idle < 100; ++idle) pump(state);
  switch (promise->State()) {
    case v8::Promise::kFulfilled: return {};
    case v8::Promise::kPending: return fail(internal("boot waits for something that never happens"));
    case v8::Promise::kRejected:
      return fail(internal("boot failed: " + describe_reason(state.isolate, promise->Result())));
  }
  return fail(internal("a promise in an unknown state"));
}

Result<void> boot_harness(V8Host::State& state) {
  const v8::Isolate::Scope isolate_scope(state.isolate);
  const v8::HandleScope handles(state.isolate);
  const v8::Local<v8::Context> context = v8::Context::New(state.isolate);
  state.context.Reset(state.isolate, context);
  const v8::Context::Scope context_scope(context);
  install_host_object(state.isolate, context);
  RELAY_CHECK(run_script(state, context, state.options.bundle));
  RELAY_TRY(const v8::Local<v8::Value> booted, call_harness(state, context, "boot"));
  RELAY_CHECK(settle_promise(state, booted));
  // From here on text is never code again in V8 itself; guests have their own engines.
  context->AllowCodeGenerationFromStrings(false);
  return {};
}

}  // namespace

void pump(V8Host::State& state) {
  do {
    state.isolate->PerformMicrotaskCheckpoint();
  } while (state.platform->pump(state.isolate));
  state.isolate->PerformMicrotaskCheckpoint();
}

V8Host::V8Host(std::unique_ptr<State> state) : state_(std::move(state)) {}
V8Host::V8Host(V8Host&&) noexcept = default;
V8Host& V8Host::operator=(V8Host&&) noexcept = default;
V8Host::~V8Host() = default;  // the process ends with it; the isolate is never torn down

Result<V8Host> V8Host::boot(const V8Options& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  start_engine(*state);
  RELAY_CHECK(boot_harness(*state));
  return V8Host(std::move(state));
}

void V8Host::settle() {
  const v8::Isolate::Scope isolate_scope(state_->isolate);
  state_->isolate->LowMemoryNotification();
}

Result<void> V8Host::practise() {
  return run_practice("practise");
}

Result<void> V8Host::rehearse() {
  return run_practice("rehearse");
}

Result<void> V8Host::run_practice(std::string_view name) {
  const v8::Isolate::Scope isolate_scope(state_->isolate);
  const v8::HandleScope handles(state_->isolate);
  const v8::Local<v8::Context> context = state_->context.Get(state_->isolate);
  const v8::Context::Scope context_scope(context);
  RELAY_TRY(const v8::Local<v8::Value> called, call_harness(*state_, context, name));
  RELAY_CHECK(settle_promise(*state_, called));
  const bool passed = state_->practice.passed();
  if (!passed) return fail(internal("a practice run failed: " + state_->practice.first_done()));
  state_->practice.clear();
  state_->random_state[0] = state_->random_state[1] = 0;
  return {};
}

Result<void> V8Host::serve(RunSocket& socket, StartHook on_start) {
  state_->phase = Phase::child;
  state_->socket = &socket;
  state_->on_start = std::move(on_start);
  const v8::Isolate::Scope isolate_scope(state_->isolate);
  const v8::HandleScope handles(state_->isolate);
  const v8::Local<v8::Context> context = state_->context.Get(state_->isolate);
  const v8::Context::Scope context_scope(context);
  RELAY_TRY(const v8::Local<v8::Value> served, call_harness(*state_, context, "serve"));
  return settle_promise(*state_, served);
}

}  // namespace relay::zygote
