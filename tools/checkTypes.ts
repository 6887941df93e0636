/**
 * Checks the types of one project, the dependency rule, and that no effect is left unrun, as its Nx
 * target `types` does: `node tools/checkTypes.ts libs/domain`, or `.` for the whole workspace.
 * There is one tsconfig.json for all that runs on Node, so Oxlint reads it as one program; a
 * program for each project takes five times as long. Web parts have one each, because they run in
 * browsers.
 */
import { globSync } from "node:fs"
import { dirname, join } from "node:path"
import ts from "typescript"
import { ownDiagnostics } from "./lint/ownDiagnostics.ts"

const root = join(import.meta.dirname, "..")
const [project = "."] = process.argv.slice(2)

interface Settings {
  readonly include: ReadonlyArray<string>
}

const settingsIn = (folder: string): Settings =>
  ts.readConfigFile(join(folder, "tsconfig.json"), (file) => ts.sys.readFile(file))
    .config as Settings

/** What is wrong with the program of these settings. */
const wrongIn = (folder: string, settings: Settings): ReadonlyArray<ts.Diagnostic> => {
  const { errors, fileNames, options } = ts.parseJsonConfigFileContent(settings, ts.sys, folder)
  const program = ts.createProgram({ options, rootNames: fileNames })
  return [...errors, ...ts.getPreEmitDiagnostics(program), ...ownDiagnostics(program, fileNames)]
}

const workspace = settingsIn(root)
const webParts = globSync("services/*/web/tsconfig.json", { cwd: root })
  .map(dirname)
  .filter((web) => project === "." || web.startsWith(`${project}/`))
const diagnostics = [
  ...wrongIn(root, { ...workspace, include: project === "." ? workspace.include : [project] }),
  ...webParts.flatMap((web) => wrongIn(join(root, web), settingsIn(join(root, web))))
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
