// OfferFile: what a server offered when it last ran, kept on disk, so that the next relay can say it without
// starting the server.
//
// The file is ours, but it is read like what a server sends: every item through the same reader, under the
// same limits, filtered by what the configuration admits today. One that is damaged, too large or of another
// spec counts as none. Loop thread only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/thread_pool.h"
#include "upstream/offer.h"
#include "upstream/server_spec.h"

namespace relay::upstream {

class OfferFile {
 public:
  OfferFile(io::Loop executor, io::ThreadPool& pool, std::filesystem::path path, ServerSpec spec);

  /// Blocking, once: before the server is used.
  [[nodiscard]] std::optional<Offer> load() const;
  /// Soon, on the pool. One that is too large is not kept, and neither is what was kept before.
  void save(const Offer& offer);
  /// The server left the configuration.
  void remove();

 private:
  io::Loop executor_;
  io::ThreadPool& pool_;
  std::filesystem::path path_;
  ServerSpec spec_;
};

/// The format is in docs/formats/upstream_state.md. Items are written as the server spelled them.
std::string write_offer(const Offer& offer, std::string_view fingerprint);
/// Nothing when it is no offer of that fingerprint.
std::optional<Offer> read_offer(std::string_view text, const ServerSpec& spec, std::string_view fingerprint);

}  // namespace relay::upstream
