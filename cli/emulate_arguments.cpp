#include "cli/emulate_arguments.h"

#include "support/error.h"
#include "support/quote.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <charconv>
#include <cstring>
#include <limits>

namespace fp8jit {

static llvm::Error badText(llvm::StringRef found, const llvm::Twine &expected) {
  return fail(ErrorCode::InvalidArgument, "found " + quoteText(found) + ", expected " + expected);
}

llvm::Expected<TensorDims> parseShape(llvm::StringRef text, std::size_t maxCount) {
  TensorDims dims;
  llvm::SmallVector<llvm::StringRef, 5> parts;
  text.split(parts, 'x');
  for (const llvm::StringRef part : parts) {
    std::int64_t number = 0;
    if (part.empty() || !llvm::all_of(part, llvm::isDigit) || part.getAsInteger(10, number) ||
        number <= 0) {
      return badText(text, "positive numbers joined by x, such as 64x128");
    }
    dims.push_back(number);
  }
  if (dims.size() > maxCount) {
    return badText(text, "at most " + llvm::Twine(maxCount) + " dimensions");
  }
  return dims;
}

template <typename T>
static KernelArgument scalarOf(T value) {
  ScalarSpec scalar;
  scalar.bytes.resize(sizeof value);
  std::memcpy(scalar.bytes.data(), &value, sizeof value);
  return scalar;
}

/// A whole number, decimal or hexadecimal, that T holds.
template <typename T>
static llvm::Expected<KernelArgument> parseInteger(llvm::StringRef text) {
  constexpr bool kIsSigned = std::numeric_limits<T>::is_signed;
  using Wide = std::conditional_t<kIsSigned, std::int64_t, std::uint64_t>;
  Wide value = 0;
  const bool isHex = text.startswith_insensitive("0x");
  const llvm::StringRef digits = isHex ? text.drop_front(2) : text;
  const bool isBad = digits.empty() || digits.getAsInteger(isHex ? 16 : 10, value);
  if (isBad || value < static_cast<Wide>(std::numeric_limits<T>::min()) ||
      value > static_cast<Wide>(std::numeric_limits<T>::max())) {
    return badText(text, "a whole number of " + llvm::Twine(8 * sizeof(T)) + " bits");
  }
  return scalarOf(static_cast<T>(value));
}

template <typename T>
static llvm::Expected<KernelArgument> parseFloating(llvm::StringRef text) {
  T value = 0;
  const auto result = std::from_chars(text.begin(), text.end(), value);
  if (result.ec != std::errc() || result.ptr != text.end()) {
    return badText(text, "a number such as 1.5");
  }
  return scalarOf(value);
}

static std::optional<ElementType> elementTypeOf(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<ElementType>>(name)
      .Case("f32", ElementType::F32)
      .Case("f16", ElementType::F16)
      .Case("bf16", ElementType::BF16)
      .Case("s32", ElementType::Int32)
      .Case("u8", ElementType::U8)
      .Default(std::nullopt);
}

/// "TYPE:SHAPE" into `buffer`.
static llvm::Error parseLayout(llvm::StringRef text, BufferSpec &buffer) {
  const auto [typeName, shape] = text.split(':');
  const std::optional<ElementType> type = elementTypeOf(typeName);
  if (!type) {
    return badText(typeName, "an element type: f32, f16, bf16, s32 or u8");
  }
  constexpr std::size_t kMaxDims = 8;
  llvm::Expected<TensorDims> dims = parseShape(shape, kMaxDims);
  if (!dims) {
    return dims.takeError();
  }
  if (!tensorBytes(*type, *dims)) {
    return badText(shape, "an array of less than 2^63 bytes");
  }
  buffer.type = *type;
  buffer.dims = *dims;
  return llvm::Error::success();
}

static bool isBufferKind(llvm::StringRef kind) {
  return kind == "in" || kind == "inout" || kind == "out" || kind == "zeros" || kind == "scratch";
}

static llvm::Expected<BufferSpec> parseBuffer(llvm::StringRef kind, llvm::StringRef text) {
  BufferSpec buffer;
  buffer.kind = llvm::StringSwitch<BufferKind>(kind)
                    .Case("inout", BufferKind::InOut)
                    .Case("out", BufferKind::Out)
                    .Case("zeros", BufferKind::Zeros)
                    .Case("scratch", BufferKind::Scratch)
                    .Default(BufferKind::In);
  if (buffer.kind == BufferKind::In || buffer.kind == BufferKind::InOut) {
    if (text.empty()) {
      return badText(text, "the name of a file");
    }
    buffer.file = text.str();
    return buffer;
  }
  if (buffer.kind == BufferKind::Out) {
    const auto [rest, shape] = text.rsplit(':');
    const auto [file, type] = rest.rsplit(':');
    if (file.empty() || type.empty() || shape.empty()) {
      return badText(text, "FILE.npy:TYPE:SHAPE, such as d.npy:f32:64x128");
    }
    buffer.file = file.str();
    text = text.drop_front(file.size() + 1);
  }
  if (llvm::Error error = parseLayout(text, buffer)) {
    return error;
  }
  return buffer;
}

static llvm::Expected<ReferenceSpec> parseReference(llvm::StringRef text) {
  ReferenceSpec reference;
  const auto [number, offset] = text.split('+');
  const bool hasOffset = text.contains('+');
  if (number.getAsInteger(10, reference.argument) ||
      (hasOffset && offset.getAsInteger(10, reference.offset))) {
    return badText(text, "the number of an argument and perhaps an offset, such as 0 or 0+256");
  }
  return reference;
}

int tensorMapType(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return 7;
  case ElementType::F16:
    return 6;
  case ElementType::BF16:
    return 9;
  case ElementType::Int32:
    return 3;
  case ElementType::U8:
  case ElementType::E4M3:
  case ElementType::E5M2:
  case ElementType::E8M0:
    return 0;
  }
  return 0;
}

