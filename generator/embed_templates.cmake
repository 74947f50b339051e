# cmake -DROOT=<templates> -DOUTPUT=<file.cpp> -P embed_templates.cmake: writes the texts of every template as a
# sorted table of raw strings (the delimiter may hold letters and underscores only).
file(GLOB_RECURSE names RELATIVE ${ROOT} ${ROOT}/*.cu ${ROOT}/*.cuh ${ROOT}/*.h)
list(SORT names)
set(table "")
foreach(name IN LISTS names)
  file(READ ${ROOT}/${name} text)
  string(APPEND table "    {\"${name}\", R\"FP8JIT_TEXT(${text})FP8JIT_TEXT\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by generator/embed_templates.cmake.\n#include \"generator/embedded_texts.h\"\n\n\
namespace fp8jit {\n\nstatic constexpr EmbeddedText kTexts[] = {\n${table}};\n\n\
llvm::ArrayRef<EmbeddedText> embeddedTexts() { return kTexts; }\n\n} // namespace fp8jit\n")
