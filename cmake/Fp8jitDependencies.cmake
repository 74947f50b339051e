# Everything that is not ours: LLVM Support, SQLite, zstd, the CUDA headers, GoogleTest, Google Benchmark.
# NVRTC and the CUDA driver are loaded at run time; only their headers are needed here.
find_package(Threads REQUIRED)
find_package(LLVM REQUIRED CONFIG HINTS /usr/lib/llvm-14 /usr/lib/llvm-15 /usr/lib/llvm-16 /usr/lib/llvm-19)
if(LLVM_VERSION_MAJOR LESS 14)
  message(FATAL_ERROR "LLVM ${LLVM_PACKAGE_VERSION} found, 14 or newer expected; run ./dev build")
endif()
find_package(SQLite3 3.37 REQUIRED)
if(PROJECT_IS_TOP_LEVEL)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
endif()
find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)

# The static LLVMSupport, not the shared library: start-up of 0 to 10 ms instead of 40 to 60, and no LLVM options
# in --help. Its SYSTEM interface keeps LLVM's own warnings out of our builds.
add_library(fp8jit_llvm INTERFACE)
target_include_directories(fp8jit_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(FP8JIT_LLVM_DEFINITIONS UNIX_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(fp8jit_llvm INTERFACE ${FP8JIT_LLVM_DEFINITIONS})
target_link_libraries(fp8jit_llvm INTERFACE LLVMSupport)

add_library(fp8jit_sqlite INTERFACE)
target_link_libraries(fp8jit_sqlite INTERFACE SQLite::SQLite3)

add_library(fp8jit_zstd INTERFACE)
target_include_directories(fp8jit_zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIR})
target_link_libraries(fp8jit_zstd INTERFACE ${ZSTD_LIBRARY})

# CUDA headers and NVRTC: a toolkit (CUDA_HOME, /usr/local/cuda), else what `./dev` took from PyPI into build/cuda;
# FP8JIT_CUDA_ROOT names the root of either. A changed root is looked up again, although find_path caches its result.
set(FP8JIT_CUDA_ROOT "" CACHE PATH "folder with include/cuda.h and lib*/libnvrtc.so.*")
if(NOT "${FP8JIT_CUDA_ROOT}" STREQUAL "${FP8JIT_CUDA_ROOT_USED}")
  unset(FP8JIT_CUDA_INCLUDE_DIR CACHE)
endif()
if(FP8JIT_CUDA_ROOT)
  find_path(FP8JIT_CUDA_INCLUDE_DIR cuda.h PATHS ${FP8JIT_CUDA_ROOT}/include NO_DEFAULT_PATH REQUIRED)
else()
  find_path(FP8JIT_CUDA_INCLUDE_DIR cuda.h
    HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include
    PATHS ${PROJECT_SOURCE_DIR}/build/cuda/nvidia/cu13/include REQUIRED)
endif()
set(FP8JIT_CUDA_ROOT_USED "${FP8JIT_CUDA_ROOT}" CACHE INTERNAL "the root of FP8JIT_CUDA_INCLUDE_DIR")
get_filename_component(FP8JIT_CUDA_PREFIX ${FP8JIT_CUDA_INCLUDE_DIR} DIRECTORY)
add_library(fp8jit_cuda_headers INTERFACE)
target_include_directories(fp8jit_cuda_headers SYSTEM INTERFACE ${FP8JIT_CUDA_INCLUDE_DIR})

# The Python of the script tests: it needs numpy and ml_dtypes, so it is the environment that `./dev` makes and no
# other. Without it those tests are left out.
set(FP8JIT_PYTHON "" CACHE FILEPATH "python with numpy and ml_dtypes")
if(NOT FP8JIT_PYTHON AND EXISTS ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
  set(FP8JIT_PYTHON ${PROJECT_SOURCE_DIR}/build/venv/bin/python CACHE FILEPATH "" FORCE)
endif()
if(NOT FP8JIT_PYTHON AND PROJECT_IS_TOP_LEVEL)
  message(STATUS "no FP8JIT_PYTHON: script tests are left out (./dev build makes one)")
endif()
