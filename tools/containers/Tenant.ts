/**
 * The demo tenant in the composed system, made with the operator command in its container. Its
 * documents are also put into the object store from a container.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Scope } from "@data-import/domain/suppliers/Organisation"
import type { Demo } from "@data-import/local/DemoFile"
import { documentPaths } from "@data-import/testbed/SampleDocuments"
import { team } from "@data-import/testbed/Tenants"
import { Schema } from "effect"
import type { Composition } from "./Composition.ts"

const supplier = "DEMO_ENERGY"

const Issued = Schema.fromJsonString(Schema.Struct({ apiKey: Schema.String }))

const operate = (system: Composition, ...args: ReadonlyArray<string>) =>
  system.run("operator", [], args)

const issueKey = async (system: Composition, organisation: string): Promise<string> => {
  const scopes = Scope.literals.join(",")
  const output = await operate(system, "key", "issue", organisation, "--scope", scopes, "--json")
  return Schema.decodeUnknownSync(Issued)(output).apiKey
}

const putDocuments = (system: Composition) => {
  const script = readFileSync(join(import.meta.dirname, "putDocuments.mjs"), "utf8")
  const keys = documentPaths.map((path) => `${supplier}/${path}`)
  const asModule = ["--input-type=module", "-", ...keys]
  return system.run("account-import", ["--entrypoint", "node"], asModule, script)
}

/** Makes the tenant of the journey. */
export const makeTenant = async (system: Composition): Promise<Demo> => {
  await Promise.all([
    operate(system, "organisation", "create", "demo"),
    operate(system, "organisation", "create", "rival")
  ])
  await Promise.all([
    operate(system, "team", "create", team),
    operate(system, "supplier", "create", supplier, "--organisation", "demo"),
    operate(system, "supplier", "create", "DEMO_PAUSED", "--organisation", "demo")
  ])
  await operate(system, "supplier", "set-status", "DEMO_PAUSED", "paused")
  const [apiKey, rivalApiKey] = await Promise.all([
    issueKey(system, "demo"),
    issueKey(system, "rival"),
    putDocuments(system)
  ])
  return {
    baseUrl: system.gatewayUrl,
    apiKey,
    rivalApiKey,
    importSupplier: supplier,
    operationsTeamName: team,
    documentsDir: ""
  }
}
