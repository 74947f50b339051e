// The profiler's part of the driver interface, all of it refused. A toolkit declares it in
// cudaProfiler.h, but the CUDA packages of PyPI come without that file. Input of
// generate_entry_points.py.
#pragma once

#include <cuda.h>

extern "C" {
/// `outputMode` is CUoutput_mode, an enumeration of cudaProfiler.h.
CUresult CUDAAPI cuProfilerInitialize(const char *configFile, const char *outputFile,
                                      int outputMode);
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);
}
