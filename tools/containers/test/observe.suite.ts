/**
 * The composed system with docker/compose.observe.yaml: Prometheus finds every instance, has the
 * rules, and raises an alert when something ends. Services send their traces to Tempo, and work
 * without it.
 */
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Composition } from "../Composition.ts"
import { eventually } from "../eventually.ts"
import { composeFolder } from "../images.ts"

const grafanaPassword = randomBytes(24).toString("hex")
const exporterPassword = randomBytes(24).toString("hex")
const system = new Composition(
  {
    GRAFANA_PASSWORD: grafanaPassword,
    EXPORTER_PASSWORD: exporterPassword,
    GRAFANA_PORT: "0",
    PROMETHEUS_PORT: "0"
  },
  "compose.observe.yaml"
)

/** The offline engine has neither, because Debian has no package of them. */
const absent = await system.unavailable(["grafana", "tempo"])

beforeAll(() => system.start(absent))
afterAll(() => system.stop())

const Labels = Schema.Record(Schema.String, Schema.String)
const Targets = Schema.Struct({
  activeTargets: Schema.Array(
    Schema.Struct({ labels: Labels, health: Schema.String, lastError: Schema.String })
  )
})
const Rules = Schema.Struct({
  groups: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      lastEvaluation: Schema.String,
      rules: Schema.Array(Schema.Struct({ name: Schema.String, health: Schema.String }))
    })
  )
})
const Alerts = Schema.Struct({
  alerts: Schema.Array(Schema.Struct({ labels: Labels, state: Schema.String }))
})
const Series = Schema.Struct({ result: Schema.Array(Schema.Struct({ metric: Labels })) })

/** An answer of Prometheus, decoded by the schema of its API. */
const ask = async <A>(path: string, shape: Schema.Decoder<A>): Promise<A> => {
  const answer = await fetch(`${system.published("prometheus-1", 9090)}/api/v1/${path}`)
  return Schema.decodeUnknownSync(Schema.Struct({ data: shape }))(await answer.json()).data
}

const activeTargets = async () => (await ask("targets", Targets)).activeTargets

/** The values of a label in the newest samples of an expression, sorted. */
const valuesOf = async (label: string, expression: string) => {
  const { result } = await ask(`query?query=${encodeURIComponent(expression)}`, Series)
  return result.map(({ metric }) => metric[label]).toSorted()
}

/** The alerts of the system, except those for disk space, which depends on the machine. */
const alerts = async () =>
  (await ask("alerts", Alerts)).alerts.filter(
    ({ labels, state }) => state === "firing" || !labels["alertname"]?.startsWith("Disk")
  )

/** The result of a statement that runs as the exporter's user. */
const asExporter = async (sql: string) => {
  const options = ["--env", `PGPASSWORD=${exporterPassword}`, "--entrypoint", "psql"]
  const to = ["--host=postgres", "--username=exporter", "--dbname=data_import"]
  const answer = await system.run("exporter-user", options, [...to, "--no-align", "-t"], sql)
  return answer.trim()
}

describe("Prometheus", () => {
  it("scrapes every instance of every service, and the exporters", () =>
    eventually(async () => {
      const found = await activeTargets()
      expect(found.filter(({ health }) => health !== "up")).toEqual([])
      expect(found.map(({ labels }) => labels["service"]).toSorted()).toEqual([
        "account-import",
        "account-import",
        "auth",
        "batch-worker",
        "batches",
        "board",
        "events",
        "gateway",
        "node",
        "post-import",
        "postgres",
        "query"
      ])
    }))

  it("has the exporters' metrics that the rules use", async () => {
    const names = [
      "node_filesystem_avail_bytes",
      "node_filesystem_size_bytes",
      "pg_stat_activity_max_tx_duration",
      "pg_stat_archiver_failed_count"
    ]
    const expression = `count by (__name__) ({__name__=~"${names.join("|")}"})`
    expect(await valuesOf("__name__", expression)).toEqual(names)
  })

  it("has the disks of the machine, each once, and not those of a container", async () => {
    const disks = `count by (mountpoint) (node_filesystem_avail_bytes{fstype!~"tmpfs|overlay"})`
    const mounted = await valuesOf("mountpoint", disks)
    expect(mounted.filter((path) => path?.startsWith("/etc/"))).toEqual([])
    expect(mounted.length).toBeGreaterThan(0)
  })

  it("has no pending or firing alert while everything works", async () => {
    const begun = Date.now()
    await eventually(async () => {
      const { groups } = await ask("rules", Rules)
      const evaluated = groups.find(({ name }) => name === "data-import")?.lastEvaluation ?? ""
      expect(Date.parse(evaluated)).toBeGreaterThan(begun)
      expect(await alerts()).toEqual([])
    })
  })
})

