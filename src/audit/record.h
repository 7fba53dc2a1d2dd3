// Record: one line of the audit log before it joins the chain. docs/formats/audit_log.md defines every byte.
//
// The members are serialised once, on the loop, in the order of the file. The writer thread adds seq, prev
// and chain, and hashes the same bytes in sorted order: it only rearranges pieces, nothing is written twice.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "authority/grant.h"
#include "authority/outcome.h"
#include "base/clock.h"
#include "secrets/redactor.h"

namespace relay::audit {

class Record {
 public:
  Record() { text_.reserve(512); }

  /// Keys are unique, plain ASCII and not seq, prev or chain.
  void add_text(std::string_view key, std::string_view value);
  void add_number(std::string_view key, std::int64_t value);
  void add_flag(std::string_view key, bool value);
  /// Compact JSON with sorted keys.
  void add_json(std::string_view key, std::string_view json);

  /// `"ts":"...","tool":"..."`: all members in file order, no braces.
  [[nodiscard]] const std::string& text() const { return text_; }

  struct Member {
    std::uint32_t begin;      // of the opening quote of the key
    std::uint32_t key_bytes;  // without quotes
    std::uint32_t end;        // behind the value
  };
  [[nodiscard]] std::span<const Member> members() const { return {members_.data(), count_}; }
  [[nodiscard]] std::string_view key(const Member& member) const {
    return std::string_view(text_).substr(member.begin + 1, member.key_bytes);
  }
  /// `"key":value`.
  [[nodiscard]] std::string_view member_text(const Member& member) const {
    return std::string_view(text_).substr(member.begin, member.end - member.begin);
  }

 private:
  friend Record make_record(WallTime, const authority::Call&, authority::Tier, const authority::Outcome&,
                            const secrets::Redactor*);
  static constexpr std::size_t kMembersMax = 20;
  void begin_member(std::string_view key);
  void end_member();

  std::string text_;
  std::array<Member, kMembersMax> members_;
  std::size_t count_ = 0;
};

// `known` are the secrets that are known by value; null: none. Others are found by their shape.

/// The line that says that something of tier 2 or above is about to run.
Record make_begin(WallTime time, const authority::Grant& grant, const secrets::Redactor* known = nullptr);
/// The line that says how a call ended, and how long it took. One per call, whatever happened to it.
Record make_end(WallTime time, const authority::Call& call, const authority::Decision& decision,
                const authority::Outcome& outcome, std::chrono::microseconds took,
                const secrets::Redactor* known = nullptr);
/// A line that is about no call, tier 0: of the journal about itself (tool "audit": "start", "recovered",
/// "lost"), of a reload (tool "config"), of the operator's answers (tool "approvals").
Record make_event(WallTime time, std::string_view action, std::string_view args_json,
                  std::string_view tool = "audit");

}  // namespace relay::audit
