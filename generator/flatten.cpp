// Inlines includes depth first. A source is one kernel and needs no namespace.
#include "generator/flatten.h"

#include "support/error.h"

#include "llvm/ADT/StringSet.h"

namespace fp8jit {

static constexpr llvm::StringRef kNamespaceBegin = "namespace fp8jit {";
static constexpr llvm::StringRef kNamespaceEnd = "} // namespace fp8jit";

namespace {

class Flattener {
public:
  Flattener(llvm::StringRef root, const SlotTexts &slots, const TemplateLibrary &templates)
      : root_(root), slots_(slots), templates_(templates) {}

  llvm::Error add(llvm::StringRef name) {
    if (!seen_.insert(name).second) {
      return llvm::Error::success();
    }
    llvm::StringRef rest;
    if (const auto slot = slots_.find(name); slot != slots_.end()) {
      rest = slot->second;
    } else {
      llvm::Expected<llvm::StringRef> text = templates_.text(name);
      if (!text) {
        return text.takeError();
      }
      rest = *text;
    }
    // What a part needs comes before the part itself; the head comment of a file stays only for the
    // root, where it tells what the kernel does.
    std::string own;
    bool isHead = name != root_;
    while (!rest.empty()) {
      llvm::StringRef line;
      std::tie(line, rest) = rest.split('\n');
      isHead = isHead && line.startswith("//");
      if (line.startswith("#include")) {
        if (llvm::Error error = addInclude(line, name)) {
          return error;
        }
      } else if (!isHead && line != "#pragma once" && line != kNamespaceBegin &&
                 line != kNamespaceEnd) {
        own += line;
        own += '\n';
      }
    }
    appendWithoutBlankRuns(own);
    return llvm::Error::success();
  }

  std::string take() { return std::move(result_); }

private:
  llvm::Error addInclude(llvm::StringRef line, llvm::StringRef from) {
    const llvm::StringRef name = line.drop_front(llvm::StringRef("#include").size()).trim();
    if (name.size() < 2 || name.front() != '"' || name.back() != '"') {
      return fail(ErrorCode::InvalidArgument,
                  "template " + from + " includes " + name + ", expected a template in quotes");
    }
    return add(name.drop_front().drop_back());
  }

  void appendWithoutBlankRuns(llvm::StringRef text) {
    while (!text.empty()) {
      llvm::StringRef line;
      std::tie(line, text) = text.split('\n');
      if (line.empty() && (result_.empty() || llvm::StringRef(result_).endswith("\n\n"))) {
        continue;
      }
      result_ += line;
      result_ += '\n';
    }
    if (!llvm::StringRef(result_).endswith("\n\n")) {
      result_ += '\n';
    }
  }

  const llvm::StringRef root_;
  const SlotTexts &slots_;
  const TemplateLibrary &templates_;
  llvm::StringSet<> seen_;
  std::string result_;
};

} // namespace

llvm::Expected<std::string> flattenTemplate(llvm::StringRef root, const SlotTexts &slots,
                                            const TemplateLibrary &templates) {
  Flattener flattener(root, slots, templates);
  if (llvm::Error error = flattener.add(root)) {
    return error;
  }
  return llvm::StringRef(flattener.take()).rtrim('\n').str() + "\n";
}

} // namespace fp8jit
