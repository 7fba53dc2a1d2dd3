#include "net/curl_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace relay::net {
namespace {

constexpr const char* kFile = "libcurl.so.4";

// Opens the library and looks its functions up; remembers the first thing that is missing.
class Lookup {
 public:
  Lookup() : library_(::dlopen(kFile, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) missing_ = ::dlerror();
  }

  template <class Function>
  void find(Function& function, const char* name) {
    void* const symbol = library_ ? ::dlsym(library_, name) : nullptr;
    if (!symbol && missing_.empty()) missing_ = fmt::format("{} has no {}", kFile, name);
    function = reinterpret_cast<Function>(symbol);
  }

  [[nodiscard]] Result<void> verdict() const {
    if (missing_.empty()) return {};
    return fail(unavailable(
        fmt::format("HTTP requests need libcurl (Debian: apt-get install libcurl4): {}", missing_)));
  }

 private:
  void* library_;  // never closed: its threads and handles live as long as the process
  std::string missing_;
};

void find_transfers(Lookup& lookup, CurlLibrary& curl) {
  lookup.find(curl.easy_init, "curl_easy_init");
  lookup.find(curl.easy_cleanup, "curl_easy_cleanup");
  lookup.find(curl.easy_reset, "curl_easy_reset");
  lookup.find(curl.easy_setopt, "curl_easy_setopt");
  lookup.find(curl.easy_getinfo, "curl_easy_getinfo");
  lookup.find(curl.easy_pause, "curl_easy_pause");
  lookup.find(curl.easy_strerror, "curl_easy_strerror");
  lookup.find(curl.multi_init, "curl_multi_init");
  lookup.find(curl.multi_cleanup, "curl_multi_cleanup");
  lookup.find(curl.multi_setopt, "curl_multi_setopt");
  lookup.find(curl.multi_add_handle, "curl_multi_add_handle");
  lookup.find(curl.multi_remove_handle, "curl_multi_remove_handle");
  lookup.find(curl.multi_socket_action, "curl_multi_socket_action");
  lookup.find(curl.multi_info_read, "curl_multi_info_read");
  lookup.find(curl.multi_strerror, "curl_multi_strerror");
}

void find_values(Lookup& lookup, CurlLibrary& curl) {
  lookup.find(curl.global_init, "curl_global_init");
  lookup.find(curl.free, "curl_free");
  lookup.find(curl.slist_append, "curl_slist_append");
  lookup.find(curl.slist_free_all, "curl_slist_free_all");
  lookup.find(curl.url, "curl_url");
  lookup.find(curl.url_cleanup, "curl_url_cleanup");
  lookup.find(curl.url_set, "curl_url_set");
  lookup.find(curl.url_get, "curl_url_get");
}

Result<CurlLibrary> open_library() {
  Lookup lookup;
  CurlLibrary curl{};
  find_transfers(lookup, curl);
  find_values(lookup, curl);
  RELAY_CHECK(lookup.verdict());
  if (const CURLcode code = curl.global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK)
    return fail(unavailable(fmt::format("libcurl does not start: {}", curl.easy_strerror(code))));
  return curl;
}

}  // namespace

Result<const CurlLibrary*> CurlLibrary::load() {
  static const Result<CurlLibrary> kLibrary = open_library();
  if (!kLibrary) return fail(kLibrary.error());
  return &*kLibrary;
}

}  // namespace relay::net
