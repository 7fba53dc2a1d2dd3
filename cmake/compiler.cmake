# The compiler, its warnings and the sanitizers: one place for every target.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  message(FATAL_ERROR
    "Relay does not build with GCC ${CMAKE_CXX_COMPILER_VERSION}: before GCC 13 an aggregate "
    "temporary inside a co_await expression is destroyed twice, which corrupts memory at run time. "
    "Use clang 19 (Debian: apt-get install clang-19), or 'make build', which does it for you.")
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers -Wno-gnu-statement-expression)
# Spelled out for libraries and programs alike: a precompiled header serves only files built with the same flags.
add_compile_options(-fPIE)
add_link_options(-fuse-ld=lld -pie -Wl,--as-needed)
# What link-time optimisation made of an object is kept: other programs and the next link take it from there.
set(RELAY_LTO OFF)
if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-flto" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  set(RELAY_LTO ON)
  add_link_options(-Wl,--thinlto-cache-dir=${CMAKE_BINARY_DIR}/lto-cache -Wl,--thinlto-cache-policy=cache_size_bytes=1g)
endif()

# Precompiled headers carry no time stamp, so that ccache can reuse what was built from them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()

set(RELAY_SANITIZE "" CACHE STRING "Sanitizers for the C++ parts: address;undefined, thread, or empty")
if(RELAY_SANITIZE)
  string(REPLACE ";" "," sanitizers "${RELAY_SANITIZE}")
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${sanitizers})
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()
