#include "support/safetensors.h"

#include "support/error.h"
#include "support/files.h"
#include "support/json_value.h"
#include "support/quote.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <array>

namespace fp8jit {

static constexpr std::int64_t kLengthBytes = 8;
/// The limit of the format's own reader.
static constexpr std::int64_t kLongestHeader = 100'000'000;
static constexpr std::size_t kMostNamesInMessage = 5;

namespace {

/// One entry of the header.
struct TensorEntry {
  std::string name;
  std::string dtype;
  TensorDims dims;
  std::int64_t begin = 0, end = 0; ///< in the data, which follows the header
};

struct SafetensorsHeader {
  std::vector<TensorEntry> entries;
  std::int64_t dataOffset = 0, dataBytes = 0;
};

/// An element type of the format.
struct DTypeRow {
  llvm::StringRef name;
  std::int64_t bytes;
  std::optional<ElementType> type; ///< nothing: known, but not read here
};

const std::array<DTypeRow, 17> kDTypes = {{
    {"F32", 4, ElementType::F32},
    {"F16", 2, ElementType::F16},
    {"BF16", 2, ElementType::BF16},
    {"U16", 2, ElementType::BF16},
    {"U8", 1, ElementType::U8},
    {"I32", 4, ElementType::Int32},
    {"F8_E4M3", 1, ElementType::E4M3},
    {"F8_E5M2", 1, ElementType::E5M2},
    {"F8_E8M0", 1, ElementType::E8M0},
    {"F64", 8, std::nullopt},
    {"I64", 8, std::nullopt},
    {"U64", 8, std::nullopt},
    {"U32", 4, std::nullopt},
    {"I16", 2, std::nullopt},
    {"I8", 1, std::nullopt},
    {"BOOL", 1, std::nullopt},
    {"C64", 8, std::nullopt},
}};

} // namespace

static llvm::Error bad(const llvm::Twine &message) {
  return fail(ErrorCode::InvalidArgument, message);
}

static const DTypeRow *findDType(llvm::StringRef name) {
  const auto *row = llvm::find_if(kDTypes, [&](const DTypeRow &each) { return each.name == name; });
  return row == kDTypes.end() ? nullptr : row;
}

/// Elements of a shape times `elementSize`, or nothing when it does not fit.
static std::optional<std::int64_t> sizeOf(llvm::ArrayRef<std::int64_t> dims,
                                          std::int64_t elementSize) {
  const std::optional<std::int64_t> count = tensorBytes(ElementType::U8, dims);
  if (!count || *count > (std::int64_t{1} << 60) / elementSize) {
    return std::nullopt;
  }
  return *count * elementSize;
}

static llvm::Expected<TensorEntry> readEntry(llvm::StringRef name, const JsonValue &value) {
  const std::string who = "tensor " + quoteText(name);
  const JsonValue *dtype = value.find("dtype");
  const JsonValue *shape = value.find("shape");
  const JsonValue *offsets = value.find("data_offsets");
  if (value.members.size() != 3 || dtype == nullptr || shape == nullptr || offsets == nullptr) {
    return bad(who + ": expected exactly dtype, shape and data_offsets");
  }
  TensorEntry entry{.name = name.str(), .dtype = dtype->text, .dims = {}};
  if (dtype->kind != JsonValue::Kind::Text || shape->kind != JsonValue::Kind::Array) {
    return bad(who + ": expected a text as dtype and a list as shape");
  }
  for (const JsonValue &item : shape->items) {
    const std::optional<std::int64_t> dim = item.asIndex();
    if (!dim) {
      return bad(who + ": shape holds something that is no size below 2^63");
    }
    entry.dims.push_back(*dim);
  }
  const std::optional<std::int64_t> begin =
      offsets->items.size() == 2 ? offsets->items[0].asIndex() : std::nullopt;
  const std::optional<std::int64_t> end =
      offsets->items.size() == 2 ? offsets->items[1].asIndex() : std::nullopt;
  if (!begin || !end || *begin > *end) {
    return bad(who + ": data_offsets is not [begin, end] with begin <= end");
  }
  entry.begin = *begin;
  entry.end = *end;
  if (const DTypeRow *row = findDType(entry.dtype)) {
    const std::optional<std::int64_t> expected = sizeOf(entry.dims, row->bytes);
    if (!expected || *expected != entry.end - entry.begin) {
      return bad(who + ": data_offsets span " + llvm::Twine(entry.end - entry.begin) +
                 " bytes, expected " + (expected ? std::to_string(*expected) : "more than 2^60") +
                 " for " + entry.dtype + " " + printDims(entry.dims));
    }
  }
  return entry;
}

/// The data must be covered without holes, overlaps or rest.
static llvm::Error checkCoverage(const SafetensorsHeader &header) {
  std::vector<const TensorEntry *> sorted;
  for (const TensorEntry &entry : header.entries) {
    sorted.push_back(&entry);
  }
  llvm::sort(sorted, [](const TensorEntry *left, const TensorEntry *right) {
    return std::pair(left->begin, left->end) < std::pair(right->begin, right->end);
  });
  std::int64_t covered = 0;
  for (const TensorEntry *entry : sorted) {
    const std::string who = "tensor " + quoteText(entry->name);
    if (entry->end > header.dataBytes) {
      return bad(who + ": ends at byte " + llvm::Twine(entry->end) + " of the data, which has " +
                 llvm::Twine(header.dataBytes));
    }
    if (entry->begin != covered) {
      return bad(who + ": begins at byte " + llvm::Twine(entry->begin) + ", expected " +
                 llvm::Twine(covered) +
                 (entry->begin < covered ? " (it overlaps another tensor)" : " (there is a hole)"));
    }
    covered = entry->end;
  }
  if (covered != header.dataBytes) {
    return bad("the tensors cover " + llvm::Twine(covered) + " bytes of data, found " +
               llvm::Twine(header.dataBytes));
  }
  return llvm::Error::success();
}

static llvm::Expected<JsonValue> readHeaderJson(llvm::StringRef path, std::int64_t size,
                                                std::int64_t &dataOffset) {
  if (size < kLengthBytes) {
    return bad("truncated: found " + llvm::Twine(size) + " bytes, expected 8 of header length");
  }
  llvm::Expected<std::string> lengthText = readFileRange(path, 0, kLengthBytes);
  if (!lengthText) {
    return lengthText.takeError();
  }
  const std::uint64_t length = llvm::support::endian::read64le(lengthText->data());
  if (length > static_cast<std::uint64_t>(kLongestHeader)) {
    return bad("header length: found " + llvm::Twine(length) + ", expected at most " +
               llvm::Twine(kLongestHeader));
  }
  dataOffset = kLengthBytes + static_cast<std::int64_t>(length);
  if (dataOffset > size) {
    return bad("truncated: found " + llvm::Twine(size) + " bytes, expected a header of " +
               llvm::Twine(length) + " after byte 8");
  }
  llvm::Expected<std::string> text =
      readFileRange(path, kLengthBytes, static_cast<std::int64_t>(length));
  if (!text) {
    return text.takeError();
  }
  return parseJson(*text);
}

static llvm::Expected<SafetensorsHeader> readHeader(llvm::StringRef path, std::int64_t size) {
  SafetensorsHeader header;
  llvm::Expected<JsonValue> json = readHeaderJson(path, size, header.dataOffset);
  if (!json) {
    return addContext(json.takeError(), "header");
  }
  if (json->kind != JsonValue::Kind::Object) {
    return bad("header: expected a JSON object");
  }
  header.dataBytes = size - header.dataOffset;
  for (const auto &[name, value] : json->members) {
    if (name == "__metadata__") {
      continue;
    }
    llvm::Expected<TensorEntry> entry = readEntry(name, value);
    if (!entry) {
      return entry.takeError();
    }
    header.entries.push_back(std::move(*entry));
  }
  if (llvm::Error error = checkCoverage(header)) {
    return error;
  }
  return header;
}

static llvm::Expected<HostTensor> readChecked(llvm::StringRef path, llvm::StringRef name,
                                              std::int64_t size) {
  llvm::Expected<SafetensorsHeader> header = readHeader(path, size);
  if (!header) {
    return header.takeError();
  }
  const auto entry =
      llvm::find_if(header->entries, [&](const TensorEntry &each) { return each.name == name; });
  if (entry == header->entries.end()) {
    std::vector<std::string> names;
    for (const TensorEntry &each : header->entries) {
      names.push_back(each.name);
    }
    const std::size_t hidden = names.size() - std::min(names.size(), kMostNamesInMessage);
    names.resize(names.size() - hidden);
    return fail(ErrorCode::NotFound,
                "tensor " + quoteText(name) + " is not in it; it has " +
                    (names.empty() ? "none" : llvm::join(names, ", ")) +
                    (hidden == 0 ? "" : " and " + std::to_string(hidden) + " more"));
  }
  const DTypeRow *row = findDType(entry->dtype);
  if (row == nullptr || !row->type) {
    return fail(ErrorCode::Unsupported,
                "tensor " + quoteText(name) + ": found element type " + quoteText(entry->dtype) +
                    ", expected F32, F16, BF16, U16, U8, I32, F8_E4M3, F8_E5M2 or F8_E8M0");
  }
  HostTensor tensor{*row->type, entry->dims, {}};
  tensor.bytes.resize(static_cast<std::size_t>(entry->end - entry->begin));
  if (llvm::Error error = readFileInto(path, header->dataOffset + entry->begin, tensor.bytes)) {
    return error;
  }
  return tensor;
}

llvm::Expected<HostTensor> readSafetensor(llvm::StringRef path, llvm::StringRef name) {
  llvm::Expected<std::int64_t> size = readableFileSize(path);
  if (!size) {
    return size.takeError();
  }
  llvm::Expected<HostTensor> tensor = readChecked(path, name, *size);
  if (!tensor) {
    return addContext(tensor.takeError(), "file " + path);
  }
  return tensor;
}

} // namespace fp8jit
