#include "support/npy.h"

#include "support/error.h"
#include "support/files.h"
#include "support/quote.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <cstring>
#include <string>

namespace fp8jit {

static constexpr llvm::StringRef kMagic("\x93NUMPY", 6);
/// Far above any real header; NumPy itself refuses to evaluate more than 10,000 bytes.
static constexpr std::int64_t kLongestHeader = 65536;
/// NumPy aligns the data to 64 bytes.
static constexpr std::size_t kDataAlignment = 64;

namespace {

/// The dictionary of a header: exactly the three keys that NEP 1 lists.
struct NpyHeader {
  std::string descr;
  bool isFortranOrder = false;
  TensorDims dims;
};

/// Reads the Python literal of the header.
class HeaderReader {
public:
  explicit HeaderReader(llvm::StringRef text) : rest_(text) {}

  llvm::Expected<NpyHeader> read();

private:
  bool take(char expected) {
    rest_ = rest_.ltrim(" \t\n");
    return rest_.consume_front(llvm::StringRef(&expected, 1));
  }
  bool takeString(std::string &value);
  bool takeBool(bool &value);
  bool takeDims(TensorDims &dims);
  llvm::Error bad(const llvm::Twine &what) const {
    return fail(ErrorCode::InvalidArgument, "header: found " +
                                                quoteText(rest_.ltrim(" \t\n").take_front(20)) +
                                                ", expected " + what);
  }

