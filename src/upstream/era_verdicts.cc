#include "upstream/era_verdicts.h"

#include "base/disk.h"
#include "base/limits.h"
#include "io/replace_file.h"
#include "upstream/server_fingerprint.h"

namespace relay::upstream {
namespace {

using protocol::Era;

constexpr std::size_t kVerdictFileBytes = 4 * limits::kMiB;

std::string_view name_of(Era era) {
  switch (era) {
    case Era::legacy: return "legacy";
    case Era::modern: return "modern";
  }
  return "unknown";
}

}  // namespace

EraVerdicts::EraVerdicts(io::Loop executor, io::ThreadPool* pool, const Clock& clock,
                         std::filesystem::path file)
    : executor_(std::move(executor)), pool_(pool), clock_(clock), file_(std::move(file)) {
  if (file_.empty()) return;
  const auto text = load_file(file_, kVerdictFileBytes);
  if (!text) return;
  if (const auto parsed = json::parse_object(*text)) load(*parsed);
}

void EraVerdicts::load(const json::object& file) {
  for (const auto& [name, value] : file) {
    if (!value.is_object()) continue;
    const auto server = json::find_string(value.get_object(), "server");
    const auto era = json::find_string(value.get_object(), "era");
    const auto seconds = json::find_int(value.get_object(), "date");
    if (!server || !era || !seconds || *seconds < 0 || *seconds > 0xffffffffLL) continue;
    const Era known = *era == name_of(Era::modern) ? Era::modern : Era::legacy;
    verdicts_[std::string(name)] = {std::string(*server), known, WallTime(std::chrono::seconds(*seconds))};
  }
}

peer::EraChoice EraVerdicts::choice_for(const ServerSpec& spec) const {
  if (spec.era != peer::EraChoice::probe) return spec.era;
  const auto found = verdicts_.find(spec.name);
  if (found == verdicts_.end() || found->second.era != Era::legacy ||
      found->second.server != fingerprint_of_way(spec))
    return peer::EraChoice::probe;
  const auto age = clock_.wall() - found->second.date;
  return age >= std::chrono::seconds(0) && age < limits::kUpstreamVerdict ? peer::EraChoice::legacy
                                                                          : peer::EraChoice::probe;
}

void EraVerdicts::remember(const ServerSpec& spec, Era era) {
  if (spec.era != peer::EraChoice::probe || choice_for(spec) == peer::EraChoice::legacy)
    return;  // nothing was found out
  verdicts_[spec.name] = {fingerprint_of_way(spec), era, clock_.wall()};
  save();
}

void EraVerdicts::forget(const ServerSpec& spec) {
  if (verdicts_.erase(spec.name) > 0) save();
}

json::object EraVerdicts::to_json() const {
  json::object file;
  for (const auto& [name, verdict] : verdicts_) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(verdict.date.time_since_epoch()).count();
    file[name] = json::object{{"server", verdict.server}, {"era", name_of(verdict.era)}, {"date", seconds}};
  }
  return file;
}

void EraVerdicts::save() {
  if (file_.empty() || !pool_) return;
  io::replace_file_soon(executor_, *pool_, file_, json::write_pretty(json::value(to_json())) + "\n",
                        "era verdicts");
}

}  // namespace relay::upstream
