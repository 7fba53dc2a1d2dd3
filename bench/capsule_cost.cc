// What a capsule of plain code costs, in microseconds: building it (new code each time, and the same again),
// verifying it, and finding a layer of dependencies that is in memory. Prints one JSON line.
#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "base/digest.h"
#include "capsule/builder.h"

namespace {

using namespace relay::capsule;

template <class Work>
double microseconds_each(int times, Work work) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) work(i);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / times;
}

}  // namespace

int main() {
  const auto keys = std::make_shared<const KeyRing>(*KeyRing::in_memory());
  CapsuleBuilder builder(keys, {});
  const std::string padding(2000, ' ');
  const relay::json::object policy{
      {"network", relay::json::object{{"allowedDomains", relay::json::array{"*.example.org"}}}},
      {"limits", relay::json::object{{"timeoutMs", 60000}}}};
  const auto build = [&](const std::string& code) {
    return *builder.build({.code = code, .policy = policy});
  };
  constexpr int kTimes = 2000;
  const double fresh =
      microseconds_each(kTimes, [&](int i) { build(fmt::format("console.log({}){}", i, padding)); });
  const double again = microseconds_each(kTimes, [&](int) { build("console.log(1)" + padding); });
  const Capsule capsule = build("console.log(1)" + padding);
  const double signing = microseconds_each(
      kTimes, [&](int) { sign_jws(keys->current(), relay::kCapsuleJwsType, capsule.text); });
  const double verifying = microseconds_each(kTimes, [&](int) { (void)verify(*keys, capsule).has_value(); });
  fmt::print("{{\"buildNewUs\":{:.1f},\"buildAgainUs\":{:.1f},\"signUs\":{:.1f},\"verifyUs\":{:.1f}}}\n",
             fresh, again, signing, verifying);
  return 0;
}
