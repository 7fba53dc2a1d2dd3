// CurlLibrary: libcurl's functions, found when the first request is about to be sent.
//
// Debian's libcurl brings some twenty libraries along (LDAP, Kerberos, SSH, a second TLS). Linked in, they
// would cost every start of Relay 4 MB and half of its time, also where no request is ever sent. So the
// library is opened on first use, once a process, and stays. Nothing but what is named here can be called;
// its types and constants come from the header as usual. Any thread may ask for it.
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace relay::net {

struct CurlLibrary {
  /// The library, initialised. Fails with `unavailable` where it is not installed.
  static Result<const CurlLibrary*> load();

  decltype(&curl_global_init) global_init;
  decltype(&curl_free) free;

  decltype(&curl_easy_init) easy_init;
  decltype(&curl_easy_cleanup) easy_cleanup;
  decltype(&curl_easy_reset) easy_reset;
  decltype(&curl_easy_setopt) easy_setopt;
  decltype(&curl_easy_getinfo) easy_getinfo;
  decltype(&curl_easy_pause) easy_pause;
  decltype(&curl_easy_strerror) easy_strerror;

  decltype(&curl_multi_init) multi_init;
  decltype(&curl_multi_cleanup) multi_cleanup;
  decltype(&curl_multi_setopt) multi_setopt;
  decltype(&curl_multi_add_handle) multi_add_handle;
  decltype(&curl_multi_remove_handle) multi_remove_handle;
  decltype(&curl_multi_socket_action) multi_socket_action;
  decltype(&curl_multi_info_read) multi_info_read;
  decltype(&curl_multi_strerror) multi_strerror;

  decltype(&curl_slist_append) slist_append;
  decltype(&curl_slist_free_all) slist_free_all;

  decltype(&curl_url) url;
  decltype(&curl_url_cleanup) url_cleanup;
  decltype(&curl_url_set) url_set;
  decltype(&curl_url_get) url_get;
};

}  // namespace relay::net
