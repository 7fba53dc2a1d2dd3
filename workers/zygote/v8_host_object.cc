// The global object `host`: everything that the harness can ask of C++. Each member is one small function;
// the table at the end names them all. In a child the file functions refuse, whatever the harness does.
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmath>

#include <fmt/format.h>

#include "base/digest.h"
#include "hot_pages.h"
#include "memory_growth.h"
#include "signature.h"
#include "v8_state.h"

namespace relay::zygote {
namespace {

using Args = v8::FunctionCallbackInfo<v8::Value>;

double milliseconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return milliseconds(time);
}

// A view of the argument's bytes; valid while JavaScript does not run.
std::string_view bytes_of(const v8::Local<v8::Value>& value) {
  if (!value->IsArrayBufferView()) return {};
  const v8::Local<v8::ArrayBufferView> view = value.As<v8::ArrayBufferView>();
  const auto* base = static_cast<const char*>(view->Buffer()->GetBackingStore()->Data());
  return base ? std::string_view(base + view->ByteOffset(), view->ByteLength()) : std::string_view();
}

// Relay closes the socket when it wants nothing more from this child.
[[noreturn]] void leave() {
  ::_exit(0);
}

void send(const Args& args) {
  V8Host::State& state = state_of(args.GetIsolate());
  const std::uint32_t number = args[0]->Uint32Value(args.GetIsolate()->GetCurrentContext()).FromMaybe(0);
  const auto kind = sandbox::find_frame_kind(static_cast<std::uint8_t>(std::min(number, 255U)),
                                             sandbox::FrameSource::child);
  if (!kind) return throw_error(args.GetIsolate(), "no such kind of frame");
  const v8::String::Utf8Value header(args.GetIsolate(), args[1]);
  if (!*header) return throw_error(args.GetIsolate(), "the header must be a string");
  const std::string_view header_text(*header, static_cast<std::size_t>(header.length()));
  if (!state.socket) return state.practice.send(*kind, header_text);
  if (!state.socket->send(*kind, header_text, bytes_of(args[2]))) leave();
}

void set_member(const Args& args, v8::Local<v8::Object> object, std::string_view name,
                v8::Local<v8::Value> value) {
  v8::Isolate* const isolate = args.GetIsolate();
  object->Set(isolate->GetCurrentContext(), to_v8(isolate, name), value).Check();
}

v8::Local<v8::Object> to_v8_frame(const Args& args, const sandbox::FrameView& frame) {
  v8::Isolate* const isolate = args.GetIsolate();
  const v8::Local<v8::Object> object = v8::Object::New(isolate);
  set_member(args, object, "kind", v8::Integer::New(isolate, static_cast<int>(frame.kind)));
  set_member(args, object, "header", to_v8(isolate, frame.header));
  set_member(args, object, "body", to_v8_bytes(isolate, frame.body));
  return object;
}

std::optional<sandbox::FrameView> next_frame(V8Host::State& state, double timeout_ms) {
  if (!state.socket) return state.practice.receive(timeout_ms);
  const auto frame = state.socket->receive(timeout_ms);
  if (!frame) leave();
  if (*frame && (*frame)->kind == sandbox::FrameKind::start && state.on_start)
    state.on_start((*frame)->header);
  return *frame;
}

void receive(const Args& args) {
  const double timeout_ms = args[0]->NumberValue(args.GetIsolate()->GetCurrentContext()).FromMaybe(-1);
  const auto frame = next_frame(state_of(args.GetIsolate()), std::isnan(timeout_ms) ? 0 : timeout_ms);
  if (!frame) return args.GetReturnValue().SetNull();
  args.GetReturnValue().Set(to_v8_frame(args, *frame));
}

// Puts a start frame where receive() finds it, before there is a socket.
void practise(const Args& args) {
  state_of(args.GetIsolate())
      .practice.start(from_v8(args.GetIsolate(), args[0]), std::string(bytes_of(args[1])));
}

void now(const Args& args) {
  args.GetReturnValue().Set(read_clock(CLOCK_MONOTONIC));
}
void wall_clock(const Args& args) {
  args.GetReturnValue().Set(read_clock(CLOCK_REALTIME));
}
void cpu_ms(const Args& args) {
  args.GetReturnValue().Set(read_clock(CLOCK_PROCESS_CPUTIME_ID));
}
void mem_peak_mb(const Args& args) {
  args.GetReturnValue().Set(touched_mb());
}

void random(const Args& args) {
  const std::uint32_t count = args[0]->Uint32Value(args.GetIsolate()->GetCurrentContext()).FromMaybe(0);
  if (count > 1U << 20) return throw_error(args.GetIsolate(), "at most 1 MiB of random bytes at once");
  const v8::Local<v8::Uint8Array> bytes = to_v8_bytes(args.GetIsolate(), std::string(count, '\0'));
  auto* out = static_cast<char*>(bytes->Buffer()->GetBackingStore()->Data());
  for (std::size_t filled = 0; filled < count;) {
    const ssize_t got = ::getrandom(out + filled, count - filled, 0);
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  args.GetReturnValue().Set(bytes);
}

// xorshift128+, seeded in every child anew: V8's own state would be the same in all of them.
void math_random(const Args& args) {
  std::uint64_t(&state)[2] = state_of(args.GetIsolate()).random_state;
  while (state[0] == 0 && state[1] == 0)
    if (::getrandom(state, sizeof state, 0) < 0) state[0] = 1;
  std::uint64_t next = state[0];
  state[0] = state[1];
  next ^= next << 23;
  state[1] = next ^ state[0] ^ (next >> 17) ^ (state[0] >> 26);
  args.GetReturnValue().Set(static_cast<double>((state[1] + state[0]) >> 11) * 0x1.0p-53);
}

void sha256_of(const Args& args) {
  args.GetReturnValue().Set(to_v8(args.GetIsolate(), sha256_hex(bytes_of(args[0]))));
}

// The reason for a refusal, or nothing.
void verify_manifest_of(const Args& args) {
  v8::Isolate* const isolate = args.GetIsolate();
  const Result<void> verified =
      verify_manifest(from_v8(isolate, args[0]), from_v8(isolate, args[1]), from_v8(isolate, args[2]));
  args.GetReturnValue().Set(
      to_v8(isolate, verified ? std::string_view() : std::string_view(verified.error().message)));
}

// Text crosses into and out of guests all the time: V8 does it many times faster than JavaScript could.
void encode_utf8(const Args& args) {
  v8::Isolate* const isolate = args.GetIsolate();
  v8::Local<v8::String> text;
  if (!args[0]->ToString(isolate->GetCurrentContext()).ToLocal(&text)) return;
  const v8::Local<v8::ArrayBuffer> buffer =
      v8::ArrayBuffer::New(isolate, static_cast<std::size_t>(text->Utf8Length(isolate)));
  constexpr int kOptions = v8::String::NO_NULL_TERMINATION | v8::String::REPLACE_INVALID_UTF8;
  text->WriteUtf8(isolate, static_cast<char*>(buffer->GetBackingStore()->Data()),
                  static_cast<int>(buffer->ByteLength()), nullptr, kOptions);
  args.GetReturnValue().Set(v8::Uint8Array::New(buffer, 0, buffer->ByteLength()));
}

void decode_utf8(const Args& args) {
  args.GetReturnValue().Set(to_v8(args.GetIsolate(), bytes_of(args[0])));
}

// Nothing after the throw: the caller returns at once.
bool refuse_in_child(const Args& args) {
  if (state_of(args.GetIsolate()).phase == Phase::boot) return false;
  throw_error(args.GetIsolate(), "there are no files after the walls");
  return true;
}

std::string path_argument(const Args& args) {
  const std::string path = from_v8(args.GetIsolate(), args[0]);
  return path.starts_with('/') ? path : state_of(args.GetIsolate()).options.runtime_dir + "/" + path;
}

void read_file(const Args& args) {
  if (refuse_in_child(args)) return;
  const Result<std::string> bytes = load_file(path_argument(args));
  if (!bytes) return throw_error(args.GetIsolate(), bytes.error().message);
  args.GetReturnValue().Set(to_v8_bytes(args.GetIsolate(), *bytes));
}

void read_text(const Args& args) {
  if (refuse_in_child(args)) return;
  const Result<std::string> bytes = load_file(path_argument(args));
  if (!bytes) return throw_error(args.GetIsolate(), bytes.error().message);
  args.GetReturnValue().Set(to_v8(args.GetIsolate(), *bytes));
}

void write_file(const Args& args) {
  if (refuse_in_child(args)) return;
  if (state_of(args.GetIsolate()).options.cache != CacheUse::make)
    return throw_error(args.GetIsolate(), "files are written only by --make-cache");
  const Result<void> saved = save_file(path_argument(args), bytes_of(args[1]));
  if (!saved) throw_error(args.GetIsolate(), saved.error().message);
}

void compile(const Args& args) {
  if (refuse_in_child(args)) return;
  v8::Local<v8::WasmModuleObject> module;
  if (compile_wasm(args.GetIsolate(), path_argument(args)).ToLocal(&module))
    args.GetReturnValue().Set(module);
}

// Called from JavaScript that itself runs in a microtask, this does nothing: V8 does not nest them.
void drain_microtasks(const Args& args) {
  pump(state_of(args.GetIsolate()));
}

void log(const Args& args) {
  if (state_of(args.GetIsolate()).phase == Phase::child) return;
  const std::string line = "relay-zygote: " + from_v8(args.GetIsolate(), args[0]) + "\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

void rest(const Args& args) {
  if (state_of(args.GetIsolate()).phase == Phase::child) rest_for_a_moment();
}

struct Member {
  std::string_view name;
  v8::FunctionCallback function;
};

constexpr Member kMembers[] = {
    {"send", send},
    {"receive", receive},
    {"practise", practise},
    {"rest", rest},
    {"now", now},
    {"wallClock", wall_clock},
    {"cpuMs", cpu_ms},
    {"memPeakMb", mem_peak_mb},
    {"random", random},
    {"sha256", sha256_of},
    {"verifyManifest", verify_manifest_of},
    {"readFile", read_file},
    {"readText", read_text},
    {"writeFile", write_file},
    {"compileWasm", compile},
    {"drainMicrotasks", drain_microtasks},
    {"encodeUtf8", encode_utf8},
    {"decodeUtf8", decode_utf8},
    {"log", log},
};

void set_function(v8::Isolate* isolate, v8::Local<v8::Object> object, std::string_view name,
                  v8::FunctionCallback callback) {
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  const v8::Local<v8::Function> function =
      v8::Function::New(context, callback, {}, 0, v8::ConstructorBehavior::kThrow).ToLocalChecked();
  object->Set(context, to_v8(isolate, name), function).Check();
}

}  // namespace

void install_host_object(v8::Isolate* isolate, v8::Local<v8::Context> context) {
  const V8Options& options = state_of(isolate).options;
  const v8::Local<v8::Object> host = v8::Object::New(isolate);
  for (const Member& member : kMembers) set_function(isolate, host, member.name, member.function);
  host->Set(context, to_v8(isolate, "runtimeDir"), to_v8(isolate, options.runtime_dir)).Check();
  host->Set(context, to_v8(isolate, "makeCache"), v8::Boolean::New(isolate, options.cache == CacheUse::make))
      .Check();
  context->Global()->Set(context, to_v8(isolate, "host"), host).Check();
  const v8::Local<v8::Value> math = context->Global()->Get(context, to_v8(isolate, "Math")).ToLocalChecked();
  set_function(isolate, math.As<v8::Object>(), "random", math_random);
}

}  // namespace relay::zygote
