// KeptOffer: the last offer of a server and how fresh each of its lists is. Many ask, one question at a time
// goes out.
//
// Before the first answer of this relay it holds the one that an earlier relay left on disk: `is_remembered`.
// Whoever can live with that need not start the server; the first live answer takes its place, and what
// differs is told.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "io/event.h"
#include "io/task.h"
#include "upstream/offer_file.h"
#include "upstream/offer_walk.h"

namespace relay::upstream {

class KeptOffer : public std::enable_shared_from_this<KeptOffer> {
 public:
  /// Walks those lists, with the others as they were.
  using WalkLists = std::function<io::Task<Walked>(std::vector<peer::ListKind> kinds, Walked before)>;
  /// Connects, starting the server if need be, and gives what walks its lists. In two steps, because a new
  /// connection makes every list stale.
  using Open = std::function<io::Task<WalkLists>()>;
  /// A list is not what it was, and nobody was told yet.
  using Differs = std::function<void(peer::ListKind list)>;

  /// Without a file nothing is remembered.
  KeptOffer(io::Loop executor, const Clock& clock, std::shared_ptr<OfferFile> file = nullptr);

  /// The kept one while all of it is fresh, otherwise asked for. A remembered one is not fresh.
  io::Task<std::shared_ptr<const Offer>> get(Open open, Differs differs);
  [[nodiscard]] const std::shared_ptr<const Offer>& known() const { return known_; }
  /// Nothing came from the server itself yet.
  [[nodiscard]] bool is_remembered() const { return is_remembered_; }
  /// The server is gone for good.
  void forget();

  /// The server said so, and whoever cares was told.
  void list_changed(peer::ListKind list);
  /// A new process may offer something else.
  void reconnected();

 private:
  struct Flight {
    explicit Flight(const io::Loop& executor) : landed(executor) {}
    io::Event landed;
    Result<std::shared_ptr<const Offer>> result = std::shared_ptr<const Offer>();
  };
  struct Freshness {
    bool is_stale = true;
    bool was_announced = false;  // the change that made it stale
    std::optional<MonoTime> until;
  };

  [[nodiscard]] std::vector<peer::ListKind> stale_lists() const;
  io::Task<void> fly(std::shared_ptr<Flight> flight, Open open, Differs differs);
  io::Task<std::shared_ptr<const Offer>> refresh(Open open, Differs differs);
  void save_if_whole() const;
  void take(Walked walked, const std::vector<peer::ListKind>& kinds, const Differs& differs);
  [[nodiscard]] std::optional<MonoTime> expiry(const ListCaching& shelf) const;

  io::Loop executor_;
  const Clock& clock_;
  std::shared_ptr<OfferFile> file_;
  std::shared_ptr<const Offer> known_;
  bool is_remembered_ = false;
  std::array<ListCaching, 3> shelves_;
  std::array<Freshness, 3> freshness_;
  std::shared_ptr<Flight> flight_;
};

}  // namespace relay::upstream
