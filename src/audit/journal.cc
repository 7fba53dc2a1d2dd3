#include "audit/journal.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <boost/asio/post.hpp>

#include "base/limits.h"
#include "io/event.h"

namespace relay::audit {

using authority::Grant;
using authority::Recorded;

struct Journal::Batch {
  explicit Batch(const io::Loop& loop) : done(loop) {}
  std::vector<Record> records;
  io::Event done;
  Result<void> result;
};

namespace {

struct Written {
  Result<void> result;
  std::size_t records;
  std::size_t backlog;
  std::uint64_t lost;
  MonoTime::duration took;
};

Written write_to(Ledger& ledger, std::vector<Record> records, Wait wait, const Clock& clock) {
  const MonoTime begin = clock.mono();
  const std::size_t count = records.size();
  Result<void> result = ledger.append(std::move(records), wait);
  return {std::move(result), count, ledger.backlog(), ledger.lost(), clock.mono() - begin};
}

}  // namespace

// Shared with the handlers that are posted to the loop, so that a late one finds it alive.
struct Journal::Core : std::enable_shared_from_this<Journal::Core> {
  Core(io::Loop executor, JournalOptions given, const Clock& clock_given)
      : loop(std::move(executor)),
        options(std::move(given)),
        clock(clock_given),
        ledger(options.ledger, clock) {}

  // Loop side.
  io::Loop loop;
  JournalOptions options;
  const Clock& clock;
  JournalStats stats;
  std::shared_ptr<Batch> next;       // being filled
  std::shared_ptr<Batch> in_flight;  // being written
  bool is_prompt = false;            // the last write was fast: the loop may write the next batch itself
  bool gathering = false;  // a line was written in this turn; the next ones wait for its end, together

  // Between the two.
  std::mutex mutex;
  std::condition_variable wake;
  std::optional<std::vector<Record>> handed_over;
  bool stopping = false;

  // Of whoever writes the batch in flight.
  Ledger ledger;
  std::thread thread;

  [[nodiscard]] Record make_closing(const authority::Call& call, const authority::Decision& decision,
                                    const authority::Outcome& outcome) const;
  std::shared_ptr<Batch> submit(Record record);
  void schedule();
  void write_next();
  [[nodiscard]] bool is_worth_a_thread(std::size_t records) const;
  void hand_over(std::vector<Record> records);
  void hand_over_backlog();
  void finish(const Written& written);
  void run();
};

// An effect of a call has no time of its own.
Record Journal::Core::make_closing(const authority::Call& call, const authority::Decision& decision,
                                   const authority::Outcome& outcome) const {
  const auto took = call.began ? clock.mono() - *call.began : MonoTime::duration{};
  return make_end(clock.wall(), call, decision, outcome,
                  std::chrono::duration_cast<std::chrono::microseconds>(took), options.redactor.get());
}

// Writes the first record of a turn immediately, if that is cheap, instead of waiting for a batch. Records
// that follow in the same turn share the next write.
std::shared_ptr<Journal::Batch> Journal::Core::submit(Record record) {
  const bool is_first = !next && !in_flight && !gathering;
  if (!next) next = std::make_shared<Batch>(loop);
  const std::shared_ptr<Batch> batch = next;
  batch->records.push_back(std::move(record));
  if (!gathering && batch->records.size() == 1) schedule();
  if (is_first && !is_worth_a_thread(1)) write_next();
  return batch;
}

void Journal::Core::schedule() {
  gathering = true;
  boost::asio::post(loop, [self = shared_from_this()] {
    self->gathering = false;
    self->write_next();
  });
}

void Journal::Core::write_next() {
  if (in_flight || !next) return;
  in_flight = std::move(next);
  std::vector<Record> records = std::move(in_flight->records);
  if (is_worth_a_thread(records.size())) return hand_over(std::move(records));
  const Written written = write_to(ledger, std::move(records), Wait::brief, clock);
  if (ledger.got_no_turn()) return hand_over_backlog();
  ++stats.prompt;
  finish(written);
}

// Another process has its turn. The thread waits for its end; the records are in the ledger already.
void Journal::Core::hand_over_backlog() {
  stats.backlog = ledger.backlog();
  hand_over({});
}

bool Journal::Core::is_worth_a_thread(std::size_t records) const {
  return !is_prompt || records > limits::kAuditPromptRecords || !ledger.is_local();
}

void Journal::Core::hand_over(std::vector<Record> records) {
  {
    const std::lock_guard lock(mutex);
    handed_over = std::move(records);
  }
  wake.notify_one();
}

void Journal::Core::finish(const Written& written) {
  is_prompt = written.result && written.took < limits::kAuditPromptWrite;
  stats.degraded = !written.result;
  stats.reason = written.result ? std::string() : written.result.error().message;
  if (written.result) stats.records += written.records + stats.backlog;
  stats.backlog = written.backlog;
  stats.lost = written.lost;
  ++stats.batches;
  const std::shared_ptr<Batch> batch = std::move(in_flight);
  batch->result = written.result;
  batch->done.set();
  if (next && !gathering) schedule();
}

void Journal::Core::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    wake.wait(lock, [this] { return handed_over || stopping; });
    if (!handed_over) return;
    std::vector<Record> records = std::move(*handed_over);
    handed_over.reset();
    lock.unlock();
    boost::asio::post(loop, [self = shared_from_this(),
                             written = write_to(ledger, std::move(records), Wait::ordinary, clock)] {
      self->finish(written);
    });
    lock.lock();
  }
}

