/** docs/metrics.md lists every metric that the source declares, with its type, and no other. */
import { expect, it } from "vitest"
import { isTest, modules, read } from "./lint/workspaceFiles.ts"
import { documentedMetrics, undocumentedIn } from "@data-import/testbed/DocumentedMetrics"

const declaration = /\bMetric\.(counter|gauge|histogram)\(\s*"(\w+)"/g

/** Metrics of the event loop's delay are made by one function. */
const delay = /\bdelay\("(\w+)"\)/g

const declared = modules
  .filter((file) => /^(?:libs|services)\/[^/]+\/src\//.test(file) && !isTest(file))
  .flatMap((file) => {
    const text = read(file)
    return [
      ...[...text.matchAll(declaration)].map(([, type, name]) => `${name} ${type}`),
      ...[...text.matchAll(delay)].map(([, name]) => `${name} gauge`)
    ]
  })

it("every declared metric is documented, and every documented one declared", () => {
  const documented = documentedMetrics().map(({ name, type }) => `${name} ${type}`)
  expect(declared.length).toBeGreaterThan(20)
  expect(new Set(documented).size).toBe(documented.length)
  expect([...documented].sort()).toEqual([...new Set(declared)].sort())
})

it("a metric, a type or a label that is not documented is found", () => {
  const text = [
    "# TYPE made_up_total counter",
    "made_up_total 1",
    "# TYPE process_uptime_seconds counter",
    'http_server_active_requests{organisation="a b\\"c"} 1',
    "# TYPE data_import_document_lookup_duration_seconds histogram",
    'data_import_document_lookup_duration_seconds_bucket{outcome="found",le="5"} 1'
  ].join("\n")
  expect(undocumentedIn(text)).toEqual([
    "made_up_total is a counter",
    "process_uptime_seconds is a counter",
    "http_server_active_requests has the label organisation"
  ])
})
