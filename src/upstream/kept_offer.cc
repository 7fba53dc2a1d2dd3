#include "upstream/kept_offer.h"

#include <algorithm>

#include "base/limits.h"
#include "io/spawn.h"

namespace relay::upstream {
namespace {

constexpr std::array kLists{peer::ListKind::tools, peer::ListKind::resources, peer::ListKind::prompts};

std::size_t index_of(peer::ListKind list) {
  return static_cast<std::size_t>(list);
}

template <class T>
bool same_items(const protocol::Listing<T>& a, const protocol::Listing<T>& b) {
  if (a.items == b.items) return true;
  return std::ranges::equal(*a.items, *b.items, [](const T& x, const T& y) {
    return x.raw && y.raw && x.raw->text() == y.raw->text();
  });
}

bool same_list(const Offer& a, const Offer& b, peer::ListKind list) {
  switch (list) {
    case peer::ListKind::tools: return same_items(a.tools, b.tools);
    case peer::ListKind::resources:
      return same_items(a.resources, b.resources) && same_items(a.templates, b.templates);
    case peer::ListKind::prompts: return same_items(a.prompts, b.prompts);
  }
  return true;
}

}  // namespace

KeptOffer::KeptOffer(io::Loop executor, const Clock& clock, std::shared_ptr<OfferFile> file)
    : executor_(std::move(executor)), clock_(clock), file_(std::move(file)) {
  auto remembered = file_ ? file_->load() : std::nullopt;
  is_remembered_ = remembered.has_value();
  if (remembered) known_ = std::make_shared<const Offer>(*std::move(remembered));
}

io::Task<std::shared_ptr<const Offer>> KeptOffer::get(Open open, Differs differs) {
  const auto self = shared_from_this();
  if (stale_lists().empty()) co_return known_;
  std::shared_ptr<Flight> flight = flight_;
  if (!flight) {
    flight = flight_ = std::make_shared<Flight>(executor_);
    io::spawn(executor_, fly(flight, std::move(open), std::move(differs)), "lists of an upstream server");
  }
  RELAY_CO_CHECK(co_await flight->landed.wait());
  co_return flight->result;
}

std::vector<peer::ListKind> KeptOffer::stale_lists() const {
  std::vector<peer::ListKind> stale;
  for (const peer::ListKind list : kLists) {
    const Freshness& fresh = freshness_[index_of(list)];
    if (fresh.is_stale || (fresh.until && clock_.mono() >= *fresh.until)) stale.push_back(list);
  }
  return stale;
}

io::Task<void> KeptOffer::fly(std::shared_ptr<Flight> flight, Open open, Differs differs) {
  const auto self = shared_from_this();
  try {
    flight->result = co_await refresh(std::move(open), std::move(differs));
  } catch (...) {
    flight->result = fail(io::error_from(std::current_exception()));
  }
  flight_.reset();
  flight->landed.set();
  co_return Result<void>{};
}

io::Task<std::shared_ptr<const Offer>> KeptOffer::refresh(Open open, Differs differs) {
  RELAY_CO_TRY(const WalkLists walk, co_await open());
  const std::vector<peer::ListKind> kinds = stale_lists();
  // Before the question goes out: a change that is announced while the answer travels makes the list stale
  // again.
  for (const peer::ListKind list : kinds) freshness_[index_of(list)].is_stale = false;
  Walked before;
  if (known_) before.offer = *known_;
  std::ranges::copy(shelves_, before.shelves);
  Result<Walked> walked = co_await walk(kinds, std::move(before));
  if (!walked) {
    for (const peer::ListKind list : kinds) freshness_[index_of(list)].is_stale = true;
    co_return fail(std::move(walked.error()));
  }
  take(std::move(*walked), kinds, differs);
  co_return known_;
}

void KeptOffer::take(Walked walked, const std::vector<peer::ListKind>& kinds, const Differs& differs) {
  std::ranges::copy(walked.shelves, shelves_.begin());
  const std::shared_ptr<const Offer> before =
      std::exchange(known_, std::make_shared<const Offer>(std::move(walked.offer)));
  is_remembered_ = false;
  std::vector<peer::ListKind> untold;
  bool is_other = !before;
  for (const peer::ListKind list : kinds) {
    Freshness& fresh = freshness_[index_of(list)];
    fresh.until = expiry(shelves_[index_of(list)]);
    const bool was_announced = std::exchange(fresh.was_announced, false);
    const bool is_new = !before ? !same_list(Offer(), *known_, list) : !same_list(*before, *known_, list);
    is_other = is_other || is_new;
    if (is_new && !was_announced) untold.push_back(list);
  }
  if (is_other) save_if_whole();
  for (const peer::ListKind list : untold) differs(list);
}

// A list that the server failed to give is not what it offers.
void KeptOffer::save_if_whole() const {
  if (file_ && std::ranges::all_of(shelves_, &ListCaching::is_whole)) file_->save(*known_);
}

void KeptOffer::forget() {
  if (file_) file_->remove();
  file_.reset();
}

// A server that announces changes is taken at its word; its time to live is then only for those who do not
// listen.
std::optional<MonoTime> KeptOffer::expiry(const ListCaching& shelf) const {
  const MonoTime now = clock_.mono();
  if (!shelf.is_whole) return now + limits::kUpstreamFresh;
  if (shelf.announces_changes) return std::nullopt;
  if (shelf.ttl) return now + std::max<std::chrono::milliseconds>(*shelf.ttl, limits::kUpstreamFreshMin);
  return now + limits::kUpstreamFresh;
}

void KeptOffer::list_changed(peer::ListKind list) {
  freshness_[index_of(list)].is_stale = true;
  freshness_[index_of(list)].was_announced = true;
}

void KeptOffer::reconnected() {
  for (Freshness& fresh : freshness_) fresh.is_stale = true;
}

}  // namespace relay::upstream
