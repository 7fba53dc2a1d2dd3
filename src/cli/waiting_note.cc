#include "cli/waiting_note.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/printable.h"

namespace relay::cli {
namespace {

constexpr auto kPause = std::chrono::seconds(1);
constexpr std::size_t kLineBytes = 70;  // one line of a narrow terminal

io::Task<void> keep_saying(std::function<std::string()> what) {
  for (int seconds = 1;; ++seconds) {
    RELAY_CO_CHECK(co_await io::sleep_for(kPause));
    const std::string text = printable(what(), '?');
    fmt::print(stderr, "\r\x1b[Kwaiting {} s for {}", seconds, utf8_prefix(text, kLineBytes));
    std::fflush(stderr);
  }
}

}  // namespace

WaitingNote::WaitingNote(io::Loop loop, std::function<std::string()> what)
    : has_terminal_(::isatty(STDERR_FILENO) != 0) {
  if (has_terminal_) io::spawn(std::move(loop), keep_saying(std::move(what)), "waiting note", cancel_);
}

WaitingNote::~WaitingNote() {
  cancel_.cancel();
  if (has_terminal_) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace relay::cli
