/** The project's own checks find exactly the planted mistakes in a program. */
import { join } from "node:path"
import ts from "typescript"
import { expect, it } from "vitest"
import { ownDiagnostics } from "./lint/ownDiagnostics.ts"
import { root } from "./lint/workspaceFiles.ts"

const name = join(root, "libs/domain/src/Made.ts")
const text = `import { Effect } from "effect"
import type { Stats } from "node:fs"
export type Made = Stats
export const program = Effect.gen(function* () {
  Effect.log("never")
  yield* Effect.log("here")
  const kept = Effect.log("later")
  return yield* kept
})
Effect.runPromise(program)
`

const program = (): ts.Program => {
  const options = { target: ts.ScriptTarget.ES2024, module: ts.ModuleKind.NodeNext, strict: true }
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile.bind(host)
  host.getSourceFile = (file, target, ...rest) =>
    file === name ? ts.createSourceFile(file, text, target) : read(file, target, ...rest)
  return ts.createProgram({ options, rootNames: [name], host })
}

it("finds effects that are never run, and forbidden imports", { timeout: 60_000 }, () => {
  const found = ownDiagnostics(program(), [name]).map(({ length, start }) =>
    text.slice(start, start + length)
  )
  expect(found).toEqual(['import type { Stats } from "node:fs"', 'Effect.log("never")'])
})
