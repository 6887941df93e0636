/** The chart as Go's templates, which are Helm's, render it. Skipped where there is no Go. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { parseAllDocuments } from "yaml"

const root = join(import.meta.dirname, "..", "..", "..")
const chart = join(root, "docker", "helm")
const services = readdirSync(join(root, "services")).toSorted()

const libraries = "/usr/share/gocode"
const sources = ["github.com/Masterminds/sprig", "sigs.k8s.io/yaml"]
const needed = ["/usr/bin/go", ...sources.map((each) => join(libraries, "src", each))]
const isThere = needed.every((each) => existsSync(each))
if (!isThere) console.log("The chart is not tested: tools/chart/README.md says what is missing.")

interface Named {
  readonly name: string
}

interface Reference {
  readonly secretKeyRef: Named & { readonly key: string }
}

interface Container {
  readonly env: ReadonlyArray<Named & { readonly value?: string; readonly valueFrom?: Reference }>
  readonly envFrom?: ReadonlyArray<{ readonly secretRef: Named }>
  readonly image: string
  readonly resources: object
  readonly securityContext: object
}

interface Rule {
  readonly matches?: ReadonlyArray<{ readonly path: { readonly value: string } }>
  readonly backendRefs: readonly [Named]
}

interface Resource {
  readonly kind: string
  readonly metadata: Named
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly [Container] } }
    readonly ingress: ReadonlyArray<object>
    readonly postgresql: object
    readonly rules: ReadonlyArray<Rule>
  }
}

/** Values that switch on what is off. */
const values = {
  image: { registry: "registry.example" },
  secrets: { vendors: "vendors" },
  services: { board: { settings: { LOG_LEVEL: "debug" } }, query: { digest: "sha256:abc" } },
  ingress: { enabled: true, host: "import.example" },
  httpRoute: { enabled: true, parentRefs: [{ name: "public" }] },
  metrics: { serviceMonitor: true },
  cluster: { enabled: true }
}

let resources: ReadonlyArray<Resource> = []

const ofKind = (kind: string) => {
  const all = resources.filter((each) => each.kind === kind)
  return new Map(all.map(({ metadata, spec }) => [metadata.name.replace("example-", ""), spec]))
}

const containers = (): ReadonlyMap<string, Container> =>
  new Map(
    [...ofKind("Deployment"), ...ofKind("Job")].map(([name, { template }]) => [
      name,
      template.spec.containers[0]
    ])
  )

const settingsOf = (name: string) =>
  containers()
    .get(name)
    ?.env.map((each) => each.name)

describe.skipIf(!isThere)("the chart", () => {
  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), "data-import-chart-"))
    const program = join(folder, "render")
    const env = { ...process.env, GO111MODULE: "off", GOPATH: libraries }
    const source = join(import.meta.dirname, "..", "main.go")
    execFileSync("/usr/bin/go", ["build", "-o", program, source], { env })
    const file = join(folder, "values.yaml")
    writeFileSync(file, JSON.stringify(values))
    const text = execFileSync(program, [chart, "example", file], { encoding: "utf8" })
    rmSync(folder, { recursive: true })
    resources = parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
      expect(document.errors).toEqual([])
      return (document.toJS() as Resource | null) ?? []
    })
  }, 300_000)

  it("has every service with all its resources, the operator command and the migration", () => {
    const namesOf = (kind: string) => [...ofKind(kind).keys()].toSorted()
    const each = ["Service", "PodDisruptionBudget", "HorizontalPodAutoscaler", "ServiceMonitor"]
    for (const kind of each) expect(namesOf(kind), kind).toEqual(services)
    expect(namesOf("Deployment")).toEqual([...services, "operator"].toSorted())
    expect(namesOf("NetworkPolicy")).toEqual([...services, "migration", "operator"].toSorted())
  })

  it("gives each service its own user of the database and secrets, by name only", () => {
    for (const [name, { env, envFrom = [] }] of containers()) {
      const secrets = env.filter((each) => /PASSWORD|SECRET|_KEY$|DATABASE_URL$/.test(each.name))
      const databases = new Map(secrets.map((each) => [each.name, each.valueFrom?.secretKeyRef]))
      for (const each of secrets) expect(each.value, each.name).toBeUndefined()
      const own = name === "migration" ? "owner" : name
      const expected = name === "gateway" ? undefined : own
      expect(databases.get("DATABASE_URL")?.key, name).toBe(expected)
      const others = envFrom.map(({ secretRef }) => secretRef.name.replace(`-${name}`, ""))
      expect(["data-import-documents", "vendors"], name).toEqual(expect.arrayContaining(others))
    }
    expect(settingsOf("gateway")).toEqual(expect.arrayContaining(["AUTH_URL", "POST_IMPORT_URL"]))
    expect(settingsOf("auth")).toContain("TOKEN_KEYS_DIR")
    expect(settingsOf("post-import")).toEqual(expect.arrayContaining(["JWKS_URL", "S3_BUCKET"]))
    expect(settingsOf("board")?.filter((each) => each === "LOG_LEVEL")).toHaveLength(1)
    expect(containers().get("query")?.image).toBe("registry.example/query@sha256:abc")
  })

  it("runs everything with resources, without rights, on a root that is read only", () => {
    const text = expect.stringMatching(/./) as string
    for (const [name, container] of containers()) {
      const requests = { cpu: text, memory: text }
      expect(container.resources, name).toEqual({ requests, limits: { memory: text } })
      expect(container.securityContext, name).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] }
      })
    }
  })

  it("lets only the gateway send requests, and readers of its public keys to auth", () => {
    const sendersTo = (name: string) => {
      const rules = ofKind("NetworkPolicy")
        .get(name)
        ?.ingress.map((each) => JSON.stringify(each))
      const requests = rules?.find((each) => each.includes(`"port":"http"`)) ?? ""
      return [...requests.matchAll(/kubernetes.io\/name":"([^"]+)/g)].map(([, sender]) => sender)
    }
    const readers = ["account-import", "batches", "events", "post-import", "query"]
    for (const name of [...readers, "board"]) expect(sendersTo(name), name).toEqual(["gateway"])
    expect(sendersTo("auth").toSorted()).toEqual([...readers, "gateway"].toSorted())
    expect(sendersTo("batch-worker")).toEqual([])
  })

  it("leads requests to the services without the gateway, and all else to it", () => {
    const rules = ofKind("HTTPRoute").get("services")?.rules ?? []
    const backendOf = (wanted: string) =>
      rules.findLast(({ matches }) =>
        matches === undefined ? wanted === "/" : matches.some(({ path }) => path.value === wanted)
      )?.backendRefs[0].name
    expect(backendOf("/v1/data-import/notes")).toBe("example-post-import")
    expect(backendOf("/")).toBe("example-gateway")
    expect(rules.flatMap(({ matches = [] }) => matches)).toContainEqual({
      method: "PATCH",
      path: { type: "PathPrefix", value: "/v1/data-import/imports" }
    })
    expect(ofKind("NetworkPolicy").get("query")?.ingress).toContainEqual({
      ports: [{ port: "http" }]
    })
  })

  it("keeps personal data out of the log of its own PostgreSQL", () => {
    const lengths = { log_parameter_max_length: "0", log_parameter_max_length_on_error: "0" }
    const parameters = { log_error_verbosity: "terse", ...lengths }
    expect(ofKind("Cluster").get("db")?.postgresql).toMatchObject({ parameters })
  })
})
