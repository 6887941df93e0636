/** The bill of materials: well formed, whole, and without what only development needs. */
import { beforeAll, describe, expect, it } from "vitest"
import { packages, read } from "./lint/workspaceFiles.ts"
import { type Bom, sbom } from "./sbom.ts"

const locked = (
  JSON.parse(read("package-lock.json")) as {
    readonly packages: Record<string, { readonly version?: string; readonly integrity?: string }>
  }
).packages

describe("the bill of materials", () => {
  let bom: Bom
  beforeAll(() => void (bom = sbom()))

  it("is CycloneDX", () => {
    expect(bom.bomFormat).toBe("CycloneDX")
    expect(bom.specVersion).toMatch(/^1\.\d$/)
    expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(bom.metadata.component).toMatchObject({ name: "data-import", version: "0.1.0" })
  })

  it("names each package once, with a version and a package URL", () => {
    const refs = bom.components.map((each) => each["bom-ref"])
    expect(refs.length).toBeGreaterThan(50)
    expect(new Set(refs).size).toBe(refs.length)
    const bad = bom.components.filter(
      ({ purl, version }) => !purl.startsWith("pkg:npm/") || !purl.endsWith(`@${version}`)
    )
    expect(bad).toEqual([])
  })

  it("refers to packages that it names, and reaches each of them", () => {
    const refs = new Set(bom.components.map((each) => each["bom-ref"]))
    const known = new Set([bom.metadata.component["bom-ref"], ...refs])
    const reached = new Set(bom.dependencies.flatMap(({ dependsOn }) => dependsOn))
    const named = [...reached, ...bom.dependencies.map(({ ref }) => ref)]
    expect(named.filter((ref) => !known.has(ref))).toEqual([])
    expect([...refs].filter((ref) => !reached.has(ref))).toEqual([])
  })

  it("has everything that services and libraries declare, as it is locked", () => {
    const deployed = packages.filter(({ folder }) => /^services\/|^tools\/operator$/.test(folder))
    const names = deployed.flatMap(({ dependencies }) => Object.keys(dependencies))
    const found = new Map(bom.components.map((each) => [each["bom-ref"], each]))
    const missing = [...new Set(names)]
      .map((name) => `${name}@${locked[`node_modules/${name}`]?.version ?? "0.1.0"}`)
      .filter((ref) => !found.has(ref))
    expect(missing).toEqual([])
    const { hashes = [] } = found.get(`effect@${locked["node_modules/effect"]?.version}`) ?? {}
    const integrity = hashes.map(({ content }) => Buffer.from(content, "hex").toString("base64"))
    expect(integrity).toEqual([locked["node_modules/effect"]?.integrity?.replace("sha512-", "")])
  })

  it("has nothing that only development needs", () => {
    const names = bom.components.map(({ purl }) => purl)
    const tools = /pkg:npm\/(vitest|typescript|nx|oxlint|fauxqs|fast-check|playwright-core)@/
    expect(names.filter((purl) => tools.test(purl))).toEqual([])
  })
})
