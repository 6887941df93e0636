/**
 * The dependency rule as lint configuration: which layer may know which, and which package only one
 * place may import. Each restriction is an instance of its own of the same rule, so that several
 * hold for one file and a message names the one that was broken. `tools/boundaries.test.ts` proves
 * that they fire.
 */
import nx from "@nx/eslint-plugin"
import type { Linter, Rule } from "eslint"
import tseslint from "typescript-eslint"
import { folders as effectFolders, unstableModules } from "./effectStability.ts"

type Plugin = { rules: { "no-restricted-imports": Rule.RuleModule } }
const restrict = (tseslint.plugin as unknown as Plugin).rules["no-restricted-imports"]

const tests = ["**/test/**", "**/*.test.ts"]
const domainSource = ["libs/domain/src/**/*.ts"]
const source = ["libs/*/src/**/*.ts", "services/*/src/**/*.ts"]

/**
 * Who may depend on whom; no layer may import a tool. Nx adds that a project never imports itself
 * by name.
 */
const layers = {
  domain: [],
  api: ["domain"],
  adapter: ["domain"],
  server: ["domain", "api"],
  service: ["domain", "api", "adapter", "server"],
  gateway: ["domain", "api", "server"],
  tool: ["domain", "api", "adapter", "server", "service", "gateway", "tool"]
}

const projects: Linter.Config = {
  files: ["libs/**/*.ts", "services/**/*.ts", "tools/**/*.ts"],
  plugins: { "@nx": nx as unknown as Record<string, never> },
  rules: {
    "@nx/enforce-module-boundaries": [
      "error",
      {
        allow: [],
        enforceBuildableLibDependency: false,
        // The operator loads the embedded PostgreSQL, which no image holds, on demand.
        checkDynamicDependenciesExceptions: ["@data-import/postgres/**"],
        depConstraints: Object.entries(layers).map(([layer, others]) => ({
          sourceTag: `layer:${layer}`,
          onlyDependOnLibsWithTags: others.map((other) => `layer:${other}`)
        }))
      }
    ]
  }
}

/**
 * The folders of a library, lowest first: a folder imports from those before its own line, and
 * never from one on its own line or after it.
 */
const folders: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>> = {
  domain: [
    ["support"],
    ["codes"],
    ["schema"],
    ["organisation"],
    ["account"],
    ["requests"],
    ["ports"],
    ["validation", "writes"],
    ["import", "post-import", "auth"]
  ],
  postgres: [
    ["connection"],
    ["tables"],
    ["audit", "auth", "idempotency"],
    ["accounts"],
    ["imports"],
    ["setup"]
  ],
  server: [["http"], ["observability"], ["limits"], ["auth"], ["routing"], ["lifecycle"]]
}

interface Restriction {
  readonly name: string
  readonly files: ReadonlyArray<string>
  readonly ignores?: ReadonlyArray<string>
  readonly paths?: ReadonlyArray<{
    name: string
    importNames: ReadonlyArray<string>
    message: string
  }>
  readonly regex: string
  readonly message: string
}

const unstable = unstableModules()

const restrictions: ReadonlyArray<Restriction> = [
  {
    name: "pure-domain",
    files: domainSource,
    regex: "^(?!effect(/|$)|libphonenumber-js(/|$)|\\.)",
    message: "The domain imports effect and libphonenumber-js, nothing else."
  },
  {
    name: "stable-effect",
    files: domainSource,
    paths: [
      { name: "effect", importNames: unstable, message: "This module of Effect is unstable." }
    ],
    regex: `^effect/(${[...unstable, ...effectFolders()].join("|")})(/|$)`,
    message: "The domain uses Effect's stable modules only."
  },
  {
    name: "postgres-driver",
    files: ["**/*.ts"],
    ignores: ["libs/postgres/**"],
    regex: "^@effect/sql",
    message: "Only libs/postgres imports its driver."
  },
  {
    name: "sql",
    files: ["libs/**/*.ts", "services/**/*.ts"],
    ignores: ["libs/postgres/**"],
    regex: "^(effect/sql(/|$)|pg(/|$))",
    message: "SQL is spoken in libs/postgres only."
  },
  {
    name: "documents-driver",
    files: ["**/*.ts"],
    ignores: ["libs/documents/**", "tools/**"],
    regex: "^(@aws-sdk|@smithy|aws4fetch|minio|s3)",
    message: "Only libs/documents imports its driver."
  },
  {
    name: "platform",
    files: ["libs/**/*.ts", "services/**/*.ts"],
    ignores: ["**/main.ts", "libs/server/**", "services/gateway/src/Upstream.ts", ...tests],
    regex: "^@effect/platform-",
    message: "Only mains, tools, libs/server and the gateway's client choose the platform."
  },
  {
    name: "platform-modules",
    files: ["**/*.ts"],
    regex: "^@effect/platform-node$",
    message: "Its root loads a Redis client and clusters: import the module itself."
  },
  {
    name: "testing-kit",
    files: source,
    ignores: tests,
    regex: "(^|/)testing(/|$)|^(vitest|@effect/vitest|fast-check)(/|$)",
    message: "Source never imports what is there for tests."
  },
  {
    name: "tool",
    files: ["libs/**/*.ts", "services/**/*.ts"],
    regex: "(^|/)tools/",
    message: "Nobody imports a tool."
  }
]

const folderOrder = Object.entries(folders).flatMap(([library, lines]) =>
  lines.flatMap((line, index) =>
    line.map((folder): Restriction => {
      const above = lines
        .slice(index)
        .flat()
        .filter((other) => other !== folder)
      return {
        name: `order-${library}-${folder}`,
        files: [`libs/${library}/src/${folder}/**/*.ts`],
        regex: `^(\\.\\./)+(${above.join("|") || "(?!)"})/`,
        message: `In libs/${library}/src, ${folder} may not import ${above.join(", ")}.`
      }
    })
  )
)

const block = ({
  name,
  files,
  ignores = [],
  paths = [],
  regex,
  message
}: Restriction): Linter.Config => ({
  files: [...files],
  ignores: [...ignores],
  plugins: { [`only-${name}`]: { rules: { imports: restrict } } },
  rules: {
    [`only-${name}/imports`]: [
      "error",
      { paths, patterns: [{ regex, caseSensitive: true, message }] }
    ]
  }
})

/** What source never does by itself, because a test must be able to decide it. */
const ambient: Linter.Config = {
  files: source,
  ignores: tests,
  rules: {
    "no-console": "error",
    "no-restricted-syntax": [
      "error",
      { selector: "NewExpression[callee.name='Date']", message: "Time comes from Effect's Clock." },
      {
        selector: "CallExpression[callee.name='Date']",
        message: "Time comes from Effect's Clock."
      },
      {
        selector: "MemberExpression[object.name='Date'][property.name='now']",
        message: "Time comes from Effect's Clock."
      },
      {
        selector: "MemberExpression[object.name='Math'][property.name='random']",
        message: "Chance comes from Effect's Random, secrets from node:crypto."
      }
    ]
  }
}

export const boundaries: ReadonlyArray<Linter.Config> = [
  projects,
  ...[...restrictions, ...folderOrder].map(block),
  ambient
]
