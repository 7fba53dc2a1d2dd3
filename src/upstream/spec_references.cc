#include "upstream/spec_references.h"

#include <fmt/format.h>

namespace relay::upstream {
namespace {

std::string argument_name(std::size_t index) {
  return fmt::format("args[{}]", index);
}

}  // namespace

SpecTexts texts_of(const ServerSpec& spec) {
  SpecTexts texts{{"endpoint", spec.endpoint}};
  for (std::size_t i = 0; i < spec.args.size(); ++i) texts.emplace(argument_name(i), spec.args[i]);
  for (const auto& [name, value] : spec.env) texts.emplace("env." + name, value);
  for (const auto& [name, value] : spec.headers) texts.emplace("headers." + name, value);
  return texts;
}

ServerSpec with_texts(ServerSpec spec, const SpecTexts& texts) {
  spec.endpoint = texts.at("endpoint");
  for (std::size_t i = 0; i < spec.args.size(); ++i) spec.args[i] = texts.at(argument_name(i));
  for (auto& [name, value] : spec.env) value = texts.at("env." + name);
  for (auto& [name, value] : spec.headers) value = texts.at("headers." + name);
  return spec;
}

}  // namespace relay::upstream
