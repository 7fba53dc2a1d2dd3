// The texts of a ServerSpec in which references may stand, under names for people: "env.TOKEN", "args[2]",
// "endpoint", "headers.Authorization". Pure.
#pragma once

#include <map>
#include <string>

#include "upstream/server_spec.h"

namespace relay::upstream {

using SpecTexts = std::map<std::string, std::string>;

SpecTexts texts_of(const ServerSpec& spec);
/// The spec with the texts in their places. Precondition: they have the names that texts_of gave them.
ServerSpec with_texts(ServerSpec spec, const SpecTexts& texts);

}  // namespace relay::upstream
