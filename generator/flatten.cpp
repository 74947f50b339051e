// Inlines includes depth first. The parts' own namespace lines give way to one namespace.
#include "generator/flatten.h"

#include "support/error.h"

#include "llvm/ADT/StringSet.h"

namespace fp8jit {

static constexpr llvm::StringRef kNamespaceBegin = "namespace fp8jit {";
static constexpr llvm::StringRef kNamespaceEnd = "} // namespace fp8jit";

namespace {

class Flattener {
public:
  Flattener(const SlotTexts &slots, const TemplateLibrary &templates)
      : slots_(slots), templates_(templates) {}

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
    // What a part needs comes before the part's own head comment.
    std::string own;
    while (!rest.empty()) {
      llvm::StringRef line;
      std::tie(line, rest) = rest.split('\n');
      if (line.startswith("#include")) {
        if (llvm::Error error = addInclude(line, name)) {
          return error;
        }
      } else if (line != "#pragma once" && line != kNamespaceBegin && line != kNamespaceEnd) {
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

  const SlotTexts &slots_;
  const TemplateLibrary &templates_;
  llvm::StringSet<> seen_;
  std::string result_;
};

} // namespace

llvm::Expected<std::string> flattenTemplate(llvm::StringRef root, const SlotTexts &slots,
                                            const TemplateLibrary &templates) {
  Flattener flattener(slots, templates);
  if (llvm::Error error = flattener.add(root)) {
    return error;
  }
  return (kNamespaceBegin + "\n\n" + flattener.take() + kNamespaceEnd + "\n").str();
}

} // namespace fp8jit
