// Redaction: what is written down about a call never holds a secret.
//
// Text keeps its structure (`password=[REDACTED]`, `://user:[REDACTED]@host`), bare tokens vanish whole.
// Redacting twice gives the same text. The shapes are in secret_shapes.h; docs/formats/audit_log.md lists the
// categories.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "secrets/redactor.h"

namespace relay::policy {

inline constexpr std::string_view kRedacted = "[REDACTED]";

/// Every secret in the text becomes the placeholder. The time is linear in the text, whatever it holds.
/// Nothing is kept between calls, so a stream can be filtered in pieces: cut it at line breaks, but not
/// inside what spans lines (a PEM block, a quoted value, the indented lines of a YAML block).
std::string redact(std::string_view text);

/// For one value of an audit line: scrubs the first 500 characters and 16 KiB beyond, then cuts to 500
/// characters and says how many are missing: "...(+1234)". `known` are the secrets that are known by value,
/// before their shape is looked at; null: none.
std::string redact_for_audit(std::string_view value, const secrets::Redactor* known = nullptr);

/// Appends the value as compact JSON with sorted keys: strings and keys scrubbed and cut, values under a
/// secret's name replaced. Past kAuditArgsBytes the rest is left out, and counted.
void append_redacted_json(std::string& out, const json::value& value,
                          const secrets::Redactor* known = nullptr);

/// The arguments of a program with their secrets replaced: what follows --password, what stands in KEY=value,
/// what looks like a token. References such as ${secret:NAME} tell no secret and stay.
std::vector<std::string> redact_arguments(std::string_view program, const std::vector<std::string>& args);

}  // namespace relay::policy