struct Journal::EffectLines final : authority::EffectWriter {
  explicit EffectLines(std::shared_ptr<Core> of) : core(std::move(of)) {}
  void write(const authority::Call& call, const authority::Decision& decision,
             const authority::Outcome& outcome) noexcept override {
    core->submit(core->make_closing(call, decision, outcome));
  }
  std::shared_ptr<Core> core;
};

Result<std::unique_ptr<Journal>> Journal::start(const io::Loop& loop, JournalOptions options,
                                                const Clock& clock) {
  auto core = std::make_shared<Core>(loop, std::move(options), clock);
  const Result<void> alive = core->ledger.start();
  if (!alive && core->options.on_failure == OnFailure::refuse) return fail(alive.error());
  core->is_prompt = alive.has_value();
  core->stats.degraded = !alive;
  core->stats.reason = alive ? std::string() : alive.error().message;
  core->stats.records = alive ? 1 : 0;
  core->stats.backlog = core->ledger.backlog();
  core->thread = std::thread([raw = core.get()] { raw->run(); });
  return std::unique_ptr<Journal>(new Journal(std::move(core)));
}

Journal::Journal(std::shared_ptr<Core> core) : core_(std::move(core)) {}

Journal::~Journal() {
  {
    const std::lock_guard lock(core_->mutex);
    core_->stopping = true;
  }
  core_->wake.notify_one();
  core_->thread.join();
  std::vector<Record> rest = core_->next ? std::move(core_->next->records) : std::vector<Record>();
  if (rest.empty() && core_->ledger.backlog() == 0) return;
  // A log that cannot be written is told to everybody who calls; here there is nobody left.
  [[maybe_unused]] const auto ignored = core_->ledger.append(std::move(rest), Wait::last);
}

JournalStats Journal::stats() const {
  JournalStats now = core_->stats;
  now.queued = core_->next ? core_->next->records.size() : 0;
  return now;
}

const JournalOptions& Journal::options() const {
  return core_->options;
}

bool Journal::must_be_recorded(const authority::Call& call) const {
  return core_->options.on_failure == OnFailure::refuse ||
         core_->options.always_refuse.contains(call.toolset);
}

std::shared_ptr<Journal::Batch> Journal::submit(Record record) {
  return core_->submit(std::move(record));
}

io::Task<void> Journal::written(std::shared_ptr<Batch> batch) {
  RELAY_CO_CHECK(co_await batch->done.wait());
  co_return batch->result;
}

io::Task<Recorded> Journal::open(Grant grant) {
  const bool must = must_be_recorded(grant.call());
  const bool prove = must && core_->stats.degraded;
  Recorded recorded(*this, std::move(grant));
  if (recorded.tier() < authority::Tier::stateful && !prove) co_return recorded;
  const Result<void> begun = co_await written(
      submit(make_begin(core_->clock.wall(), recorded.grant_, core_->options.redactor.get())));
  if (begun || !must) co_return recorded;
  recorded.settle();
  authority::Outcome not_run;
  not_run.ending = authority::Ending::error;
  submit(core_->make_closing(recorded.call(), recorded.decision(), not_run));
  co_return fail(
      unavailable("nothing was run, because the audit log cannot be written: " + begun.error().message));
}

io::Task<void> Journal::close(Recorded recorded, authority::Outcome outcome) {
  recorded.settle();
  const bool must = must_be_recorded(recorded.call());
  const Result<void> ended =
      co_await written(submit(core_->make_closing(recorded.call(), recorded.decision(), outcome)));
  if (!ended && must)
    co_return fail(
        unavailable("the call ran, but the audit log cannot be written: " + ended.error().message));
  co_return Result<void>{};
}

io::Task<void> Journal::refuse(const authority::Call& call, const authority::Decision& decision,
                               authority::Outcome outcome) {
  const bool must = must_be_recorded(call);
  const Result<void> ended = co_await written(submit(core_->make_closing(call, decision, outcome)));
  if (!ended && must) co_return ended;
  co_return Result<void>{};
}

io::Task<void> Journal::note(Record record) {
  co_return co_await written(submit(std::move(record)));
}

std::shared_ptr<authority::EffectWriter> Journal::effect_writer() {
  return std::make_shared<EffectLines>(core_);
}

void Journal::abandon(const Grant& grant) noexcept {
  authority::Outcome cancelled;
  cancelled.ending = authority::Ending::cancelled;
  submit(core_->make_closing(grant.call(), grant.decision(), cancelled));
}

}  // namespace relay::audit