  llvm::StringRef rest_;
};

} // namespace

bool HeaderReader::takeString(std::string &value) {
  rest_ = rest_.ltrim(" \t\n");
  if (!rest_.startswith("'") && !rest_.startswith("\"")) {
    return false;
  }
  const char quote = rest_.front();
  const std::size_t end = rest_.find(quote, 1);
  if (end == llvm::StringRef::npos) {
    return false;
  }
  value = rest_.slice(1, end).str();
  rest_ = rest_.drop_front(end + 1);
  return true;
}

bool HeaderReader::takeBool(bool &value) {
  rest_ = rest_.ltrim(" \t\n");
  value = rest_.startswith("True");
  return rest_.consume_front("True") || rest_.consume_front("False");
}

bool HeaderReader::takeDims(TensorDims &dims) {
  if (!take('(')) {
    return false;
  }
  while (!take(')')) {
    rest_ = rest_.ltrim(" \t\n");
    const llvm::StringRef digits = rest_.take_while(llvm::isDigit);
    std::int64_t dim = 0;
    if (digits.empty() || digits.getAsInteger(10, dim)) {
      return false;
    }
    dims.push_back(dim);
    rest_ = rest_.drop_front(digits.size());
    const bool hasComma = take(',');
    if (!hasComma && (dims.size() == 1 || !rest_.ltrim(" \t\n").startswith(")"))) {
      return false; // (3) is no tuple in Python, (3,) is
    }
  }
  return true;
}

llvm::Expected<NpyHeader> HeaderReader::read() {
  NpyHeader header;
  llvm::SmallVector<std::string, 3> seen;
  if (!take('{')) {
    return bad("'{'");
  }
  while (!take('}')) {
    std::string key;
    if (!takeString(key) || !take(':')) {
      return bad("a quoted key and ':'");
    }
    if (llvm::is_contained(seen, key)) {
      return fail(ErrorCode::InvalidArgument, "header: key " + quoteText(key) + " stands twice");
    }
    seen.push_back(key);
    if (key == "descr"           ? !takeString(header.descr)
        : key == "fortran_order" ? !takeBool(header.isFortranOrder)
                                 : key != "shape" || !takeDims(header.dims)) {
      return bad("the value of descr (a type name), fortran_order (True or False) or shape (a "
                 "tuple)");
    }
    if (!take(',') && !rest_.ltrim(" \t\n").startswith("}")) {
      return bad("',' or '}'");
    }
  }
  if (!rest_.trim(" \t\n").empty()) {
    return bad("nothing more");
  }
  if (seen.size() != 3) {
    return fail(ErrorCode::InvalidArgument, "header: found keys " + llvm::join(seen, ", ") +
                                                ", expected descr, fortran_order and shape");
  }
  return header;
}

static llvm::Expected<ElementType> elementTypeOf(llvm::StringRef descr) {
  constexpr std::pair<const char *, ElementType> kTypes[] = {
      {"<f4", ElementType::F32}, {"<f2", ElementType::F16},   {"<u2", ElementType::BF16},
      {"|u1", ElementType::U8},  {"<i4", ElementType::Int32},
  };
  for (const auto &[name, type] : kTypes) {
    if (descr == name) {
      return type;
    }
  }
  const char *remark = descr.startswith(">") ? " (big endian)" : "";
  return fail(ErrorCode::InvalidArgument,
              "element type: found " + quoteText(descr) + remark +
                  ", expected little-endian float32, float16, uint16 (bf16 bits), uint8 or int32");
}

/// Reads what stands before the data; `dataOffset` is where that begins.
static llvm::Expected<NpyHeader> readHeader(llvm::StringRef path, std::int64_t size,
                                            std::int64_t &dataOffset) {
  const std::int64_t preambleBytes = std::min<std::int64_t>(size, 12);
  llvm::Expected<std::string> preamble = readFileRange(path, 0, preambleBytes);
  if (!preamble) {
    return preamble.takeError();
  }
  if (!llvm::StringRef(*preamble).startswith(kMagic)) {
    return fail(ErrorCode::InvalidArgument,
                "not a .npy file: expected it to begin with \\x93NUMPY");
  }
  if (preambleBytes < 12) {
    return fail(ErrorCode::InvalidArgument,
                "truncated: found " + llvm::Twine(size) + " bytes, expected a header");
  }
  const int version = static_cast<unsigned char>((*preamble)[6]);
  if (version != 1 && version != 2) {
    return fail(ErrorCode::InvalidArgument,
                "version: found " + llvm::Twine(version) + ", expected 1 or 2");
  }
  const char *lengthBytes = preamble->data() + 8;
  const std::int64_t length = version == 1 ? llvm::support::endian::read16le(lengthBytes)
                                           : llvm::support::endian::read32le(lengthBytes);
  const std::int64_t begin = version == 1 ? 10 : 12;
  if (length > kLongestHeader) {
    return fail(ErrorCode::InvalidArgument, "header length: found " + llvm::Twine(length) +
                                                ", expected at most " +
                                                llvm::Twine(kLongestHeader));
  }
  if (begin + length > size) {
    return fail(ErrorCode::InvalidArgument,
                "truncated: found " + llvm::Twine(size) + " bytes, expected a header of " +
                    llvm::Twine(length) + " after byte " + llvm::Twine(begin));
  }
  dataOffset = begin + length;
  llvm::Expected<std::string> text = readFileRange(path, begin, length);
  if (!text) {
    return text.takeError();
  }
  return HeaderReader(*text).read();
}

static llvm::Expected<HostTensor> readChecked(llvm::StringRef path, std::int64_t size) {
  std::int64_t dataOffset = 0;
  llvm::Expected<NpyHeader> header = readHeader(path, size, dataOffset);
  if (!header) {
    return header.takeError();
  }
  llvm::Expected<ElementType> type = elementTypeOf(header->descr);
  if (!type) {
    return type.takeError();
  }
  if (header->isFortranOrder) {
    return fail(ErrorCode::InvalidArgument,
                "order: found Fortran order, expected C order (numpy.ascontiguousarray)");
  }
  const std::optional<std::int64_t> expectedBytes = tensorBytes(*type, header->dims);
  const std::int64_t foundBytes = size - dataOffset;
  if (!expectedBytes || *expectedBytes != foundBytes) {
    return fail(
        ErrorCode::InvalidArgument,
        (expectedBytes && *expectedBytes < foundBytes ? "too long: found " : "truncated: found ") +
            llvm::Twine(foundBytes) + " bytes of data, expected " +
            (expectedBytes ? std::to_string(*expectedBytes) : "more than 2^63") + " for " +
            elementTypeName(*type) + " " + printDims(header->dims));
  }
  HostTensor tensor{*type, header->dims, {}};
  tensor.bytes.resize(static_cast<std::size_t>(foundBytes));
  if (llvm::Error error = readFileInto(path, dataOffset, tensor.bytes)) {
    return error;
  }
  return tensor;
}

llvm::Expected<HostTensor> readNpy(llvm::StringRef path) {
  llvm::Expected<std::int64_t> size = readableFileSize(path);
  if (!size) {
    return size.takeError();
  }
  llvm::Expected<HostTensor> tensor = readChecked(path, *size);
  if (!tensor) {
    return addContext(tensor.takeError(), "file " + path);
  }
  return tensor;
}

static llvm::StringRef descrOf(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return "<f4";
  case ElementType::F16:
    return "<f2";
  case ElementType::BF16:
    return "<u2";
  case ElementType::Int32:
    return "<i4";
  case ElementType::U8:
  case ElementType::E4M3:
  case ElementType::E5M2:
  case ElementType::E8M0:
    return "|u1";
  }
  return "|u1";
}

llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor) {
  std::string header =
      "{'descr': '" + descrOf(tensor.type).str() + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    header += (i == 0 ? "" : ", ") + std::to_string(tensor.dims[i]);
  }
  header += tensor.dims.size() == 1 ? ",), }" : "), }"; // a Python tuple of one needs its comma
  constexpr std::size_t kPreambleBytes = 10;
  const std::size_t unpadded = kPreambleBytes + header.size() + 1;
  header.append((kDataAlignment - unpadded % kDataAlignment) % kDataAlignment, ' ');
  header += '\n';

  std::string preamble = kMagic.str();
  preamble += '\x01';
  preamble += '\0';
  preamble += static_cast<char>(header.size() & 0xFFU);
  preamble += static_cast<char>(header.size() >> 8);
  return writeFileAtomically(path, {preamble, header, llvm::toStringRef(tensor.bytes)});
}

} // namespace fp8jit
