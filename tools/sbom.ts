/**
 * The software bill of materials of what is deployed, as CycloneDX: `npm run -s sbom > sbom.json`.
 * npm makes it of everything in the lock file; packages that only development needs are removed
 * here. npm's own `--omit dev` also removes packages that development and services share.
 */
import { execFileSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

interface Component {
  readonly "bom-ref": string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly hashes?: ReadonlyArray<{ readonly alg: string; readonly content: string }>
}

interface Dependency {
  readonly ref: string
  readonly dependsOn: ReadonlyArray<string>
}

export interface Bom {
  readonly bomFormat: string
  readonly specVersion: string
  readonly serialNumber: string
  readonly metadata: { readonly component: Component }
  readonly components: ReadonlyArray<Component>
  readonly dependencies: ReadonlyArray<Dependency>
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
}

const root = join(import.meta.dirname, "..")

const manifests = globSync("{libs,services,tools}/*/package.json", { cwd: root }).map((file) => ({
  folder: dirname(file),
  manifest: JSON.parse(readFileSync(join(root, file), "utf8")) as Manifest
}))

const refOf = ({ name, version }: Manifest): string => `${name}@${version}`

/** The packages in the images: see docker/compose.yaml. */
const deployed = manifests
  .filter(({ folder }) => folder.startsWith("services/") || folder === "tools/operator")
  .map(({ manifest }) => refOf(manifest))

/** The manifest of a package says what it needs to run; npm adds what it is developed with. */
const needs = (bom: Bom): ((ref: string) => ReadonlyArray<string>) => {
  const graph = new Map(bom.dependencies.map(({ dependsOn, ref }) => [ref, dependsOn]))
  const own = new Map(manifests.map(({ manifest }) => [refOf(manifest), manifest]))
  return (ref) => {
    const all = graph.get(ref) ?? []
    const manifest = own.get(ref)
    if (manifest === undefined) return all
    const names = Object.keys(manifest.dependencies ?? {})
    return all.filter((each) => names.some((name) => each.startsWith(`${name}@`)))
  }
}

const run = (...args: ReadonlyArray<string>): string =>
  execFileSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "ignore"]
  })

/** The bill, in the order in which npm writes it. */
export const sbom = (): Bom => {
  const all = JSON.parse(run("sbom", "--sbom-format", "cyclonedx", "--package-lock-only")) as Bom
  const needed = needs(all)
  const kept = new Set(deployed)
  for (const ref of kept) for (const each of needed(ref)) kept.add(each)
  const { component } = all.metadata
  return {
    ...all,
    metadata: { ...all.metadata, component: { ...component, name: "data-import" } },
    components: all.components.filter((each) => kept.has(each["bom-ref"])),
    dependencies: [
      { ref: component["bom-ref"], dependsOn: deployed },
      ...[...kept].map((ref) => ({ ref, dependsOn: needed(ref) }))
    ]
  }
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(sbom(), null, 2)}\n`)
