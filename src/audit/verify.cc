#include "audit/verify.h"

#include <sys/stat.h>

#include <vector>

#include <fmt/format.h>

#include "audit/canonical.h"
#include "audit/chain.h"
#include "audit/segments.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "base/limits.h"

namespace relay::audit {
namespace {

bool feed_file(ChainVerifier& verifier, const std::string& path, std::string& unreadable) {
  auto file = LineFile::open(path);
  if (!file) {
    unreadable = file.error().message;
    return false;
  }
  verifier.next_file();
  for (;;) {
    const auto line = file->next();
    if (!line) {
      unreadable = line.error().message;
      return false;
    }
    if (!*line) return true;
    const bool fine =
        (*line)->terminated ? verifier.feed((*line)->text) : verifier.feed_unterminated((*line)->text);
    if (!fine) return false;
  }
}

std::string intact_reason(const ChainVerifier& verifier, std::size_t files) {
  std::string text =
      fmt::format("chain intact: {} record(s) from seq {}", verifier.records(), *verifier.start_seq());
  if (files > 1) text += fmt::format(" in {} files", files);
  if (verifier.recovered() > 0)
    text += fmt::format("; {} interrupted write(s), each accounted for", verifier.recovered());
  if (verifier.unchained() > 0) text += fmt::format("; {} older line(s) without chain", verifier.unchained());
  return text;
}

std::string conclude(const ChainVerifier& verifier, Verification& result, std::size_t files) {
  if (verifier.broken()) return verifier.reason();
  if (verifier.records() == 0) return "no chained records";
  result.chain_ok = true;
  if (result.anchored || result.segment_mode) return intact_reason(verifier, files);
  return fmt::format(
      "the log begins at seq {}: older records are missing (verify with --segment if they were archived)",
      *verifier.start_seq());
}

}  // namespace

bool ChainVerifier::break_here(std::string reason) {
  broken_at_ = line_;
  reason_ = fmt::format("line {}: {}", line_, reason);
  return false;
}

bool ChainVerifier::keep_fragment(std::string_view line) {
  if (fragment_.size() + line.size() > limits::kAuditLineBytes)
    return break_here("too much that is not a record");
  if (fragment_.empty()) {
    fragment_line_ = line_;
    fragment_ = line;
  } else {
    fragment_ += '\n';
    fragment_ += line;
  }
  return true;
}

// An interrupted write leaves half a line. The next record must say so, with length and hash of what is
// there.
bool ChainVerifier::check_recovery(std::string_view action, std::string_view args) {
  const bool explains = action == "recovered";
  if (fragment_.empty())
    return !explains || records_ == 0 || line_ == 1 ||
           break_here("accounts for a torn line that is not there");
  const std::string expected = fmt::format(R"({{"fragment_bytes":{},"fragment_sha256":"{}"}})",
                                           fragment_.size(), sha256_hex(fragment_));
  const std::uint64_t where = fragment_line_;
  if (!explains || args != expected) {
    line_ = where;
    return break_here("invalid JSON inside the chained region, which no later record accounts for");
  }
  fragment_.clear();
  ++recovered_;
  return true;
}

bool ChainVerifier::feed(std::string_view line) {
  if (broken()) return false;
  ++line_;
  if (trim_ascii(line).empty()) return true;
  const auto parsed = parse_line(line);
  if (!parsed && start_seq_) return keep_fragment(line);
  if (!parsed || !parsed->chained()) {
    if (start_seq_) return break_here("a record without chain members inside the chained region");
    ++unchained_;
    return true;
  }
  if (!check_recovery(parsed->action, parsed->args)) return false;
  if (!start_seq_) {
    start_seq_ = expected_seq_ = *parsed->seq;
    expected_prev_ = parsed->prev;
    anchored_ = *parsed->seq == 0 && parsed->prev == kGenesis;
    if (*parsed->seq == 0 && !anchored_) return break_here("seq 0 does not begin with the genesis value");
  }
  if (*parsed->seq != expected_seq_)
    return break_here(fmt::format("expected seq {}, found {}", expected_seq_, *parsed->seq));
  if (parsed->prev != expected_prev_) return break_here("prev is not the chain value of the record before");
  if (chain_hash(parsed->prev, parsed->canonical) != parsed->chain)
    return break_here("the record does not match its chain value: it was changed");
  ++records_;
  ++expected_seq_;
  expected_prev_ = parsed->chain;
  return true;
}

bool ChainVerifier::feed_unterminated(std::string_view line) {
  if (broken() || parse_line(line)) return feed(line);
  ++line_;
  return start_seq_ ? keep_fragment(line) : true;
}

bool ChainVerifier::finish() {
  if (broken()) return false;
  if (fragment_.empty()) return true;
  line_ = fragment_line_;
  return break_here(
      fmt::format("the last line is cut off after {} bytes: a write was interrupted or the file was cut; "
                  "the next start of the server accounts for it",
                  fragment_.size()));
}

Verification verify_log(const std::string& path, Scope scope) {
  Verification result;
  result.path = path;
  result.segment_mode = scope == Scope::segment;
  struct stat info{};
  result.present = ::stat(path.c_str(), &info) == 0;
  std::vector<std::string> files;
  if (scope == Scope::whole)
    for (const Segment& segment : find_rotated(path)) files.push_back(segment.path);
  if (result.present) files.push_back(path);
  if (!result.present) result.reason = fmt::format("{} is not there", path);
  if (files.empty()) return result;

  ChainVerifier verifier;
  std::string unreadable;
  for (const std::string& file : files) {
    result.path = file;
    if (!feed_file(verifier, file, unreadable)) break;
  }
  if (unreadable.empty()) verifier.finish();
  result.records = verifier.records();
  result.start_seq = verifier.start_seq();
  result.broken_at = verifier.broken_at();
  result.anchored = verifier.anchored();
  const std::string conclusion = unreadable.empty() ? conclude(verifier, result, files.size()) : unreadable;
  if (result.present || verifier.broken() || !unreadable.empty()) result.reason = conclusion;
  result.ok = result.present && result.chain_ok && (result.anchored || result.segment_mode);
  if (!verifier.broken()) result.path = path;
  return result;
}

json::object to_json(const Verification& v) {
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? json::value(*value) : json::value(nullptr);
  };
  return {{"ok", v.ok},
          {"chain_ok", v.chain_ok},
          {"present", v.present},
          {"anchored", v.anchored},
          {"segment_mode", v.segment_mode},
          {"path", v.path},
          {"records", v.records},
          {"start_seq", number(v.start_seq)},
          {"broken_at", number(v.broken_at)},
          {"reason", v.reason}};
}

}  // namespace relay::audit