describe("the exporter's user", () => {
  it("can read the activity of other sessions", async () => {
    const others = "select count(*) > 0 from pg_stat_activity where usename = 'query'"
    expect(await asExporter(`${others} and query <> '<insufficient privilege>'`)).toBe("t")
  })

  it("cannot read or write a table, nor call a function with its owner's rights", async () => {
    const own = "nspname not like 'pg\\_%' and nspname <> 'information_schema'"
    const tables = `pg_class c join pg_namespace n on n.oid = relnamespace where ${own}
      and relkind in ('r', 'p', 'v', 'm')`
    expect(Number(await asExporter(`select count(*) from ${tables}`))).toBeGreaterThan(20)
    const rights = "'select, insert, update, references'"
    expect(
      await asExporter(`
        select relname from ${tables} and (has_any_column_privilege(c.oid, ${rights})
          or has_table_privilege(c.oid, 'delete, truncate, trigger'));
        select proname from pg_proc join pg_namespace n on n.oid = pronamespace
          where ${own} and prosecdef and has_function_privilege(pg_proc.oid, 'execute')`)
    ).toBe("")
  })
})

describe("traces", () => {
  const seeKeys = async () => {
    const { status } = await fetch(`${system.gatewayUrl}/.well-known/jwks.json`)
    expect(status).toBe(200)
  }

  it("go to Tempo, and services work without it", async () => {
    const { environment } = await system.inspect("gateway-1")
    expect(environment).toContain("OTEL_EXPORTER_OTLP_ENDPOINT=http://tempo:4318")
    await seeKeys()
    expect((await fetch(`${system.gatewayUrl}/health/ready`)).status).toBe(200)
  })

  it.skipIf(absent.includes("tempo"))("are in Tempo (skipped where its image is absent)", () =>
    eventually(async () => {
      await seeKeys()
      const search = `fetch("http://tempo:3200/api/search?limit=1").then((answer) => answer.text())`
      expect(await system.evaluate("gateway-1", `${search}.then(console.log)`)).toContain("traceID")
    })
  )
})

describe.skipIf(absent.includes("grafana"))("Grafana (skipped where its image is absent)", () => {
  const read = async <A>(path: string, shape: Schema.Decoder<A>): Promise<A> => {
    const authorization = `Basic ${Buffer.from(`admin:${grafanaPassword}`).toString("base64")}`
    const url = `${system.published("grafana-1", 3000)}/api/${path}`
    const answer = await fetch(url, { headers: { authorization } })
    return Schema.decodeUnknownSync(shape)(await answer.json())
  }

  it("has the datasources, and reaches Prometheus", async () => {
    const found = await read("datasources", Schema.Array(Schema.Struct({ uid: Schema.String })))
    expect(found.map(({ uid }) => uid).toSorted()).toEqual(["prometheus", "tempo"])
    const health = Schema.Struct({ status: Schema.String })
    expect(await read("datasources/uid/prometheus/health", health)).toEqual({ status: "OK" })
  })

  it("has every dashboard", () =>
    eventually(async () => {
      const found = await read(
        "search?type=dash-db",
        Schema.Array(Schema.Struct({ uid: Schema.String }))
      )
      const expected = readdirSync(join(composeFolder, "observe/dashboards")).map(
        (file) => `data-import-${file.replace(".json", "")}`
      )
      expect(found.map(({ uid }) => uid)).toEqual(expect.arrayContaining(expected))
    }))
})

// This is last, because it stops parts of the system.
describe("alerts", () => {
  it("are pending once a service and the database have ended", async () => {
    await Promise.all([system.stopService("query"), system.stopService("postgres")])
    await eventually(async () => {
      const raised = (await alerts()).map(({ labels }) => labels)
      expect(raised).toContainEqual(
        expect.objectContaining({ alertname: "ServiceDown", dependency: "query" })
      )
      expect(raised).toContainEqual(expect.objectContaining({ alertname: "DatabaseUnavailable" }))
    })
  })

  it("every rule of the files is evaluated without an error", () =>
    eventually(async () => {
      const folder = join(composeFolder, "observe/rules")
      const text = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"))
      const named = text.flatMap((rules) => [...rules.matchAll(/^ +- (?:alert|record): (\S+)/gm)])
      const rules = (await ask("rules", Rules)).groups.flatMap((group) => group.rules)
      expect(rules.filter(({ health }) => health !== "ok")).toEqual([])
      expect(rules.map(({ name }) => name).toSorted()).toEqual(
        named.map(([, name]) => name).toSorted()
      )
    }))
})
