#include "audit/chain.h"

#include <algorithm>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/digest.h"

namespace relay::audit {
namespace {

struct Piece {
  std::uint64_t first;  // the first bytes of the key as a number: most keys differ there
  std::string_view key;
  std::string_view text;

  Piece() = default;
  Piece(std::string_view name, std::string_view member) : first(0), key(name), text(member) {
    for (std::size_t i = 0; i < 8; ++i)
      first = first << 8U | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0U);
  }
  bool operator<(const Piece& other) const {
    return first != other.first ? first < other.first : key < other.key;
  }
};

std::string canonical_text(const Record& record, std::string_view seq, std::string_view prev) {
  std::array<Piece, 24> pieces;
  std::size_t count = 0;
  for (const Record::Member& member : record.members())
    pieces[count++] = {record.key(member), record.member_text(member)};
  pieces[count++] = {"seq", seq};
  pieces[count++] = {"prev", prev};
  std::sort(pieces.begin(), pieces.begin() + count);
  std::string out;
  out.reserve(record.text().size() + seq.size() + prev.size() + 8);
  out += '{';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    out += pieces[i].text;
  }
  out += '}';
  return out;
}

}  // namespace

std::string chain_hash(std::string_view prev, std::string_view canonical) {
  Sha256Stream stream;
  stream.update(prev);
  stream.update(canonical);
  return to_hex(stream.finish());
}

void append_chained(std::string& out, const Record& record, ChainPoint& point) {
  const std::string seq = fmt::format(FMT_COMPILE("\"seq\":{}"), point.seq);
  const std::string prev = fmt::format(FMT_COMPILE("\"prev\":\"{}\""), point.prev);
  std::string chain = chain_hash(point.prev, canonical_text(record, seq, prev));
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{{{},{},{},\"chain\":\"{}\"}}\n"), record.text(), seq,
                 prev, chain);
  point.prev = std::move(chain);
  ++point.seq;
}

}  // namespace relay::audit
