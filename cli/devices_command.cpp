// fp8jit devices: what can run here, and why not.
#include "cli/commands.h"
#include "runtime/device.h"

#include <algorithm>

namespace fp8jit {

static void addListing(const DeviceListing &listing, std::size_t nameWidth, std::string &text) {
  text += padRight(listing.name, nameWidth + 2);
  text += listing.isAvailable ? listing.deviceName + ", " + listing.arch
                              : "not available: " + listing.reason;
  text += listing.isAvailable && listing.isEmulated ? ", times are modelled\n" : "\n";
}

static llvm::Expected<int> runDevices(const Arguments &, Console &console) {
  const std::vector<DeviceListing> listings = listDevices();
  std::size_t nameWidth = 0;
  for (const DeviceListing &listing : listings) {
    nameWidth = std::max(nameWidth, listing.name.size());
  }
  std::string text;
  for (const DeviceListing &listing : listings) {
    if (!console.isJson()) {
      addListing(listing, nameWidth, text);
      continue;
    }
    JsonObject object;
    object.addText("device", listing.name)
        .addText("name", listing.deviceName)
        .addText("arch", listing.arch)
        .addBool("available", listing.isAvailable)
        .addBool("emulated", listing.isEmulated)
        .addText("reason", listing.reason);
    console.printLine(object);
  }
  console.print(text);
  return 0;
}

Command devicesCommand() {
  static const CommandSpec kSpec = {
      .name = "devices",
      .operand = "",
      .isOperandRequired = false,
      .summary = "lists what can run here, and why not",
      .flags = {},
      .example = "fp8jit devices",
  };
  return {&kSpec, runDevices};
}

} // namespace fp8jit
