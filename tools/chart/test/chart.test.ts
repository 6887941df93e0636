/**
 * The rendered chart: the settings of every service, and that the rendering has not changed. `npx
 * vitest run tools/chart -u` updates the renderings.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { defaults, render, type Resource, resourcesOf, valuesOf } from "../Chart.ts"
import { everything, name } from "./everything.ts"

const root = join(import.meta.dirname, "..", "..", "..")
const fileText = (...path: ReadonlyArray<string>) => readFileSync(join(root, ...path), "utf8")

const services = readdirSync(join(root, "services"))

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
}

interface Container {
  readonly image: string
  readonly env: ReadonlyArray<Variable>
  readonly envFrom?: ReadonlyArray<unknown>
  readonly command?: ReadonlyArray<string>
  readonly securityContext: object
}

interface PodTemplate {
  readonly spec: {
    readonly containers: ReadonlyArray<Container>
    readonly terminationGracePeriodSeconds: number
    readonly securityContext: object
  }
}

const containerOf = ({ spec }: Resource): Container => {
  const [container] = (spec["template"] as PodTemplate).spec.containers
  if (container === undefined) throw new Error("There is no container")
  return container
}

const none = {}
const rendered = new Map<object, ReadonlyArray<Resource>>()

/** Each values are rendered once. */
const resources = (values: object): ReadonlyArray<Resource> => {
  const known = rendered.get(values) ?? resourcesOf(render({ name, values: { ...values } }))
  rendered.set(values, known)
  return known
}

const ofKind = (kind: string, values: object = none) =>
  new Map(
    resources(values)
      .filter((each) => each.kind === kind)
      .map((each) => [each.metadata.name.replace(`${name}-`, ""), each] as const)
  )

const settingsOf = (service: string, values: object = none) => {
  const deployment = ofKind("Deployment", values).get(service)
  if (deployment === undefined) throw new Error(`There is no ${service}`)
  return containerOf(deployment).env.map((variable) => variable.name)
}

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
}

const nodeAt = (node: Node | undefined, path: ReadonlyArray<string>): Node | undefined =>
  path.reduce<Node | undefined>((each, name) => each?.properties?.[name], node)

/** A rule of a network policy. */
interface Rule {
  readonly ports: ReadonlyArray<{ readonly port: string }>
  readonly from?: ReadonlyArray<{
    readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> }
  }>
}

