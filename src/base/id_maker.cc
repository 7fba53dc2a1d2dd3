#include "base/id_maker.h"

#include <algorithm>
#include <array>

namespace relay {
namespace {

constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::size_t kNodeCharacters = 4;
constexpr char kEndOfNode = '-';

}  // namespace

IdMaker::IdMaker(RandomSource& random, std::string_view node)
    : random_(&random), prefix_(std::string(node) + kEndOfNode) {}

std::string IdMaker::make(std::string_view kind, std::size_t bytes) const {
  return make_id(*random_, std::string(kind) + prefix_, bytes);
}

std::string IdMaker::make_secret(std::size_t bytes) const {
  return prefix_ + make_token(*random_, bytes);
}

std::string make_node(RandomSource& random) {
  std::array<std::byte, kNodeCharacters> bytes{};
  random.fill(bytes);
  std::string node;
  for (const std::byte byte : bytes) node += kBase32[std::to_integer<std::size_t>(byte) % kBase32.size()];
  return node;
}

bool is_node(std::string_view text) {
  return !text.empty() && text.size() <= kNodeBytes &&
         text.find_first_not_of(kBase32) == std::string_view::npos;
}

std::string_view find_node(std::string_view id) {
  const std::string_view head = id.substr(0, std::min(id.find(kEndOfNode), id.size()));
  if (head.size() == id.size()) return {};
  const std::size_t kind = head.rfind('_');
  const std::string_view node = kind == std::string_view::npos ? head : head.substr(kind + 1);
  return is_node(node) ? node : std::string_view();
}

}  // namespace relay
