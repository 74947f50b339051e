# Language level, warnings, sanitizers, output folders and the compiler cache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# The presets with sanitizers are unity builds, which read each header once per eight files: names local to a .cpp must
# therefore differ within a folder.
set(FP8JIT_SANITIZE "" CACHE STRING "sanitizers for every target, for example address,undefined")

find_program(FP8JIT_CCACHE ccache)
if(FP8JIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FP8JIT_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${FP8JIT_CCACHE})
endif()

add_library(fp8jit_options INTERFACE)
target_compile_options(fp8jit_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  # GCC 12 reports a maybe-uninitialised integer from inside llvm::formatv, also through SYSTEM includes.
  -Wno-maybe-uninitialized)
if(FP8JIT_SANITIZE)
  target_compile_options(fp8jit_options INTERFACE
    -fsanitize=${FP8JIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(fp8jit_options INTERFACE -fsanitize=${FP8JIT_SANITIZE})
endif()
