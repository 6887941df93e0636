/**
 * The chart as it is rendered: what every service is given, and that it says the same as before.
 * `npx vitest run tools/chart -u` writes the renderings anew.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { defaults, render, type Resource, resourcesOf } from "../Chart.ts"

const name = "example"

/** Everything that the chart can make. */
const all = {
  image: { pullSecrets: [{ name: "registry" }], tag: "1.2.3" },
  documents: { endpoint: "https://store.example", publicEndpoint: "https://files.example" },
  secrets: { vendors: "vendors" },
  settings: { RATE_LIMIT: "600" },
  metrics: { serviceMonitor: true },
  services: {
    board: { secret: "board", settings: { MAX_REQUESTS_WAITING: "10" } },
    gateway: { digest: `sha256:${"a".repeat(12)}` }
  },
  networkPolicy: {
    gatewayFrom: [{ namespaceSelector: { matchLabels: { name: "ingress" } } }],
    databaseTo: [{ ipBlock: { cidr: "10.0.0.0/8" } }]
  },
  cluster: { enabled: true, backup: { retentionPolicy: "30d" } }
}

const services = readdirSync(join(import.meta.dirname, "..", "..", "..", "services"))

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

const ofKind = (kind: string, values = {}) =>
  new Map(
    resourcesOf(render({ name, values }))
      .filter((each) => each.kind === kind)
      .map((each) => [each.metadata.name.replace(`${name}-`, ""), each] as const)
  )

const settingsOf = (service: string, values = {}) => {
  const deployment = ofKind("Deployment", values).get(service)
  if (deployment === undefined) throw new Error(`There is no ${service}`)
  return containerOf(deployment).env.map((variable) => variable.name)
}

describe("the chart", () => {
  it.each([
    ["default", {}],
    ["everything", all]
  ])("renders as before: %s", async (golden, values) => {
    const text = [...render({ name, values }).values()].join("---\n")
    await expect(text).toMatchFileSnapshot(`golden/${golden}.yaml`)
  })

  it("has every service, with all that belongs to one", () => {
    for (const kind of ["Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"]) {
      expect([...ofKind(kind).keys()].toSorted(), kind).toEqual(services.toSorted())
    }
    expect([...ofKind("HorizontalPodAutoscaler").keys()]).toHaveLength(services.length)
    expect(ofKind("ServiceMonitor").size).toBe(0)
    expect(ofKind("ServiceMonitor", all).size).toBe(services.length)
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

  it("keeps every secret out of the rendering", () => {
    const secrets = /PASSWORD|SECRET|_KEY$|DATABASE_URL$/
    for (const { kind, ...rest } of resourcesOf(render({ name, values: all }))) {
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
    for (const each of ofKind("Deployment", values).values()) {
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
    expect(hooks({})).toEqual(["pre-install,pre-upgrade"])
    expect(hooks(all)).toEqual(["post-install,pre-upgrade"])
  })
})

/** A row of the table of settings: the names, and which service must have them. */
const table = readFileSync(
  join(import.meta.dirname, "..", "..", "..", "docs", "operating.md"),
  "utf8"
)
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
      const given = settingsOf(service, all).filter((each) => !addresses.includes(each))
      expect(known).toEqual(expect.arrayContaining(given))
    }
  })
})
