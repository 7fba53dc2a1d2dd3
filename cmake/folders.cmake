# A folder under src/ is one static library, its unit tests one program, its fuzz targets one program each.
# Sources are found by name: foo.cc belongs to the library, foo_test.cc to the tests, foo_fuzz.cc is a target.

include(GoogleTest)

# Several sources of a folder are compiled as one: most of a source's time is what it includes and instantiates.
# OFF is better while one edits: a change then compiles one file.
option(RELAY_UNITY "Compile the sources of a folder in batches" ON)
set(RELAY_UNITY_BATCH 8 CACHE STRING "How many sources are a batch")

# relay_compile_in_batches(TARGET): names in anonymous namespaces must differ within a folder.
function(relay_compile_in_batches target)
  if(RELAY_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${RELAY_UNITY_BATCH})
  endif()
endfunction()

# relay_folder(NAME [PCH plain|asio] [TEST_SECONDS n] [LINK targets...] [TEST_LINK targets...]) makes relay_NAME, NAME_test and the fuzz programs.
function(relay_folder name)
  cmake_parse_arguments(arg "" "PCH;TEST_SECONDS" "LINK;TEST_LINK" ${ARGN})
  if(NOT arg_TEST_SECONDS)
    set(arg_TEST_SECONDS 120)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")

  if(sources)
    add_library(relay_${name} STATIC ${sources})
    target_include_directories(relay_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(relay_${name} PUBLIC ${arg_LINK})
    relay_precompile(relay_${name} "${arg_PCH}")
    relay_compile_in_batches(relay_${name})
  else()
    add_library(relay_${name} INTERFACE)
    target_include_directories(relay_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(relay_${name} INTERFACE ${arg_LINK})
  endif()

  if(tests AND RELAY_UNIT_TESTS)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE relay_${name} ${arg_TEST_LINK} GTest::gmock GTest::gtest_main)
    relay_precompile(${name}_test "${arg_PCH}_test")
    relay_compile_in_batches(${name}_test)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${arg_TEST_SECONDS} LABELS unit)
  endif()

  if(RELAY_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      add_executable(${target} ${fuzzer})
      target_link_libraries(${target} PRIVATE relay_${name})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()

# relay_precompiled_header(plain|asio|plain_test|asio_test headers...) makes relay_pch_KIND, which is built when somebody uses it.
function(relay_precompiled_header kind)
  string(REPLACE "_test" "" options ${kind})
  add_library(relay_pch_${kind} STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/pch.cc)
  target_link_libraries(relay_pch_${kind} PUBLIC relay_pch_${options}_options)
  target_precompile_headers(relay_pch_${kind} PRIVATE ${ARGN})
  if(kind MATCHES "_test$")
    target_link_libraries(relay_pch_${kind} PUBLIC GTest::gmock)
  endif()
endfunction()

# relay_precompile(TARGET plain|asio|plain_test|asio_test): the target's files start from that header.
function(relay_precompile target kind)
  if(kind)
    string(REPLACE "_test" "" options ${kind})
    target_precompile_headers(${target} REUSE_FROM relay_pch_${kind})
    target_link_libraries(${target} PRIVATE relay_pch_${options}_options)
  endif()
endfunction()

# relay_only_for(test-programs|bench-programs TARGETS...): built when the tests or the benchmark ask for it, not by `make build`.
# Linked without optimisation across files: each file is finished on its own, and lto-cache keeps it for the next program.
# Test programs are not optimised again either; what the benchmark measures is.
function(relay_only_for purpose)
  if(NOT TARGET ${purpose})
    add_custom_target(${purpose})
  endif()
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(${purpose} ${target})
    if(purpose STREQUAL "test-programs")
      relay_link_quickly(${target})
    elseif(RELAY_LTO)
      target_link_options(${target} PRIVATE -Wl,-mllvm,-import-instr-limit=0)
    endif()
  endforeach()
endfunction()

# For programs whose speed does not matter: link-time optimisation takes longer than the rest of their build.
function(relay_link_quickly target)
  if(RELAY_LTO)
    target_link_options(${target} PRIVATE -Wl,--lto-O0 -Wl,--lto-CGO0)
  endif()
endfunction()

# relay_embed(TARGET NAMESPACE name=file ...) compiles files into the program as `std::string_view name()`.
function(relay_embed target namespace)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cc)
  set(text "#include <string_view>\n\nnamespace ${namespace} {\n")
  foreach(pair ${ARGN})
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 symbol)
    list(GET pair 1 file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} bytes)
    string(APPEND text "std::string_view ${symbol}();\nstd::string_view ${symbol}() {\n  return R\"__relay__(${bytes})__relay__\";\n}\n")
  endforeach()
  string(APPEND text "}  // namespace ${namespace}\n")
  file(CONFIGURE OUTPUT ${out} CONTENT "${text}" @ONLY)
  target_sources(${target} PRIVATE ${out})
endfunction()