/// The number of a name among CUtensorMapDataType, by position.
static std::optional<int> mapTypeOf(llvm::StringRef name) {
  constexpr llvm::StringLiteral kNames[] = {"u8",  "u16", "u32", "s32", "u64",
                                            "s64", "f16", "f32", "f64", "bf16"};
  const auto *found = llvm::find(kNames, name);
  return found == std::end(kNames) ? std::nullopt
                                   : std::optional(static_cast<int>(found - std::begin(kNames)));
}

static llvm::Error parseShapeInto(llvm::StringRef text, TensorDims &dims) {
  constexpr std::size_t kMaxRank = 5;
  llvm::Expected<TensorDims> parsed = parseShape(text, kMaxRank);
  if (!parsed) {
    return parsed.takeError();
  }
  dims = *parsed;
  return llvm::Error::success();
}

static llvm::Error parseMapKey(llvm::StringRef key, llvm::StringRef value, MapSpec &map) {
  TensorDims *list = llvm::StringSwitch<TensorDims *>(key)
                         .Case("box", &map.box)
                         .Case("shape", &map.shape)
                         .Case("strides", &map.strides)
                         .Case("steps", &map.steps)
                         .Default(nullptr);
  if (list != nullptr) {
    return parseShapeInto(value, *list);
  }
  if (key == "swizzle") {
    map.swizzle = llvm::StringSwitch<int>(value)
                      .Case("0", 0)
                      .Case("32", 1)
                      .Case("64", 2)
                      .Case("128", 3)
                      .Default(-1);
    return map.swizzle >= 0 ? llvm::Error::success() : badText(value, "0, 32, 64 or 128");
  }
  if (key == "fill") {
    map.fillsNan = value == "nan";
    return map.fillsNan || value == "zero" ? llvm::Error::success() : badText(value, "zero or nan");
  }
  if (key == "type") {
    map.elementType = mapTypeOf(value);
    return map.elementType ? llvm::Error::success()
                           : badText(value, "u8, u16, u32, s32, u64, s64, f16, f32, f64 or bf16");
  }
  if (key == "offset") {
    return value.getAsInteger(10, map.offset) ? badText(value, "a number of bytes")
                                              : llvm::Error::success();
  }
  return badText(key, "box, shape, strides, steps, swizzle, fill, type or offset");
}

static llvm::Expected<KernelArgument> parseMap(llvm::StringRef text) {
  MapSpec map;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  text.split(parts, ',');
  const auto [kind, rest] = parts.front().split(':');
  if (kind == "ref") {
    llvm::Expected<ReferenceSpec> reference = parseReference(rest);
    if (!reference) {
      return reference.takeError();
    }
    map.source = *reference;
  } else {
    const bool hasKind = isBufferKind(kind);
    llvm::Expected<BufferSpec> buffer =
        hasKind ? parseBuffer(kind, rest) : parseBuffer("in", parts.front());
    if (!buffer) {
      return buffer.takeError();
    }
    map.source = std::move(*buffer);
  }
  for (const llvm::StringRef part : llvm::makeArrayRef(parts).drop_front()) {
    const auto [key, value] = part.split('=');
    if (llvm::Error error = parseMapKey(key, value, map)) {
      return error;
    }
  }
  if (map.box.empty()) {
    return badText(text, "a box, such as box=64x128");
  }
  return map;
}

llvm::Expected<KernelArgument> parseKernelArgument(llvm::StringRef text) {
  using Parse = llvm::Expected<KernelArgument> (*)(llvm::StringRef);
  const auto [kind, rest] = text.split(':');
  const Parse parse = llvm::StringSwitch<Parse>(kind)
                          .Case("u8", parseInteger<std::uint8_t>)
                          .Case("u16", parseInteger<std::uint16_t>)
                          .Case("u32", parseInteger<std::uint32_t>)
                          .Case("u64", parseInteger<std::uint64_t>)
                          .Case("s8", parseInteger<std::int8_t>)
                          .Case("s16", parseInteger<std::int16_t>)
                          .Case("s32", parseInteger<std::int32_t>)
                          .Case("s64", parseInteger<std::int64_t>)
                          .Case("f32", parseFloating<float>)
                          .Case("f64", parseFloating<double>)
                          .Case("map", parseMap)
                          .Default(nullptr);
  if (parse != nullptr) {
    return parse(rest);
  }
  if (kind == "ref") {
    llvm::Expected<ReferenceSpec> reference = parseReference(rest);
    return reference ? llvm::Expected<KernelArgument>(*reference) : reference.takeError();
  }
  if (isBufferKind(kind)) {
    llvm::Expected<BufferSpec> buffer = parseBuffer(kind, rest);
    return buffer ? llvm::Expected<KernelArgument>(std::move(*buffer)) : buffer.takeError();
  }
  return badText(text, "KIND:VALUE with a kind such as u32, f32, in, out, inout or map");
}

} // namespace fp8jit
