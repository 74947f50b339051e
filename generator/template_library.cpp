// The template texts and their hash.
#include "generator/embedded_texts.h"
#include "generator/generate.h"
#include "support/error.h"
#include "support/hash.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <map>
#include <vector>

namespace fp8jit {

struct TemplateLibrary::Contents {
  std::map<std::string, std::string, std::less<>> texts;
  std::string hash;
};

static std::string hashTexts(const std::map<std::string, std::string, std::less<>> &texts) {
  std::vector<llvm::StringRef> parts;
  for (const auto &[name, text] : texts) {
    parts.emplace_back(name);
    parts.emplace_back(text);
  }
  return sha256HexOfParts(parts);
}

TemplateLibrary TemplateLibrary::embedded() {
  auto contents = std::make_shared<Contents>();
  for (const EmbeddedText &entry : embeddedTexts()) {
    contents->texts.emplace(entry.name, entry.text);
  }
  contents->hash = hashTexts(contents->texts);
  TemplateLibrary library;
  library.contents_ = std::move(contents);
  return library;
}

llvm::Expected<TemplateLibrary> TemplateLibrary::fromDirectory(llvm::StringRef directory) {
  auto contents = std::make_shared<Contents>();
  std::error_code code;
  llvm::sys::fs::recursive_directory_iterator file(directory, code);
  for (; !code && file != llvm::sys::fs::recursive_directory_iterator(); file.increment(code)) {
    llvm::StringRef path = file->path();
    const llvm::StringRef extension = llvm::sys::path::extension(path);
    if (extension != ".cu" && extension != ".cuh" && extension != ".h") {
      continue;
    }
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!buffer) {
      return fail(ErrorCode::NotFound,
                  "template " + path + " cannot be read: " + buffer.getError().message());
    }
    const std::string name = path.drop_front(directory.size()).ltrim('/').str();
    contents->texts.emplace(name, (*buffer)->getBuffer().str());
  }
  if (code) {
    return fail(ErrorCode::NotFound,
                "templates folder " + directory + " cannot be read: " + code.message());
  }
  if (contents->texts.empty()) {
    return fail(ErrorCode::NotFound,
                "templates folder " + directory + " holds no .cu, .cuh or .h file");
  }
  contents->hash = hashTexts(contents->texts);
  TemplateLibrary library;
  library.contents_ = std::move(contents);
  return library;
}

llvm::Expected<llvm::StringRef> TemplateLibrary::text(llvm::StringRef name) const {
  const auto entry = contents_->texts.find(std::string_view(name));
  if (entry == contents_->texts.end()) {
    return fail(ErrorCode::NotFound, "template " + name + " does not exist");
  }
  return llvm::StringRef(entry->second);
}

const std::string &TemplateLibrary::hash() const {
  return contents_->hash;
}

} // namespace fp8jit
