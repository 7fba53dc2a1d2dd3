// How a record is spelled on disk: JSON lines (with or without the chain), CEF or LEEF for collectors that
// want those.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audit/record.h"

namespace relay::audit {

enum class LogFormat : std::uint8_t { jsonl, cef, leef };

std::optional<LogFormat> find_format(std::string_view name);

/// Each appends one line with its newline, members sorted by key.
void append_plain(std::string& out, const Record& record);
void append_cef(std::string& out, const Record& record);
void append_leef(std::string& out, const Record& record);

}  // namespace relay::audit