describe("the chart", () => {
  it.each([
    ["default", {}],
    ["everything", everything]
  ])("renders as before: %s", async (golden, values) => {
    const text = [...render({ name, values }).values()].join("---\n")
    await expect(text).toMatchFileSnapshot(`golden/${golden}.yaml`)
  })

  it("has every service with all its resources, and the operator command", () => {
    const namesOf = (kind: string) => [...ofKind(kind).keys()].toSorted()
    for (const kind of ["Service", "PodDisruptionBudget", "HorizontalPodAutoscaler"]) {
      expect(namesOf(kind), kind).toEqual(services.toSorted())
    }
    expect(namesOf("Deployment")).toEqual([...services, "operator"].toSorted())
    expect(namesOf("NetworkPolicy")).toEqual([...services, "migration", "operator"].toSorted())
    expect(ofKind("ServiceMonitor").size).toBe(0)
    expect(ofKind("ServiceMonitor", everything).size).toBe(services.length)
  })

  it("gives another service all of it by one entry", () => {
    const other = { ...(defaults["services"] as Record<string, object>)["query"] }
    const values = { services: { another: other } }
    for (const kind of ["Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"]) {
      expect(ofKind(kind, values).has("another"), kind).toBe(true)
    }
    expect(settingsOf("gateway", values)).toContain("ANOTHER_URL")
    const [job] = ofKind("Job", values).values()
    if (job === undefined) throw new Error("There is no migration")
    expect(containerOf(job).env.map((each) => each.name)).toContain("ANOTHER_DATABASE_URL")
  })

  it("sets each setting once, that of the service before that of all", () => {
    for (const values of [none, everything]) {
      for (const [service, deployment] of ofKind("Deployment", values)) {
        const names = containerOf(deployment).env.map((variable) => variable.name)
        expect(names, service).toEqual([...new Set(names)])
      }
    }
    const board = ofKind("Deployment", everything).get("board")
    if (board === undefined) throw new Error("There is no board")
    expect(containerOf(board).env).toContainEqual({ name: "LOG_LEVEL", value: "debug" })
    expect(containerOf(board).env).toContainEqual({ name: "RATE_LIMIT", value: "600" })
  })

  it("lets only the gateway send requests, and readers of its public keys to auth", () => {
    const sendersTo = (service: string): ReadonlyArray<string> => {
      const rules = ofKind("NetworkPolicy").get(service)?.spec["ingress"] as ReadonlyArray<Rule>
      const [requests] = rules.filter(({ ports }) => ports.some(({ port }) => port === "http"))
      return (requests?.from ?? []).map(
        ({ podSelector }) => podSelector.matchLabels["app.kubernetes.io/name"] ?? ""
      )
    }
    for (const service of [
      "account-import",
      "post-import",
      "query",
      "batches",
      "events",
      "board"
    ]) {
      expect(sendersTo(service), service).toEqual(["gateway"])
    }
    expect(sendersTo("auth")).toEqual([
      "account-import",
      "batches",
      "events",
      "gateway",
      "post-import",
      "query"
    ])
  })

  it("allows all connections of all pods at its own PostgreSQL", () => {
    const [cluster] = ofKind("Cluster", everything).values()
    if (cluster === undefined) throw new Error("There is no cluster")
    const { parameters } = cluster.spec["postgresql"] as {
      readonly parameters: Readonly<Record<string, string>>
    }
    const pods = [...ofKind("HorizontalPodAutoscaler").values()]
      .filter(({ metadata }) =>
        settingsOf(metadata.name.replace(`${name}-`, "")).includes("DATABASE_URL")
      )
      .reduce((sum, { spec }) => sum + Number(spec["maxReplicas"]), 0)
    expect(pods).toBeGreaterThan(services.length)
    expect(Number(parameters["max_connections"])).toBeGreaterThan(11 * pods)
  })

  it.each([
    ["an unknown value", { drainDelay: 5 }, /additional properties/],
    ["an unknown one of a service", { services: { query: { replica: 3 } } }, /services\/query/],
    ["a service that lacks something", { services: { new: { route: true } } }, /services\/new/],
    ["a number where a setting is text", { settings: { RATE_LIMIT: 600 } }, /RATE_LIMIT/],
    ["what cannot be the name of a setting", { settings: { "rate-limit": "600" } }, /settings/],
    ["a text where a number is wanted", { shutdownGraceSeconds: "15" }, /shutdownGraceSeconds/],
    ["a negative time", { drainDelaySeconds: -1 }, /drainDelaySeconds/],
    ["a list of secrets that is none", { image: { pullSecrets: "registry" } }, /pullSecrets/],
    ["an ingress without a host", { ingress: { enabled: true } }, /ingress\/host/]
  ] as const)("refuses %s", (_, values, reason) => {
    expect(() => render({ name, values })).toThrow(reason)
  })

  it("has a schema for every value that its templates read", () => {
    const folder = join(root, "docker", "helm", "templates")
    const templates = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"))
    const read = templates.flatMap((text) => [...text.matchAll(/\.Values\.([\w.]+)/g)])
    const schema = JSON.parse(fileText("docker", "helm", "values.schema.json")) as Node
    expect(read.length).toBeGreaterThan(50)
    for (const [, path = ""] of read) expect(nodeAt(schema, path.split(".")), path).toBeDefined()
  })

  it("leads clients to the gateway if configured", () => {
    expect(ofKind("Ingress").size).toBe(0)
    const ports = ofKind("Service", everything).get("gateway")?.spec["ports"]
    expect(ports).toContainEqual({ name: "http", port: 8080, targetPort: "http" })
    const backend = { service: { name: `${name}-gateway`, port: { name: "http" } } }
    expect(ofKind("Ingress", everything).get("gateway")?.spec).toMatchObject({
      rules: [{ host: "import.example", http: { paths: [{ path: "/", backend }] } }],
      tls: [{ hosts: ["import.example"], secretName: "import-tls" }]
    })
  })

  it("is of the release", () => {
    const { appVersion, version } = valuesOf(fileText("docker", "helm", "Chart.yaml"))
    const { version: release } = JSON.parse(fileText("package.json")) as { version: string }
    expect({ appVersion, version }).toEqual({ appVersion: release, version: release })
  })

  it("keeps every secret out of the rendering", () => {
    const secrets = /PASSWORD|SECRET|_KEY$|DATABASE_URL$/
    for (const { kind, ...rest } of resources(everything)) {
      if (kind !== "Deployment" && kind !== "Job") continue
      const { env } = containerOf({ kind, ...rest })
      for (const variable of env.filter((each) => secrets.test(each.name))) {
        expect(variable.value, variable.name).toBeUndefined()
        expect(variable.valueFrom?.secretKeyRef.name).toBe("data-import-database-urls")
      }
    }
  })

  it("runs everything without rights, on a root that is read only", () => {
    for (const each of [...ofKind("Deployment").values(), ...ofKind("Job").values()]) {
      const { spec } = each.spec["template"] as PodTemplate
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
      expect(containerOf(each).securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] }
      })
    }
  })

  it("leaves a service the time to drain and to finish its requests", () => {
    const values = { drainDelaySeconds: 20, shutdownGraceSeconds: 40 }
    for (const [service, each] of ofKind("Deployment", values)) {
      if (service === "operator") continue
      const { spec } = each.spec["template"] as PodTemplate
      const seconds = new Map(containerOf(each).env.map((it) => [it.name, it.value]))
      expect(seconds.get("DRAIN_DELAY_SECONDS")).toBe("20")
      expect(seconds.get("SHUTDOWN_GRACE_SECONDS")).toBe("40")
      expect(spec.terminationGracePeriodSeconds).toBe(70)
    }
  })

  it("migrates before the services start, or after their database is there", () => {
    const hooks = (values: object) =>
      [...ofKind("Job", values).values()].map(
        ({ metadata }) => (metadata["annotations"] as Record<string, string>)["helm.sh/hook"]
      )
    expect(hooks(none)).toEqual(["pre-install,pre-upgrade"])
    expect(hooks(everything)).toEqual(["post-install,pre-upgrade"])
  })
})

