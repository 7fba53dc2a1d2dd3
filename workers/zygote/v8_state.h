// What the v8 files share: the engine's state, and how a value crosses between C++ and JavaScript.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <v8.h>

#include "practice.h"
#include "v8_host.h"
#include "v8_platform.h"

namespace relay::zygote {

/// A zygote reads files while it boots; a child never does.
enum class Phase : std::uint8_t { boot, child };

struct V8Host::State {
  Phase phase = Phase::boot;
  V8Options options;
  std::unique_ptr<V8Platform> platform;
  std::unique_ptr<v8::ArrayBuffer::Allocator> allocator;
  v8::Isolate* isolate = nullptr;
  v8::Global<v8::Context> context;
  RunSocket* socket = nullptr;  // set in a child that serves
  Practice practice;            // takes the socket's place before the first fork
  StartHook on_start;
  std::uint64_t random_state[2] = {0, 0};  // of Math.random; zero asks for a fresh seed
};

inline V8Host::State& state_of(v8::Isolate* isolate) {
  return *static_cast<V8Host::State*>(isolate->GetData(0));
}

v8::Local<v8::String> to_v8(v8::Isolate* isolate, std::string_view text);
std::string from_v8(v8::Isolate* isolate, v8::Local<v8::Value> value);
/// A Uint8Array with a copy of the bytes.
v8::Local<v8::Uint8Array> to_v8_bytes(v8::Isolate* isolate, std::string_view bytes);
void throw_error(v8::Isolate* isolate, std::string_view message);
/// Message, place and stack of what was thrown.
std::string describe_exception(v8::Isolate* isolate, v8::TryCatch& caught);

/// Runs everything that is due: platform tasks and microtasks.
void pump(V8Host::State& state);

/// Makes the global object `host`. v8_host_object.cc has one function for each member.
void install_host_object(v8::Isolate* isolate, v8::Local<v8::Context> context);

/// The module, from the code cache beside the file or compiled anew. Throws into JavaScript and gives nothing
/// on failure.
v8::MaybeLocal<v8::WasmModuleObject> compile_wasm(v8::Isolate* isolate, const std::string& path);

/// The whole file, or what went wrong.
Result<std::string> load_file(const std::string& path);
/// Written beside it and renamed into place: nobody ever reads half of it.
Result<void> save_file(const std::string& path, std::string_view bytes);

}  // namespace relay::zygote
