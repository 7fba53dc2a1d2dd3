// Wheels: what their names say, whether a guest can use them, and their files as they lie in site-packages.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "archive/zip.h"
#include "base/result.h"

namespace relay::packages {

struct WheelName {
  std::string project;  // normalised
  std::string version;
  std::vector<std::string> pythons;    // "py3", "cp314"
  std::vector<std::string> abis;       // "none", "cp314"
  std::vector<std::string> platforms;  // "any", "pyemscripten_2026_0_wasm32"
};

/// "{name}-{version}(-{build})?-{python}-{abi}-{platform}.whl"; an sdist's name is an error that says so.
Result<WheelName> parse_wheel_name(std::string_view file);

std::string normalized_project(std::string_view name);

/// The interpreter that wheels must fit, as its lock file describes it.
struct PythonPlatform {
  std::string version = "3.14";        // "3.14"
  std::string abi_version = "2026_0";  // of the Pyodide ABI
  std::string emscripten = "5_0_3";

  [[nodiscard]] std::string tag() const;                     // "cp314"
  [[nodiscard]] std::vector<std::string> platforms() const;  // newest name first
};

/// Says why a wheel cannot be used: made for another platform, another Python.
Result<void> check_fits(const WheelName& wheel, const PythonPlatform& platform);

/// A wheel must not require another package by address ("name @ https://…", "name @ file:///…"): such an
/// address is chosen by the wheel's author and not by the index or the caller. Pure.
Result<void> check_requirements(std::string_view metadata);

/// Adds the wheel's files under "site-packages/". Scripts and data for other directories are left out.
Result<void> add_wheel(archive::ZipFiles& files, std::string_view wheel_bytes);

}  // namespace relay::packages
