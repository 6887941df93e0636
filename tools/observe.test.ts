/**
 * Rules, dashboards and runbooks are consistent: every metric that they name is documented, every
 * alert has a runbook that exists and a test that makes it fire, and `promtool` agrees with both.
 */
import { execFileSync } from "node:child_process"
import { delimiter, join } from "node:path"
import { existsSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { files, read, root } from "./lint/workspaceFiles.ts"
import { documentedMetrics } from "@data-import/testbed/DocumentedMetrics"

const observed = (folder: string, ending: string) =>
  files.filter((file) => file.startsWith(`docker/observe/${folder}/`) && file.endsWith(ending))

const rules = observed("rules", ".yaml")
const tests = observed("tests", ".yaml")
const dashboards = observed("dashboards", ".json")

/** Metrics of PostgreSQL's exporter, the machine's and Prometheus itself. */
const foreign = [
  "up",
  "node_filesystem_avail_bytes",
  "node_filesystem_size_bytes",
  "pg_database_size_bytes",
  "pg_replication_lag_seconds",
  "pg_stat_activity_count",
  "pg_stat_activity_max_tx_duration",
  "pg_stat_archiver_failed_count",
  "pg_stat_database_blks_hit",
  "pg_stat_database_blks_read",
  "pg_stat_database_conflicts",
  "pg_stat_database_deadlocks",
  "pg_stat_database_xact_commit",
  "pg_stat_database_xact_rollback"
]

const documented = documentedMetrics()

const known = new Set([
  ...foreign,
  ...documented.flatMap(({ name, type }) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name]
  )
])

const words = new Set(
  (
    "and or unless on by ignoring group_left without offset bool absent avg count deriv histogram_quantile " +
    "increase label_replace label_values max max_over_time min min_over_time predict_linear rate " +
    "scalar sum sum_over_time topk vector"
  ).split(" ")
)

/** The metrics of an expression of PromQL: names that are neither words of it nor in braces. */
const metricsIn = (expression: string): ReadonlyArray<string> => {
  const bare = expression
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, "")
    .replaceAll(/\{[^}]*\}/g, " ")
    .replaceAll(/\[[^\]]*\]/g, " ")
    .replaceAll(/\b(?:by|on|without|ignoring) \([^)]*\)/g, " ")
  const names = [...bare.matchAll(/(?<![\w:.])[a-z_][\w:]*/g)].map(([name]) => name)
  return names.filter((name) => !words.has(name))
}

/** The expressions of a file of rules; a recorded series is known by the rules themselves. */
const expressionsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^ +expr: (?:>-\n((?: {10,}.*\n)+)|(.+)$)/gm)].map(
    ([, folded, plain]) => folded ?? plain ?? ""
  )

const recorded = rules.flatMap((file) =>
  [...read(file).matchAll(/record: (\S+)/g)].map(([, name = ""]) => name)
)

interface Panel {
  readonly title: string
  readonly targets: ReadonlyArray<{ readonly expr: string }>
}

const panelsOf = (file: string): ReadonlyArray<Panel> =>
  (JSON.parse(read(file)) as { readonly panels: ReadonlyArray<Panel> }).panels

const unknownIn = (expressions: ReadonlyArray<string>): ReadonlyArray<string> =>
  expressions.flatMap(metricsIn).filter((name) => !known.has(name) && !recorded.includes(name))

interface Alert {
  readonly name: string
  readonly text: string
}

const alerts: ReadonlyArray<Alert> = rules
  .flatMap((file) =>
    read(file)
      .split(/^ +- alert: /m)
      .slice(1)
  )
  .map((text) => ({ name: text.slice(0, text.indexOf("\n")).trim(), text }))

const promtool = (process.env["PATH"] ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "promtool"))
  .find((file) => existsSync(file))

describe("rules and dashboards", () => {
  it("name metrics that are documented", () => {
    const ofRules = rules.flatMap((file) => expressionsOf(read(file)))
    const ofPanels = dashboards.flatMap((file) =>
      panelsOf(file).flatMap(({ targets }) => targets.map(({ expr }) => expr))
    )
    expect(ofRules.length).toBeGreaterThan(40)
    expect(ofPanels.length).toBeGreaterThan(30)
    expect(unknownIn([...ofRules, ...ofPanels])).toEqual([])
  })

  it("are rejected if they name another one", () => {
    const expression = 'sum by (service) (rate(made_up_total{state="a}"}[5m])) / up > on (slo) 1'
    expect(metricsIn(expression)).toEqual(["made_up_total", "up"])
    expect(unknownIn([expression])).toEqual(["made_up_total"])
  })

  it("show every metric of the services somewhere, except finer figures of the process", () => {
    const shown = [...rules, ...dashboards].map(read).join("\n")
    const finer = /^(nodejs_|v8js_|process_uptime)|documents_remembered/
    const missing = documented.filter(({ name }) => !shown.includes(name) && !finer.test(name))
    expect(missing.map(({ name }) => name)).toEqual([])
  })
})

describe("every service", () => {
  const services = [
    ...new Set(files.flatMap((file) => /^services\/([^/]+)\//.exec(file)?.[1] ?? []))
  ]

  it.each(services)("%s is scraped and traced in the composed system", (service) => {
    const scraped = /names:\s*\[([^\]]*)\]/.exec(read("docker/observe/prometheus.yaml"))?.[1] ?? ""
    expect(scraped.split(/[\s,]+/)).toContain(service)
    expect(read("docker/compose.observe.yaml")).toContain(`\n  ${service}: *traced\n`)
  })
})

describe("an alert", () => {
  it.each(alerts)("$name names an existing runbook, and has two tests", ({ name, text }) => {
    const runbook = /runbook: (\S+)/.exec(text)?.[1] ?? ""
    expect(files).toContain(runbook)
    expect(read("docs/runbooks/README.md")).toContain(`](${runbook.split("/").at(-1)})`)
    expect(read(runbook)).toContain(`\`${name}\``)
    expect(text).toMatch(/severity: (page|ticket)/)
    const cases = tests.flatMap((file) =>
      read(file)
        .split(/^ {2}- name: /m)
        .slice(1)
    )
    const own = cases.filter((one) => one.includes(`alertname: ${name}\n`))
    expect(own.some((one) => one.includes("exp_labels:"))).toBe(true)
    expect(own.some((one) => one.includes("exp_alerts: []"))).toBe(true)
  })
})

describe("a runbook", () => {
  const runbooks = files.filter((file) => /^docs\/runbooks\/(?!README).*\.md$/.test(file))
  const parts = ["What you see", "What it means", "First look", "Mend", "Verify", "Afterwards"]

  it.each(runbooks)("%s has every part, and is linked", (file) => {
    const headings = [...read(file).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(parts)
    expect(read(file)).toMatch(/^(Followed on \d{4}-\d\d-\d\d|Not followed)/m)
    expect(read("docs/runbooks/README.md")).toContain(`](${file.split("/").at(-1)})`)
  })
})

/** In Debian's package `prometheus`; `.ci/run` unpacks it where it can. */
describe.skipIf(promtool === undefined)("promtool (skipped where it is not installed)", () => {
  const run = (...args: ReadonlyArray<string>) =>
    execFileSync(promtool ?? "", args, { cwd: root, encoding: "utf8", stdio: "pipe" })

  it("takes the rules", () => {
    expect(run("check", "rules", ...rules)).toContain("SUCCESS")
  })

  it("finds that each alert fires with its fault, and not without", { timeout: 300_000 }, () => {
    expect(run("test", "rules", ...tests)).toContain("SUCCESS")
  })
})
