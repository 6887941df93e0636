/**
 * The dependency rule: which layer may import which, and which packages only one place may import;
 * and which ambient APIs source may not use. `tools/boundaries.test.ts` proves that every
 * restriction fires.
 */
import { dirname, join } from "node:path/posix"
import ts from "typescript"
import { folders as effectFolders, unstableModules } from "./effectStability.ts"
import { isPort, kindOf } from "./domainModules.ts"
import { isTest, packageOf, packages } from "./workspaceFiles.ts"

/** A rule that a file breaks, and where. */
export interface Broken {
  readonly rule: string
  readonly message: string
  readonly node: ts.Node
}

const everywhere = /^/
const product = /^(libs|services)\//
const source = /^(libs|services)\/[^/]+\/src\//
const domainSource = /^libs\/domain\/src\//

/** Who may depend on whom; no layer may import a tool. */
const layers: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: [],
  api: ["domain"],
  adapter: ["domain"],
  server: ["domain", "api"],
  service: ["domain", "api", "adapter", "server"],
  gateway: ["domain", "api", "server"],
  client: ["domain", "api"],
  tool: ["domain", "api", "adapter", "server", "service", "gateway", "client", "tool"]
}

/**
 * The folders of a library, lowest first: a folder imports from those before its own line, and
 * never from one on its own line or after it. The domain also has a room for each subject: see
 * `roomOrder` and `isAbovePort`.
 */
const folders: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>> = {
  domain: [["support"], ["codes"], ["schema"]],
  postgres: [
    ["connection"],
    ["tables"],
    ["audit"],
    ["access", "idempotency"],
    ["accounts"],
    ["imports"],
    ["migrations"],
    ["batches", "events"],
    ["erasure"],
    ["checks"],
    ["sandbox", "schema", "suppliers"]
  ],
  server: [["http"], ["observability"], ["limits"], ["auth"], ["routing"], ["lifecycle"]]
}

interface Restriction {
  readonly rule: string
  readonly files: RegExp
  readonly except?: (file: string) => boolean
  readonly module: RegExp
  readonly message: string
}

const unstable = ["\\*", ...unstableModules(), ...effectFolders()]
const platformFiles =
  /\/main\.ts$|^libs\/server\/|^services\/gateway\/src\/(Instances|Upstream)\.ts$/

const restrictions: ReadonlyArray<Restriction> = [
  {
    rule: "pure-domain",
    files: domainSource,
    module: /^(?!effect(\/|$)|libphonenumber-js(\/|$)|\.)/,
    message: "The domain imports effect and libphonenumber-js, nothing else."
  },
  {
    rule: "stable-effect",
    files: domainSource,
    module: new RegExp(`^effect/(${unstable.join("|")})(/|$)`),
    message: "The domain uses Effect's stable modules only."
  },
  {
    rule: "postgres-driver",
    files: everywhere,
    except: (file) => file.startsWith("libs/postgres/"),
    module: /^@effect\/sql/,
    message: "Only libs/postgres imports its driver."
  },
  {
    rule: "sql",
    files: product,
    except: (file) => file.startsWith("libs/postgres/"),
    module: /^(effect\/sql|pg)(\/|$)/,
    message: "SQL is spoken in libs/postgres only."
  },
  {
    rule: "documents-driver",
    files: everywhere,
    except: (file) => /^(libs\/documents|tools)\//.test(file),
    module: /^(@aws-sdk|@smithy|aws4fetch|minio|s3)/,
    message: "Only libs/documents imports its driver."
  },
  {
    rule: "webhooks-driver",
    files: everywhere,
    except: (file) => /^(libs\/webhooks|tools)\//.test(file) || isTest(file),
    module: /^standardwebhooks$/,
    message: "Only libs/webhooks signs events."
  },
  {
    rule: "platform",
    files: product,
    except: (file) => platformFiles.test(file) || isTest(file),
    module: /^@effect\/platform-/,
    message: "Only mains, tools, libs/server and the gateway's client choose the platform."
  },
  {
    rule: "portable",
    files: /^libs\/client\/src\//,
    module: /^node:/,
    message: "The client runs on every platform that has fetch."
  },
  {
    rule: "platform-modules",
    files: everywhere,
    module: /^@effect\/platform-node$/,
    message: "Its root loads a Redis client and clusters: import the module itself."
  },
  {
    rule: "testing-kit",
    files: source,
    except: isTest,
    module: /(^|\/)testing(\/|$)|^(vitest|@effect\/vitest|fast-check)(\/|$)/,
    message: "Source never imports what is there for tests."
  },
  {
    rule: "tool",
    files: product,
    module: /(^|\/)tools\//,
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
        rule: `order-${library}-${folder}`,
        files: new RegExp(`^libs/${library}/src/${folder}/`),
        module: new RegExp(`^(\\.\\./)+(${above.join("|") || "(?!)"})/`),
        message: `In libs/${library}/src, ${folder} may not import ${above.join(", ")}.`
      }
    })
  )
)

