/**
 * A check of our own, made with the types: an Effect that stands alone as a statement is never run,
 * which is nearly always a forgotten `yield*`. TypeScript accepts it. Effect's language service
 * finds it as well, but takes a minute of processor time for the workspace.
 */
import ts from "typescript"

const marker = "~effect/Effect"

/** A yielded effect runs. Its result may be ignored, even an Exit, which is an effect as well. */
const hasRun = (expression: ts.Expression): boolean =>
  ts.isYieldExpression(expression) || ts.isAwaitExpression(expression)

/** The effects of a file that are never run. */
export const floatingEffects = (
  checker: ts.TypeChecker,
  file: ts.SourceFile
): ReadonlyArray<ts.Node> => {
  const found: Array<ts.Node> = []
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node) && !hasRun(node.expression)) {
      const type = checker.getTypeAtLocation(node.expression)
      if (type.getProperty(marker) !== undefined) found.push(node)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}