/** A row of the table of settings: the names, and which service must have them. */
const table = fileText("docs", "operating.md")
  .split("\n")
  .filter((line) => /^\| `[A-Z]/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, names = "", standard = "", readBy = ""]) => ({
    names: [...names.matchAll(/`([A-Z0-9_]+)`/g)].flatMap(([, found]) => found ?? []),
    isRequired: standard === "—",
    readBy
  }))

const readers = (readBy: string): ReadonlyArray<string> => {
  const [, but] = /^all but (.*)$/.exec(readBy) ?? []
  if (but !== undefined) return services.filter((each) => !but.split(", ").includes(each))
  return readBy === "all" ? services : services.filter((each) => readBy.split(", ").includes(each))
}

/** Wanted only with an identity provider. */
const ofProvider = /^BOARD_OIDC_/

const addresses = services.map((each) => `${each.toUpperCase().replaceAll("-", "_")}_URL`)

describe("a setting that a service must have", () => {
  const required = table.filter(
    ({ isRequired, names }) => isRequired && !names.some((each) => ofProvider.test(each))
  )

  it("is known from docs/operating.md", () => {
    expect(required.flatMap(({ names }) => names)).toEqual(
      expect.arrayContaining(["DATABASE_URL", "JWKS_URL", "TOKEN_KEYS_DIR", "QUERY_URL"])
    )
  })

  it.each(
    required.flatMap(({ names, readBy }) => readers(readBy).map((each) => [each, names] as const))
  )("is set for %s: %j", (service, names) => {
    const given = settingsOf(service)
    // The document store is a bucket in place of a folder, and the keys a URL in place of a file.
    const alternatives: Readonly<Record<string, ReadonlyArray<string>>> = {
      DOCUMENTS_DIR: ["S3_BUCKET"],
      JWKS_URL: names,
      JWKS_FILE: names
    }
    for (const setting of names) {
      const either = alternatives[setting] ?? [setting]
      expect(
        either.some((each) => given.includes(each)),
        setting
      ).toBe(true)
    }
  })

  it("is known to the documentation whenever it is set", () => {
    const known = table.flatMap(({ names }) => names)
    for (const service of services) {
      const given = settingsOf(service, everything).filter((each) => !addresses.includes(each))
      expect(known).toEqual(expect.arrayContaining(given))
    }
  })
})
