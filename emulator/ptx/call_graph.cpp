// Functions whose callees have all been taken away are taken away in turn (Kahn's algorithm); what
// is left can reach a cycle. Linear in the text.
#include "emulator/ptx/call_graph.h"

namespace fp8jit::emulator {

namespace {

/// A function with a body, its calls that count and the functions that call it.
struct Node {
  std::size_t calls = 0;
  std::vector<std::string_view> callers;
};

using Graph = std::unordered_map<std::string_view, Node>;

} // namespace

/// The name behind `call`: past a list of results, if there is one.
static std::string_view readCallee(TokenCursor &cursor) {
  if (cursor.skipPunct('(')) {
    while (!cursor.isAtEnd() && !cursor.skipPunct(')')) {
      cursor.next();
    }
    cursor.skipPunct(',');
  }
  return cursor.peek().kind == TokenKind::Word ? cursor.peek().text : std::string_view();
}

static void addCalls(TokenCursor &cursor, const Function &function, Graph &graph) {
  cursor.setPosition(function.bodyToken);
  for (int depth = 1; depth > 0 && !cursor.isAtEnd();) {
    const Token &token = cursor.next();
    depth += token.punct == '{' ? 1 : token.punct == '}' ? -1 : 0;
    if (token.kind != TokenKind::Word || (token.text != "call" && token.text != "call.uni")) {
      continue;
    }
    const auto callee = graph.find(readCallee(cursor));
    if (callee != graph.end()) {
      callee->second.callers.push_back(function.name);
      ++graph.at(function.name).calls;
    }
  }
}

void markRecursiveFunctions(TokenCursor &cursor, ParsedModule &module) {
  Graph graph;
  for (const auto &[name, function] : module.functions) {
    if (!function.isEntry && function.hasBody) {
      graph.try_emplace(name);
    }
  }
  for (const auto &[name, function] : module.functions) {
    if (graph.contains(name)) {
      addCalls(cursor, function, graph);
    }
  }
  std::vector<std::string_view> leaves;
  for (const auto &[name, node] : graph) {
    if (node.calls == 0) {
      leaves.push_back(name);
    }
  }
  while (!leaves.empty()) {
    const std::string_view leaf = leaves.back();
    leaves.pop_back();
    for (const std::string_view caller : graph.at(leaf).callers) {
      if (--graph.at(caller).calls == 0) {
        leaves.push_back(caller);
      }
    }
  }
  for (const auto &[name, node] : graph) {
    module.functions.at(name).isRecursive = node.calls != 0;
  }
}

} // namespace fp8jit::emulator
