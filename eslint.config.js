/**
 * ESLint checks the dependency rule (tools/lint) and nothing else; all other rules are those of
 * Oxlint (.oxlintrc.json), which needs a third of the time for those that need types. The Nx rule
 * reads the project graph from a cache and passes everything when there is none, so the graph is
 * made here, whoever starts the linter.
 */
import { createProjectGraphAsync } from "@nx/devkit"
import tseslint from "typescript-eslint"
import { boundaries } from "./tools/lint/boundaries.ts"

await createProjectGraphAsync()

export default tseslint.config(
  { ignores: ["**/dist/**", "**/node_modules/**", ".data/**", ".nx/**", "coverage/**"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  { files: ["**/*.ts"], languageOptions: { parser: tseslint.parser } },
  ...boundaries
)
