/**
 * The demo tenant: what the operator would set up for a first client. The local run makes it on an
 * empty database, and `demo.json` holds how to use it.
 * Source: docs/contract/local-run.md#the-demo-tenant.
 */
import { OrganisationName, Scope } from "@data-import/domain/suppliers/Organisation"
import { AlreadyExists, Configuration } from "@data-import/domain/suppliers/Configuration"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { codeIn, type SupplierStatus, WireCode } from "@data-import/domain/suppliers/Supplier"
import { documentPaths } from "@data-import/testbed/SampleDocuments"
import { supplierOf, team } from "@data-import/testbed/Tenants"
import { DateTime, Effect, FileSystem, Option, Path } from "effect"
import { placesIn } from "@data-import/operator/DataDirectory"
import { decode, type Demo, encode } from "./DemoFile.ts"
import { samplePdf } from "./SamplePdf.ts"

const demo = OrganisationName.make("demo")
const rival = OrganisationName.make("rival")
const test = OrganisationName.make("demo-test")
const ongoing = "DEMO_ENERGY"

const suppliers: ReadonlyArray<readonly [string, OrganisationName, SupplierStatus]> = [
  [ongoing, demo, "Ongoing"],
  ["DEMO_PAUSED", demo, "Paused"],
  ["DEMO_COMPLETE", demo, "Complete"],
  ["RIVAL_ENERGY", rival, "Ongoing"]
]

const testCodeOf = (code: string) => codeIn("test", WireCode.make(code))

const unlessThere = <A, E, R>(make: Effect.Effect<A, E | AlreadyExists, R>) =>
  Effect.catchIf(
    make,
    (error) => error instanceof AlreadyExists,
    () => Effect.void
  )

/** Makes what is missing, because an earlier start may have been interrupted. */
const setUp = Effect.gen(function* () {
  const setup = yield* Configuration
  const now = yield* DateTime.now
  for (const name of [demo, rival]) yield* unlessThere(setup.createOrganisation(name, now))
  yield* unlessThere(setup.createTeam(team))
  yield* unlessThere(setup.createOrganisation(test, now, demo))
  for (const [code, organisation, status] of suppliers) {
    const supplier = supplierOf(code, organisation, { status, documentCheck: true })
    yield* unlessThere(setup.createSupplier(supplier))
    if (organisation !== demo) continue
    const documentRoot = `${test}/${code}`
    const sibling = { ...supplier, code: testCodeOf(code), organisation: test, documentRoot }
    yield* unlessThere(setup.createSupplier(sibling))
  }
})

const keyFor = (organisation: OrganisationName) =>
  issueKey({ organisation, label: "demo.json", scopes: Scope.literals, expiresAt: null }).pipe(
    Effect.map(({ secret }) => secret)
  )

const writeDocuments = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const document of documentPaths) {
    const file = path.join(folder, document)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    yield* fs.writeFileString(file, samplePdf(document))
  }
})

/** Writes a temporary file and renames it, so that a reader never sees half a file. */
const write = Effect.fnUntraced(function* (file: string, demo: Demo) {
  const fs = yield* FileSystem.FileSystem
  const draft = temporaryOf(file)
  yield* fs.writeFileString(draft, `${yield* encode(demo)}\n`, { mode: 0o600 })
  yield* fs.rename(draft, file)
})

/**
 * A file that exists from before the first step until after the last, so that an interrupted start
 * is noticed.
 */
const temporaryOf = (file: string) => `${file}.new`

const create = Effect.fnUntraced(function* (file: string, bucket: string, baseUrl: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.writeFileString(temporaryOf(file), "", { mode: 0o600 })
  const documentsDir = path.join(bucket, ongoing)
  yield* writeDocuments(documentsDir)
  yield* writeDocuments(path.join(bucket, test, ongoing))
  yield* setUp
  yield* write(file, {
    baseUrl,
    apiKey: yield* keyFor(demo),
    rivalApiKey: yield* keyFor(rival),
    testApiKey: yield* keyFor(test),
    importSupplier: ongoing,
    operationsTeamName: team,
    documentsDir
  })
})

/** After a start on another port, only the address in the file changes. */
const moveTo = Effect.fnUntraced(function* (file: string, baseUrl: string) {
  const fs = yield* FileSystem.FileSystem
  const present = yield* Effect.option(Effect.flatMap(fs.readFileString(file), decode))
  if (Option.isSome(present) && present.value.baseUrl !== baseUrl) {
    yield* write(file, { ...present.value, baseUrl })
  }
})

/** Makes the tenant on an empty database, or where an earlier start was interrupted. */
export const ensure = Effect.fnUntraced(function* (dataDir: string, baseUrl: string) {
  const fs = yield* FileSystem.FileSystem
  const setup = yield* Configuration
  const { demo: file, documents: bucket } = placesIn(dataDir)
  const isEmpty = (yield* setup.organisations).length === 0
  if (isEmpty || (yield* fs.exists(temporaryOf(file)))) yield* create(file, bucket, baseUrl)
  else yield* moveTo(file, baseUrl)
})
