// The lock file of the Pyodide distribution: which packages it has, for which interpreter, with which hashes.
// Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "packages/wheel.h"

namespace relay::packages {

struct LockedPackage {
  std::string project;  // normalised
  std::string version;
  std::string file;
  std::string sha256;
  std::vector<std::string> depends;  // normalised
};

struct PyodideLock {
  PythonPlatform platform;
  std::map<std::string, LockedPackage>
      packages;  // wheels only: the parts of the standard library are in the runtime
};

Result<PyodideLock> parse_pyodide_lock(std::string_view text);

/// The constraints that bind pip to the distribution: every package with compiled code, at its place in the
/// mirror, with its hash. Pure packages stay free, so that a request for another version of one can be met.
/// `mirror` is an http(s) address or an absolute directory.
std::string constraints_for(const PyodideLock& lock, std::string_view mirror);

/// Which of the requirements only a mirror can meet, and what to do about it; empty where there is none.
std::string mirror_advice(const PyodideLock& lock, const std::vector<std::string>& requirements);

}  // namespace relay::packages
