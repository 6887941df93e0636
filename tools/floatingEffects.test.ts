/** An effect that is never run is found, and one that was run is not. */
import { join } from "node:path"
import ts from "typescript"
import { expect, it } from "vitest"
import { floatingEffects } from "./lint/floatingEffects.ts"
import { root } from "./lint/workspaceFiles.ts"

const name = join(root, "tools/Made.ts")
const text = `import { Effect } from "effect"
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

it("finds the effects that are never run", { timeout: 60_000 }, () => {
  const made = program()
  const file = made.getSourceFile(name) as ts.SourceFile
  const found = floatingEffects(made, file).map(({ length = 0, start = 0 }) =>
    text.slice(start, start + length)
  )
  expect(found).toEqual(['Effect.log("never")'])
})
