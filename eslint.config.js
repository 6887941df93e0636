/**
 * What the linter checks: mistakes that types let through, and the dependency rule (tools/lint).
 * The Nx rule reads the project graph from a cache and passes everything when there is none, so the
 * graph is made here, whoever starts the linter.
 */
import js from "@eslint/js"
import { createProjectGraphAsync } from "@nx/devkit"
import tseslint from "typescript-eslint"
import { boundaries } from "./tools/lint/boundaries.ts"
import { noFloatingEffect } from "./tools/lint/noFloatingEffect.ts"

await createProjectGraphAsync()

const always = {
  eqeqeq: "error",
  "max-lines": ["error", 400],
  "no-param-reassign": "error",
  "no-warning-comments": [
    "error",
    { terms: ["todo", "fixme", "xxx", "hack"], location: "anywhere" }
  ],
  "object-shorthand": "error",
  "prefer-template": "error"
}

const typed = {
  "@typescript-eslint/await-thenable": "error",
  "@typescript-eslint/consistent-type-imports": ["error", { disallowTypeAnnotations: false }],
  "@typescript-eslint/no-base-to-string": "error",
  "@typescript-eslint/no-empty-object-type": "off",
  "@typescript-eslint/no-explicit-any": "error",
  "@typescript-eslint/no-floating-promises": "error",
  "@typescript-eslint/no-misused-promises": "error",
  "@typescript-eslint/no-misused-spread": "error",
  "@typescript-eslint/no-non-null-assertion": "error",
  "@typescript-eslint/no-unnecessary-type-assertion": "error",
  "@typescript-eslint/no-unsafe-argument": "error",
  "@typescript-eslint/no-unsafe-assignment": "error",
  "@typescript-eslint/no-unsafe-call": "error",
  "@typescript-eslint/no-unsafe-member-access": "error",
  "@typescript-eslint/no-unsafe-return": "error",
  "@typescript-eslint/no-unused-vars": [
    "error",
    { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true }
  ],
  "@typescript-eslint/only-throw-error": ["error", { allow: [{ from: "file", name: "Invalid" }] }],
  "@typescript-eslint/restrict-plus-operands": "error",
  "@typescript-eslint/switch-exhaustiveness-check": [
    "error",
    { considerDefaultExhaustiveForUnions: true }
  ],
  "effect/no-floating-effect": "error"
}

export default tseslint.config(
  { ignores: ["**/dist/**", "**/node_modules/**", ".data/**", ".nx/**", "coverage/**"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  js.configs.recommended,
  { rules: always },
  {
    files: ["**/*.{js,mjs}"],
    languageOptions: {
      globals: { URL: "readonly", console: "readonly", fetch: "readonly", process: "readonly" }
    }
  },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.recommended],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname }
    },
    plugins: { effect: { rules: { "no-floating-effect": noFloatingEffect } } },
    rules: { ...typed, "no-undef": "off", "require-yield": "off" }
  },
  {
    files: ["**/*.ts"],
    ignores: ["**/test/**", "**/testing/**", "**/*.test.ts"],
    rules: { "max-lines-per-function": ["error", 70] }
  },
  {
    // What an assertion matches against, such as expect.any, is typed as any.
    files: ["**/test/**/*.ts", "**/*.test.ts"],
    rules: { "@typescript-eslint/no-unsafe-assignment": "off" }
  },
  ...boundaries
)
