/** The chart and the gateway send the same requests to the same services. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { table } from "@data-import/gateway/RoutingTable"
import { expect, it } from "vitest"
import { parse } from "yaml"

interface Values {
  readonly services: Readonly<
    Record<string, { readonly paths: Array<string>; readonly changes?: Array<string> }>
  >
}

const file = join(import.meta.dirname, "..", "..", "..", "docker", "helm", "values.yaml")

const camelCase = (name: string): string =>
  name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())

it("the paths of the chart are those of the gateway's table", () => {
  const { services } = parse(readFileSync(file, "utf8")) as Values
  for (const [name, { changes = [], paths }] of Object.entries(services)) {
    const of = (member: "service" | "changes") =>
      table.filter((entry) => entry[member] === camelCase(name)).map(({ prefix }) => prefix)
    expect(paths, name).toEqual(of("service"))
    expect(changes, `changes of ${name}`).toEqual(of("changes"))
  }
})
