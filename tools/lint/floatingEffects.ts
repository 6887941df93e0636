/**
 * A check of our own, made with the types: an Effect that stands alone as a statement is never run,
 * which is nearly always a forgotten `yield*`. TypeScript accepts it. Effect's language service
 * finds it as well, but takes a minute of processor time for the workspace.
 */
import ts from "typescript"

const marker = "~effect/Effect"

/** What is yielded runs. Its result may be left alone, also an Exit, which is an effect as well. */
const hasRun = (expression: ts.Expression): boolean =>
  ts.isYieldExpression(expression) || ts.isAwaitExpression(expression)

/** A diagnostic for each effect in the file that is never run. */
export const floatingEffects = (
  program: ts.Program,
  file: ts.SourceFile
): ReadonlyArray<ts.Diagnostic> => {
  const checker = program.getTypeChecker()
  const found: Array<ts.Diagnostic> = []
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node) && !hasRun(node.expression)) {
      const type = checker.getTypeAtLocation(node.expression)
      if (type.getProperty(marker) !== undefined) {
        found.push({
          file,
          start: node.getStart(file),
          length: node.getWidth(file),
          category: ts.DiagnosticCategory.Error,
          code: 0,
          messageText: "This effect is never run: yield*, return or run it."
        })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}
