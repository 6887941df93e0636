/**
 * The checks that neither the compiler nor Oxlint has: the dependency rule, and effects that are
 * never run. They are diagnostics of the compiler, on whose program they work.
 */
import { relative } from "node:path"
import ts from "typescript"
import { brokenBoundaries } from "./boundaries.ts"
import { floatingEffects } from "./floatingEffects.ts"
import { root } from "./workspaceFiles.ts"

const diagnostic = (
  file: ts.SourceFile,
  node: ts.Node,
  messageText: string
): ts.DiagnosticWithLocation => ({
  file,
  start: node.getStart(file),
  length: node.getWidth(file),
  category: ts.DiagnosticCategory.Error,
  code: 0,
  messageText
})

/** What is wrong with the named files of a program. */
export const ownDiagnostics = (
  program: ts.Program,
  names: Iterable<string>
): ReadonlyArray<ts.DiagnosticWithLocation> => {
  const own = new Set(names)
  const checker = program.getTypeChecker()
  return program
    .getSourceFiles()
    .filter(({ fileName }) => own.has(fileName))
    .flatMap((file) => [
      ...brokenBoundaries(relative(root, file.fileName), file).map(({ message, node, rule }) =>
        diagnostic(file, node, `${message} (${rule})`)
      ),
      ...floatingEffects(checker, file).map((node) =>
        diagnostic(file, node, "This effect is never run: yield*, return or run it.")
      )
    ])
}
