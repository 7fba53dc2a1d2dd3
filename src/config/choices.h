// The choices that a configuration makes by a word, as enumerations. The words are those of the schema, in
// the order of the enumerators.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.h"

namespace relay::config {

enum class ScriptLanguage : std::uint8_t { js, py };
enum class AuditFormat : std::uint8_t { jsonl, cef, leef };
enum class AuditFailure : std::uint8_t { refuse, degrade };
enum class WallsChoice : std::uint8_t { full, reduced };
enum class WorkspaceChoice : std::uint8_t { shared, session };
enum class PrefixChoice : std::uint8_t { always, none };
enum class AuthMode : std::uint8_t { none, token };
enum class LogStyle : std::uint8_t { automatic, json, text };

/// Where control groups are made: below Relay's own, nowhere, or in a directory.
struct CgroupChoice {
  enum class Place : std::uint8_t { automatic, off, directory } place = Place::automatic;
  std::string directory = {};  // set for Place::directory
};

/// As the configuration spells it.
inline std::string text_of(const CgroupChoice& choice) {
  switch (choice.place) {
    case CgroupChoice::Place::automatic: return "auto";
    case CgroupChoice::Place::off: return "off";
    case CgroupChoice::Place::directory: return choice.directory;
  }
  return "auto";
}

template <class Choice>
inline constexpr std::array<std::string_view, 0> kWords{};
template <>
inline constexpr std::array<std::string_view, 2> kWords<ScriptLanguage>{"js", "py"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<AuditFormat>{"jsonl", "cef", "leef"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<AuditFailure>{"refuse", "degrade"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<WallsChoice>{"full", "reduced"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<WorkspaceChoice>{"shared", "session"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<PrefixChoice>{"always", "none"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<AuthMode>{"none", "token"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<LogStyle>{"auto", "json", "text"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<LogLevel>{"debug", "info", "warn", "error"};

/// The schema's word for a choice.
template <class Choice>
constexpr std::string_view word_of(Choice choice) {
  return kWords<Choice>[static_cast<std::size_t>(choice)];
}

/// The choice of a word that the schema has accepted.
template <class Choice>
constexpr Choice choice_of(std::string_view word) {
  std::size_t at = 0;
  while (at + 1 < kWords<Choice>.size() && kWords<Choice>[at] != word) ++at;
  return static_cast<Choice>(at);
}

}  // namespace relay::config
