/**
 * Checks the types of one project, the dependency rule, and that it runs its effects, as its Nx
 * target `types` does:
 * `node tools/checkTypes.ts libs/domain`, or `.` for the whole workspace. There is only one
 * tsconfig.json, so Oxlint reads the workspace as one program. A program for each project takes
 * five times as long.
 */
import { join } from "node:path"
import ts from "typescript"
import { ownDiagnostics } from "./lint/ownDiagnostics.ts"

const root = join(import.meta.dirname, "..")
const [project = "."] = process.argv.slice(2)

const read = ts.readConfigFile(join(root, "tsconfig.json"), (file) => ts.sys.readFile(file))
const workspace = read.config as { readonly include: ReadonlyArray<string> }
const files = { ...workspace, include: project === "." ? workspace.include : [project] }
const { errors, fileNames, options } = ts.parseJsonConfigFileContent(files, ts.sys, root)

const program = ts.createProgram({ options, rootNames: fileNames })
const diagnostics = [
  ...errors,
  ...ts.getPreEmitDiagnostics(program),
  ...ownDiagnostics(program, fileNames)
]
const host = {
  getCanonicalFileName: (file: string) => file,
  getCurrentDirectory: () => root,
  getNewLine: () => "\n"
}
if (diagnostics.length > 0) {
  console.error(ts.formatDiagnostics(diagnostics, host))
  process.exitCode = 1
}
