// What the native probe tries: one function for each thing that a run must not be able to do.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace relay::hostile {

/// Says how it went: "refused ENOENT", "ok 3". The kernel may end the process instead.
using Attempt = std::function<std::string()>;

const std::map<std::string, Attempt>& attempts();

}  // namespace relay::hostile
