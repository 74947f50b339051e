// A driver that runs nothing: a DriverApi table whose functions record what they are asked and fail
// when told to. Main entry: FakeDriver.
#pragma once

#include "runtime/device.h"
#include "runtime/driver/driver.h"
#include "templates/shared/gemm_config.h"
#include "templates/shared/quant_config.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fp8jit::testing {

struct FakeLaunch {
  std::string entry;
  unsigned grid = 0, block = 0, smemBytes = 0;
  void *stream = nullptr;
  GemmParams gemm{};   ///< of entries named *gemm*
  QuantParams quant{}; ///< of the others
};

/// What the machine looks like and how it misbehaves. One per process, because driver functions
/// carry no context; tests of one program run one after the other and start with reset().
struct FakeDriver {
  CUresult initResult = CUDA_SUCCESS;
  int driverVersion = 13000;
  int deviceCount = 1;
  std::string deviceName = "NVIDIA L40S";
  int computeMajor = 8, computeMinor = 9;
  bool isEmulator = false;
  std::uint64_t emulatorTableBytes = sizeof(EmulatorTable);
  std::string emulatorReport;

  /// Results of loading a cubin, a PTX of version 9.0, and a PTX of another version.
  CUresult cubinResult = CUDA_SUCCESS, ptxResult = CUDA_SUCCESS, loweredPtxResult = CUDA_SUCCESS;
  CUresult launchResult = CUDA_SUCCESS;
  CUresult allocResult = CUDA_SUCCESS;
  CUstreamCaptureStatus captureStatus = CU_STREAM_CAPTURE_STATUS_NONE;
  /// Whether launches are written down; off where their cost is measured.
  bool doesRecord = true;

  std::mutex mutex; ///< guards the two below
  std::vector<FakeLaunch> launches;
  std::vector<std::string> images; ///< what was given to cuLibraryLoadData, in order
  std::atomic<int> allocations = 0;
  std::atomic<int> pairedBinaries = 0;
  std::atomic<int> liveLibraries = 0;

  static FakeDriver &instance();
  /// Back to a healthy L40S without any record.
  static FakeDriver &reset();
  static DriverApi table();
  /// A device on this driver, opened as "cuda:0" or "emulator:sm_89".
  static std::shared_ptr<Device> openDevice();
  /// The context current in the calling thread; contexts 1 (primary) to 3 (of device 1) exist.
  static CUcontext context(std::uintptr_t number);
  static void setCurrent(CUcontext context);
  static CUcontext current();
};

} // namespace fp8jit::testing