/** The rooms of the domain stand on what has no subject, and the board on the rooms. */
const roomOrder: ReadonlyArray<Restriction> = [
  {
    rule: "order-domain-foundation",
    files: /^libs\/domain\/src\/(support|codes|schema)\//,
    module: /^\.\.\/(?!(support|codes|schema)\/)/,
    message: "In libs/domain/src, support, codes and schema import no room."
  },
  {
    rule: "order-domain-board",
    files: /^libs\/domain\/src\/(?!board\/)/,
    module: /^(\.\.?\/)+board\//,
    message: "In libs/domain/src, only the board imports the board."
  }
]

/** Whether a port imports a program. Nouns come first, then ports, then programs. */
const isAbovePort = (file: string, tree: ts.SourceFile, module: string): boolean =>
  domainSource.test(file) && isPort(tree.text) && kindOf(join(dirname(file), module)) === "program"

const projectOf = (file: string) =>
  packages.find(({ folder }) => folder !== "" && file.startsWith(`${folder}/`)) ??
  packages.find(({ folder }) => folder === "")

const layerOf = (project: ReturnType<typeof projectOf>): string =>
  project?.nx?.tags.find((tag) => tag.startsWith("layer:"))?.slice("layer:".length) ?? "none"

/** What is wrong with an import of another project; undefined if nothing is. */
const acrossProjects = (file: string, module: string): string | undefined => {
  const own = projectOf(file)
  if (module.startsWith(".")) {
    return projectOf(join(dirname(file), module)) === own
      ? undefined
      : "A project imports another one by its name."
  }
  const other = packages.find(({ name }) => name === packageOf(module))
  if (other === undefined) return undefined
  if (other === own) return "A project never imports itself by its name."
  const [from, to] = [layerOf(own), layerOf(other)]
  return layers[from]?.includes(to) === true ? undefined : `A ${from} may not import a ${to}.`
}

/** The module that a node imports, as a literal. */
const specifierOf = (node: ts.Node): ts.Node | undefined => {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isExternalModuleReference(node)) return node.expression
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal
  const isCalled = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return isCalled ? node.arguments[0] : undefined
}

/** The names that a node imports, `*` for all of them. */
const namesIn = (node: ts.Node): ReadonlyArray<string> => {
  const named = ts.isImportDeclaration(node)
    ? node.importClause?.namedBindings
    : ts.isExportDeclaration(node)
      ? node.exportClause
      : undefined
  return named !== undefined && (ts.isNamedImports(named) || ts.isNamedExports(named))
    ? named.elements.map(({ name, propertyName = name }) => propertyName.text)
    : ["*"]
}

/** A module of Effect is also reached by its name in the root. */
const modulesIn = (node: ts.Node): ReadonlyArray<string> => {
  const specifier = specifierOf(node)
  if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return []
  const module = specifier.text
  return module === "effect" ? [module, ...namesIn(node).map((name) => `effect/${name}`)] : [module]
}

const time = "Time comes from Effect's Clock."

/** Uses of ambient state, such as the clock, that a test must be able to control. */
const ambientUse = (node: ts.Node): string | undefined => {
  if (!ts.isIdentifier(node)) return undefined
  const { parent, text } = node
  const isTarget = "expression" in parent && parent.expression === node
  if (!isTarget) return undefined
  const isMember = ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent)
  if (text === "console" && isMember) return "Output goes through Effect's logger."
  const member = ts.isPropertyAccessExpression(parent) ? parent.name.text : undefined
  if (text === "Math" && member === "random") {
    return "Chance comes from Effect's Random, secrets from node:crypto."
  }
  const isCalled = ts.isNewExpression(parent) || ts.isCallExpression(parent)
  return text === "Date" && (isCalled || member === "now") ? time : undefined
}

/** The rules that a file breaks, by its path in the workspace. */
export const brokenBoundaries = (file: string, tree: ts.SourceFile): ReadonlyArray<Broken> => {
  const held = [...restrictions, ...folderOrder, ...roomOrder].filter(
    ({ except, files }) => files.test(file) && except?.(file) !== true
  )
  const isAmbientHeld = source.test(file) && !isTest(file)
  const found: Array<Broken> = []
  const visit = (node: ts.Node): void => {
    for (const module of modulesIn(node)) {
      const across = acrossProjects(file, module)
      if (across !== undefined) found.push({ rule: "layers", message: across, node })
      if (isAbovePort(file, tree, module)) {
        found.push({ rule: "order-port", message: "A port imports no program.", node })
      }
      for (const { message, module: forbidden, rule } of held)
        if (forbidden.test(module)) found.push({ rule, message, node })
    }
    const ambient = isAmbientHeld ? ambientUse(node) : undefined
    if (ambient !== undefined) found.push({ rule: "ambient", message: ambient, node })
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}
