// The template texts and their hash.
#include "generator/embedded_texts.h"
#include "generator/generate.h"
#include "support/error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <map>

namespace fp8jit {

struct TemplateLibrary::Contents {
  std::map<std::string, std::string, std::less<>> texts;
  std::string hash;
};

/// Names and texts with their lengths, so that no two sets of files hash alike by shifting bytes.
static std::string hashTexts(const std::map<std::string, std::string, std::less<>> &texts) {
  llvm::SHA256 hasher;
  for (const auto &[name, text] : texts) {
    hasher.update(std::to_string(name.size()) + ":" + name);
    hasher.update(std::to_string(text.size()) + ":" + text);
  }
  return llvm::toHex(hasher.final(), /*LowerCase=*/true);
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
  const auto entry = contents_->texts.find(std::string_view(name.data(), name.size()));
  if (entry == contents_->texts.end()) {
    return fail(ErrorCode::NotFound, "template " + name + " does not exist");
  }
  return llvm::StringRef(entry->second);
}

const std::string &TemplateLibrary::hash() const {
  return contents_->hash;
}

} // namespace fp8jit
