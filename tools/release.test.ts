/** A release by digest names no image by its tag, and contains no setting or password. */
import { describe, expect, it } from "vitest"
import { read } from "./lint/workspaceFiles.ts"
import { chartValues, type Composition, release } from "./release.ts"

const digestOf = (letter: string) => `sha256:${letter.repeat(64)}`
const registry = "registry.example:5000/data-import"

const ownOf = (name: string) => ({
  image: `${registry}/${name}:1.2.3`,
  build: { context: ".." },
  environment: { DATABASE_URL: "postgres://owner:secret@postgres:5432/data_import" }
})

const composition = {
  services: {
    postgres: { image: "postgres:17-alpine" },
    "account-import": ownOf("account-import"),
    gateway: ownOf("gateway"),
    operator: ownOf("operator")
  }
} satisfies Composition

/** An image that was also pushed elsewhere, and three others. */
const known: Readonly<Record<string, ReadonlyArray<string>>> = {
  "postgres:17-alpine": [`mirror.example/postgres@${digestOf("e")}`, `postgres@${digestOf("a")}`],
  [`${registry}/account-import:1.2.3`]: [`${registry}/account-import@${digestOf("b")}`],
  [`${registry}/gateway:1.2.3`]: [`${registry}/gateway@${digestOf("c")}`],
  [`${registry}/operator:1.2.3`]: [`${registry}/operator@${digestOf("d")}`]
}
const digests = (image: string) => known[image] ?? []

describe("a release", () => {
  it("names each image by its digest, and builds none", () => {
    const lines = release(composition, digests).split("\n")
    expect(lines.filter((line) => line.includes("image:"))).toEqual([
      `    image: "postgres@${digestOf("a")}"`,
      `    image: "${registry}/account-import@${digestOf("b")}"`,
      `    image: "${registry}/gateway@${digestOf("c")}"`,
      `    image: "${registry}/operator@${digestOf("d")}"`
    ])
    expect(lines.filter((line) => line === "    build: !reset null")).toHaveLength(3)
  })

  it("holds no settings", () => {
    expect(release(composition, digests)).not.toContain("secret")
    expect(chartValues(composition, digests)).not.toContain("secret")
  })

  it.each([
    ["that was not pushed", "data-import/query:latest"],
    ["that the engine has from elsewhere only", "docker.example/postgres:17-alpine"]
  ])("is refused where it has an image %s, and names it", (_, image) => {
    const lacking = { services: { ...composition.services, query: { image } } }
    const elsewhere = (asked: string) =>
      asked === image ? [`postgres@${digestOf("a")}`] : digests(asked)
    expect(() => release(lacking, elsewhere)).toThrow(`query: ${image}`)
    expect(() => chartValues(lacking, elsewhere)).toThrow(`query: ${image}`)
  })

  it("is refused for the chart while its images are in several registries", () => {
    const query = { image: "other.example/query:1.2.3", build: {} }
    const scattered = { services: { ...composition.services, query } }
    const all = (image: string) =>
      image === query.image ? [`other.example/query@${digestOf("f")}`] : digests(image)
    expect(() => chartValues(scattered, all)).toThrow("in one registry")
  })

  it("gives the chart its registry, and each image its digest", () => {
    expect(JSON.parse(chartValues(composition, digests))).toEqual({
      image: { registry },
      services: {
        "account-import": { digest: digestOf("b") },
        gateway: { digest: digestOf("c") }
      },
      operator: { digest: digestOf("d") }
    })
  })

  it("is that of the chart", () => {
    const { version } = JSON.parse(read("package.json")) as { readonly version: string }
    const chart = read("docker/helm/Chart.yaml").matchAll(/^(?:appVersion|version): "?([^"\n]+)/gm)
    expect([...chart].map(([, found]) => found)).toEqual([version, version])
  })
})
