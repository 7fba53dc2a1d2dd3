#include "authority/arguments.h"

#include <optional>

namespace relay::authority {

struct Arguments::State {
  json::value tree;
  std::shared_ptr<const std::string>
      source;                            // the text, or the message that it is part of; null: not written yet
  std::optional<std::string_view> text;  // into source
};

namespace {

std::string_view cut_from(std::string_view message) {
  const auto params = json::find_text(message, "params");
  return params ? json::find_text(*params, "arguments").value_or("{}") : "{}";
}

}  // namespace

Arguments::Arguments() : Arguments(json::object()) {}

Arguments::Arguments(json::object tree)
    : state_(std::make_shared<State>(json::value(std::move(tree)), nullptr, std::nullopt)) {}

Result<Arguments> Arguments::parse(std::string text) {
  RELAY_TRY(json::value tree, json::parse(text));
  if (!tree.is_object()) return fail(invalid("arguments must be an object"));
  if (!json::names_members_once(text, tree)) return fail(invalid("an object names the same member twice"));
  auto source = std::make_shared<const std::string>(std::move(text));
  const std::string_view whole = *source;
  return Arguments(std::make_shared<State>(std::move(tree), std::move(source), whole));
}

Arguments Arguments::of_message(std::shared_ptr<const std::string> message, json::object tree) {
  return Arguments(std::make_shared<State>(json::value(std::move(tree)), std::move(message), std::nullopt));
}

std::string_view Arguments::text() const {
  State& state = *state_;
  if (state.text) return *state.text;
  if (state.source) {
    state.text = cut_from(*state.source);
  } else {
    state.source = std::make_shared<const std::string>(json::write(state.tree));
    state.text = *state.source;
  }
  return *state.text;
}

const json::object& Arguments::object() const {
  return state_->tree.get_object();
}

const json::value& Arguments::value() const {
  return state_->tree;
}

}  // namespace relay::authority
