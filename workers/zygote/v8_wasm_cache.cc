// Compiled WebAssembly on disk. Compiling Pyodide with the optimising compiler takes many seconds; loading
// the result takes a fraction of one. The cache lies beside the module as <file>.v8cache and is bound to the
// module's hash here and to V8's version, flags and the processor by V8 itself: a cache that does not fit is
// ignored and the module compiled.
//
// V8 offers to load compiled code only through its streaming compiler, whose callback arrives as a microtask.
// A context with a microtask queue of its own lets that happen in the middle of whatever JavaScript asks for
// the module.
#include "base/digest.h"
#include "v8_state.h"

namespace relay::zygote {
namespace {

constexpr std::string_view kMagic = "relay-v8cache-1\n";

struct Streamed {
  const std::string& wire_bytes;
  std::string_view compiled;
  bool used = false;
};

// The streaming callback has no way to carry data, and there is one compilation at a time.
Streamed*& current_stream(v8::Isolate* isolate) {
  static_assert(v8::internal::Internals::kNumIsolateDataSlots > 1);
  static Streamed* current = nullptr;
  (void)isolate;
  return current;
}

void on_streaming(const v8::FunctionCallbackInfo<v8::Value>& args) {
  v8::Isolate* const isolate = args.GetIsolate();
  Streamed* const stream = current_stream(isolate);
  const std::shared_ptr<v8::WasmStreaming> streaming = v8::WasmStreaming::Unpack(isolate, args.Data());
  const auto* compiled = reinterpret_cast<const std::uint8_t*>(stream->compiled.data());
  stream->used = streaming->SetCompiledModuleBytes(compiled, stream->compiled.size());
  streaming->OnBytesReceived(reinterpret_cast<const std::uint8_t*>(stream->wire_bytes.data()),
                             stream->wire_bytes.size());
  streaming->Finish(stream->used);
}

v8::MaybeLocal<v8::Promise> start_streaming(v8::Isolate* isolate, v8::Local<v8::Context> context) {
  v8::Local<v8::Value> wasm;
  v8::Local<v8::Value> compile;
  v8::Local<v8::Value> promise;
  v8::Local<v8::Value> source = v8::Object::New(isolate);
  if (!context->Global()->Get(context, to_v8(isolate, "WebAssembly")).ToLocal(&wasm) || !wasm->IsObject())
    return {};
  if (!wasm.As<v8::Object>()->Get(context, to_v8(isolate, "compileStreaming")).ToLocal(&compile) ||
      !compile->IsFunction())
    return {};
  if (!compile.As<v8::Function>()->Call(context, wasm, 1, &source).ToLocal(&promise) || !promise->IsPromise())
    return {};
  return promise.As<v8::Promise>();
}

v8::MaybeLocal<v8::WasmModuleObject> load_compiled(V8Host::State& state, const std::string& wire_bytes,
                                                   std::string_view compiled) {
  v8::Isolate* const isolate = state.isolate;
  v8::EscapableHandleScope handles(isolate);
  const std::unique_ptr<v8::MicrotaskQueue> queue =
      v8::MicrotaskQueue::New(isolate, v8::MicrotasksPolicy::kExplicit);
  isolate->SetWasmStreamingCallback(on_streaming);
  const v8::Local<v8::Context> context =
      v8::Context::New(isolate, nullptr, {}, {}, v8::DeserializeInternalFieldsCallback(), queue.get());
  const v8::Context::Scope scope(context);
  const v8::TryCatch caught(isolate);
  Streamed stream{wire_bytes, compiled};
  current_stream(isolate) = &stream;
  v8::Local<v8::Promise> promise;
  if (!start_streaming(isolate, context).ToLocal(&promise)) return {};
  queue->PerformCheckpoint(isolate);
  while (promise->State() == v8::Promise::kPending && state.platform->pump(isolate))
    queue->PerformCheckpoint(isolate);
  current_stream(isolate) = nullptr;
  if (promise->State() != v8::Promise::kFulfilled || !stream.used) return {};
  return handles.Escape(promise->Result().As<v8::WasmModuleObject>());
}

std::string cache_header(const std::string& wire_bytes) {
  return std::string(kMagic) + sha256_hex(wire_bytes) + "\n";
}

v8::MaybeLocal<v8::WasmModuleObject> find_cached(V8Host::State& state, const std::string& wire_bytes,
                                                 const std::string& cache_path) {
  const Result<std::string> cache = load_file(cache_path);
  const std::string header = cache_header(wire_bytes);
  if (!cache || !cache->starts_with(header)) return {};
  v8::Local<v8::WasmModuleObject> loaded;
  if (!load_compiled(state, wire_bytes, std::string_view(*cache).substr(header.size())).ToLocal(&loaded))
    return {};
  // The object belongs to the context that loaded it; its code may be shared with ours.
  return v8::WasmModuleObject::FromCompiledModule(state.isolate, loaded->GetCompiledModule());
}

void keep(const v8::Local<v8::WasmModuleObject>& module, const std::string& wire_bytes,
          const std::string& cache_path) {
  const v8::OwnedBuffer code = module->GetCompiledModule().Serialize();
  if (code.size == 0) return;
  std::string file = cache_header(wire_bytes);
  file.append(reinterpret_cast<const char*>(code.buffer.get()), code.size);
  if (const auto saved = save_file(cache_path, file); !saved)
    std::fprintf(stderr, "relay-zygote: %s\n", saved.error().message.c_str());
}

}  // namespace

v8::MaybeLocal<v8::WasmModuleObject> compile_wasm(v8::Isolate* isolate, const std::string& path) {
  V8Host::State& state = state_of(isolate);
  const Result<std::string> wire_bytes = load_file(path);
  if (!wire_bytes) {
    throw_error(isolate, wire_bytes.error().message);
    return {};
  }
  const std::string cache_path = path + ".v8cache";
  v8::Local<v8::WasmModuleObject> module;
  if (find_cached(state, *wire_bytes, cache_path).ToLocal(&module)) return module;
  if (state.options.cache == CacheUse::read)
    std::fprintf(stderr, "relay-zygote: no usable code cache for %s: compiling it, which is slow\n",
                 path.c_str());
  const v8::MemorySpan<const std::uint8_t> span(reinterpret_cast<const std::uint8_t*>(wire_bytes->data()),
                                                wire_bytes->size());
  if (!v8::WasmModuleObject::Compile(isolate, span).ToLocal(&module)) return {};
  if (state.options.cache == CacheUse::make) keep(module, *wire_bytes, cache_path);
  return module;
}

}  // namespace relay::zygote
