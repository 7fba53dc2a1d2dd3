#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/fd.h"
#include "v8_state.h"

namespace relay::zygote {

v8::Local<v8::String> to_v8(v8::Isolate* isolate, std::string_view text) {
  return v8::String::NewFromUtf8(isolate, text.data(), v8::NewStringType::kNormal,
                                 static_cast<int>(text.size()))
      .FromMaybe(v8::String::Empty(isolate));
}

std::string from_v8(v8::Isolate* isolate, v8::Local<v8::Value> value) {
  const v8::String::Utf8Value text(isolate, value);
  return *text ? std::string(*text, static_cast<std::size_t>(text.length())) : std::string();
}

v8::Local<v8::Uint8Array> to_v8_bytes(v8::Isolate* isolate, std::string_view bytes) {
  const v8::Local<v8::ArrayBuffer> buffer = v8::ArrayBuffer::New(isolate, bytes.size());
  if (!bytes.empty()) std::memcpy(buffer->GetBackingStore()->Data(), bytes.data(), bytes.size());
  return v8::Uint8Array::New(buffer, 0, bytes.size());
}

void throw_error(v8::Isolate* isolate, std::string_view message) {
  isolate->ThrowException(v8::Exception::Error(to_v8(isolate, message)));
}

std::string describe_exception(v8::Isolate* isolate, v8::TryCatch& caught) {
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  v8::Local<v8::Value> stack;
  if (caught.StackTrace(context).ToLocal(&stack) && stack->IsString()) return from_v8(isolate, stack);
  if (caught.Message().IsEmpty()) return from_v8(isolate, caught.Exception());
  return fmt::format("{} (line {})", from_v8(isolate, caught.Exception()),
                     caught.Message()->GetLineNumber(context).FromMaybe(0));
}

Result<std::string> load_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!file.is_open() || ::fstat(file.get(), &info) != 0) return fail(from_errno(errno, "read " + path));
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(from_errno(got == 0 ? EIO : errno, "read " + path));
    filled += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<void> save_file(const std::string& path, std::string_view bytes) {
  const std::string draft = path + ".draft";
  const Fd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) return fail(from_errno(errno, "write " + draft));
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(from_errno(errno, "write " + draft));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::rename(draft.c_str(), path.c_str()) != 0) return fail(from_errno(errno, "rename " + draft));
  return {};
}

}  // namespace relay::zygote
