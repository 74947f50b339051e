// A bounds-checked reader of the few ELF structures that name a kernel's resources.
#include "emulator/abi/cubin.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <vector>

namespace fp8jit::emulator {
namespace {

constexpr std::uint16_t kMachineCuda = 190;
constexpr std::uint8_t kRegisterCount = 0x2f; // attribute ids
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kFormatSized = 4; // {format, id, u16 size, size bytes}
constexpr std::uint32_t kReservedSharedSm90 = 1024;

struct Section {
  std::string_view name, data;
  Elf64_Shdr header{};
};

} // namespace

/// Copies a structure from `bytes` at `offset`; false if it does not lie inside.
template <typename T>
static bool readAt(std::string_view bytes, std::uint64_t offset, T &value) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) {
    return false;
  }
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

static std::string_view stringAt(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) {
    return {};
  }
  return table.substr(offset, table.find('\0', offset) - offset);
}

static std::vector<Section> readSections(std::string_view bytes, const Elf64_Ehdr &file) {
  std::vector<Section> sections(file.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Elf64_Shdr &header = sections[i].header;
    if (!readAt(bytes, file.e_shoff + i * sizeof(Elf64_Shdr), header)) {
      return {};
    }
    const bool hasData = header.sh_type != SHT_NOBITS;
    if (hasData && header.sh_offset <= bytes.size() &&
        header.sh_size <= bytes.size() - header.sh_offset) {
      sections[i].data = bytes.substr(header.sh_offset, header.sh_size);
    }
  }
  if (file.e_shstrndx < sections.size()) {
    const std::string_view names = sections[file.e_shstrndx].data;
    for (Section &section : sections) {
      section.name = stringAt(names, section.header.sh_name);
    }
  }
  return sections;
}

/// The names of all symbols, by symbol index.
static std::vector<std::string_view> readSymbols(const std::vector<Section> &sections) {
  std::vector<std::string_view> names;
  for (const Section &section : sections) {
    if (section.header.sh_type != SHT_SYMTAB || section.header.sh_link >= sections.size()) {
      continue;
    }
    Elf64_Sym symbol{};
    for (std::uint64_t at = 0; readAt(section.data, at, symbol); at += sizeof symbol) {
      names.push_back(stringAt(sections[section.header.sh_link].data, symbol.st_name));
    }
  }
  return names;
}

/// Reads the (symbol, value) records of ".nv.info".
static void readAttributes(std::string_view data, const std::vector<std::string_view> &symbols,
                           Cubin &cubin) {
  struct RecordHead {
    std::uint8_t format, id;
    std::uint16_t size; ///< or the value itself in the short formats
  } head{};
  for (std::uint64_t at = 0; readAt(data, at, head);) {
    std::uint32_t symbol = 0;
    std::uint32_t value = 0;
    const bool isPair = head.format == kFormatSized && readAt(data, at + sizeof head, symbol) &&
                        readAt(data, at + sizeof head + sizeof symbol, value) &&
                        symbol < symbols.size();
    if (isPair && head.id == kRegisterCount) {
      cubin.kernels[std::string(symbols[symbol])].registers = value;
    } else if (isPair && head.id == kFrameSize) {
      cubin.kernels[std::string(symbols[symbol])].frameBytes = value;
    }
    at += sizeof head + (head.format == kFormatSized ? head.size : 0);
  }
}

std::size_t elfSize(const void *image) {
  Elf64_Ehdr file;
  std::memcpy(&file, image, sizeof file);
  const bool isPlausible = file.e_ident[EI_CLASS] == ELFCLASS64 && file.e_machine == kMachineCuda &&
                           file.e_shentsize == sizeof(Elf64_Shdr) && file.e_ehsize == sizeof file;
  if (!isPlausible) {
    return 0;
  }
  std::uint64_t end = std::max(file.e_shoff + std::uint64_t{file.e_shnum} * sizeof(Elf64_Shdr),
                               file.e_phoff + std::uint64_t{file.e_phnum} * sizeof(Elf64_Phdr));
  for (std::size_t i = 0; i < file.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, static_cast<const char *>(image) + file.e_shoff + i * sizeof(Elf64_Shdr),
                sizeof section);
    if (section.sh_type != SHT_NOBITS) {
      end = std::max(end, section.sh_offset + section.sh_size);
    }
  }
  return end;
}

std::optional<Cubin> readCubin(std::string_view bytes) {
  Elf64_Ehdr file{};
  if (!readAt(bytes, 0, file) || std::memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 ||
      file.e_machine != kMachineCuda) {
    return std::nullopt;
  }
  Cubin cubin;
  cubin.smNumber = static_cast<int>((file.e_flags >> 8) & 0xff);
  const std::vector<Section> sections = readSections(bytes, file);
  const std::vector<std::string_view> symbols = readSymbols(sections);
  for (const Section &section : sections) {
    if (section.name == ".nv.info") {
      readAttributes(section.data, symbols, cubin);
    }
  }
  constexpr std::string_view kSharedPrefix = ".nv.shared.";
  for (const Section &section : sections) {
    const bool isShared =
        section.name.starts_with(kSharedPrefix) && !section.name.starts_with(".nv.shared.reserved");
    if (isShared) {
      const std::uint32_t reserved = cubin.smNumber >= 90 ? kReservedSharedSm90 : 0;
      const auto size = static_cast<std::uint32_t>(section.header.sh_size);
      cubin.kernels[std::string(section.name.substr(kSharedPrefix.size()))].staticSharedBytes =
          size - std::min(size, reserved);
    }
  }
  return sections.empty() ? std::nullopt : std::optional(std::move(cubin));
}

} // namespace fp8jit::emulator
