# fp8jit_include_root(TARGET SCOPE FOLDER): lets TARGET write #include "FOLDER/file.h". Each folder gets an include
# root of its own holding nothing but a link to it, so that only what is named in DEPS can be included.
function(fp8jit_include_root target scope folder)
  string(REPLACE "/" "." name ${folder}) # flat, so that the root of emulator/ptx does not lie in that of emulator
  set(root ${PROJECT_BINARY_DIR}/include-roots/${name})
  cmake_path(GET folder PARENT_PATH parent)
  file(MAKE_DIRECTORY ${root}/${parent})
  if(NOT EXISTS ${root}/${folder})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${root}/${folder} SYMBOLIC)
  endif()
  target_include_directories(${target} ${scope} ${root})
endfunction()

# fp8jit_library(NAME SOURCES ... DEPS ...): the static library of one folder. Dependencies are PRIVATE: what a
# folder includes, itself or through a header, it must name itself.
function(fp8jit_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  fp8jit_include_root(${name} PUBLIC ${folder})
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include)
    target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
  endif()
  target_link_libraries(${name} PRIVATE fp8jit_options ${ARG_DEPS})
endfunction()

add_custom_target(unit_tests) # every program with tests of label unit: what the sanitizer runs need

# fp8jit_test(NAME LABELS unit SOURCES ... DEPS ...): a GoogleTest program whose tests carry the given labels.
function(fp8jit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  fp8jit_include_root(${name} PRIVATE tests)
  target_link_libraries(${name} PRIVATE fp8jit_options ${ARG_DEPS} GTest::gtest_main GTest::gmock)
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${ARG_LABELS}")
  if("unit" IN_LIST ARG_LABELS)
    add_dependencies(unit_tests ${name})
  endif()
endfunction()

# fp8jit_script_test(NAME LABELS emu [TIMEOUT SECONDS] SCRIPT file.py ARGS ...): a Python script as one test; it fails by
# its exit status. Left out where there is no FP8JIT_PYTHON.
function(fp8jit_script_test name)
  cmake_parse_arguments(ARG "" "SCRIPT;TIMEOUT" "ARGS;LABELS" ${ARGN})
  if(NOT FP8JIT_PYTHON)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${FP8JIT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SCRIPT} ${ARG_ARGS}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  if(ARG_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()

# fp8jit_benchmark(NAME SOURCES ... DEPS ...): a Google Benchmark program; never part of a test run.
function(fp8jit_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  fp8jit_include_root(${name} PRIVATE bench)
  target_link_libraries(${name} PRIVATE fp8jit_options ${ARG_DEPS} benchmark::benchmark)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/bench)
endfunction()
