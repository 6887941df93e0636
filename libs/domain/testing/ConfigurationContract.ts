/**
 * The contract of `Configuration`, as tests that every adapter runs. The store may be shared and
 * have data: each test makes its own names, and looks only for those.
 */
import { describe, expect, layer as withLayer, type Vitest } from "@effect/vitest"
import { Effect, type Layer, Option, Result } from "effect"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { TimeZone, utc } from "../src/suppliers/BusinessDay.ts"
import { OpenCodeList } from "../src/schema/CodeLists.ts"
import { changeStatus, type Supplier, type SupplierSettings } from "../src/suppliers/Supplier.ts"
import { documentRoots } from "./DocumentRootContract.ts"
import { testOrganisations } from "./TestOrganisationContract.ts"
import {
  expectSame,
  freshOrganisation,
  freshOrganisationName,
  freshSupplier,
  freshSupplierCode,
  hex,
  noon,
  supplierOf,
  times
} from "./freshNames.ts"

type It = Vitest.MethodsNonLive<Configuration>

const unbounded = { concurrency: "unbounded" } as const

/** Runs concurrently; all but one must find that the name exists already. */
const expectOnce = Effect.fnUntraced(function* <A, E extends { readonly _tag: string }>(
  run: Effect.Effect<A, E>
) {
  const results = yield* Effect.all(times(5, Effect.result(run)), unbounded)
  const failures = results.filter(Result.isFailure).map(({ failure }) => failure._tag)
  expect(failures).toStrictEqual(times(4, "AlreadyExists"))
})

const names = (it: It): void => {
  it.effect("creates each name once under concurrent requests", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const name = freshOrganisationName()
      yield* expectOnce(configuration.createOrganisation(name, noon))
      yield* expectOnce(configuration.createSupplier(supplierOf(name)))
      yield* expectOnce(configuration.createTeam(`Team ${hex(16)}`))
      const makeTest = Effect.suspend(() =>
        configuration.createOrganisation(freshOrganisationName(), noon, name)
      )
      yield* expectOnce(makeTest)
    })
  )
}

const organisations = (it: It): void => {
  it.effect("creates an organisation once", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const name = freshOrganisationName()
      const created = yield* configuration.createOrganisation(name, noon)
      expectSame(created, { name, createdAt: noon, testOf: null })
      expectSame(Option.getOrNull(yield* configuration.organisation(name)), created)
      expect(Option.isNone(yield* configuration.organisation(freshOrganisationName()))).toBe(true)
      const again = yield* Effect.flip(configuration.createOrganisation(name, noon))
      expect(again).toMatchObject({ _tag: "AlreadyExists", what: "organisation", name })
      const listed = (yield* configuration.organisations).filter((each) => each.name === name)
      expectSame(listed, [created])
    })
  )
}

const suppliers = (it: It): void => {
  const variations: ReadonlyArray<Partial<Supplier>> = [
    {},
    { status: "Paused", documentRoot: `${hex(16)}/b c/Ærø`, documentCheck: false },
    { status: "Complete", customerEmails: true, concurrencyLimit: 7 },
    { timeZone: TimeZone.make("America/Argentina/ComodRivadavia") }
  ]
  it.effect.each(variations)("stores a supplier with its configuration: %o", (variation) =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { name } = yield* freshOrganisation
      const supplier = { ...supplierOf(name), ...variation }
      yield* configuration.createSupplier(supplier)
      expectSame(Option.getOrNull(yield* configuration.supplier(supplier.code)), supplier)
      const listed = (yield* configuration.suppliers).filter(({ code }) => code === supplier.code)
      expectSame(listed, [supplier])
    })
  )
}

const supplierNames = (it: It): void => {
  it.effect("creates a supplier once, for any owner that exists", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { supplier } = yield* freshSupplier
      const { name } = yield* freshOrganisation
      const rival = { ...supplierOf(name), code: supplier.code }
      const again = yield* Effect.flip(configuration.createSupplier(rival))
      expect(again).toMatchObject({ _tag: "AlreadyExists", what: "supplier", name: supplier.code })
      expectSame(Option.getOrNull(yield* configuration.supplier(supplier.code)), supplier)
      const nobody = freshOrganisationName()
      const orphan = yield* Effect.flip(configuration.createSupplier(supplierOf(nobody)))
      expect(orphan).toMatchObject({ _tag: "DoesNotExist", what: "organisation", name: nobody })
    })
  )
}

const settings = (it: It): void => {
  const berlin = TimeZone.make("Europe/Berlin")
  const everySetting = (): SupplierSettings => ({
    documentRoot: `${hex(16)}/2019`,
    documentCheck: false,
    customerEmails: true,
    concurrencyLimit: 7,
    timeZone: berlin,
    revertWindow: 30,
    fourEyes: true
  })
  const otherSettings = (): SupplierSettings => ({
    documentRoot: hex(16),
    documentCheck: true,
    customerEmails: false,
    concurrencyLimit: null,
    timeZone: utc,
    revertWindow: 0,
    fourEyes: false
  })
  const each = (all: SupplierSettings): ReadonlyArray<Partial<SupplierSettings>> =>
    Object.entries<SupplierSettings[keyof SupplierSettings]>({ ...all }).map(([name, value]) => ({
      [name]: value
    }))

  it.effect("sets only the given settings", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { supplier } = yield* freshSupplier
      const [every, back] = [everySetting(), otherSettings()]
      let expected = supplier
      for (const given of [{}, ...each(every), ...each(back), every, back]) {
        expected = { ...expected, ...given }
        expectSame(yield* configuration.configureSupplier(supplier.code, given), expected)
        expectSame(Option.getOrNull(yield* configuration.supplier(supplier.code)), expected)
      }
    })
  )

  it.effect("changes no other supplier, and finds only created ones", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { supplier } = yield* freshSupplier
      const { supplier: other } = yield* freshSupplier
      yield* configuration.configureSupplier(supplier.code, everySetting())
      expectSame(Option.getOrNull(yield* configuration.supplier(other.code)), other)
      const code = freshSupplierCode()
      const failure = yield* Effect.flip(configuration.configureSupplier(code, everySetting()))
      expect(failure).toMatchObject({ _tag: "DoesNotExist", what: "supplier", name: code })
    })
  )

  it.effect("keeps every setting and the status under concurrent changes", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { supplier } = yield* freshSupplier
      const every = everySetting()
      const pause = configuration.changeSupplierStatus(supplier.code, () =>
        Result.succeed("Paused")
      )
      const runs = each(every).map((given) => configuration.configureSupplier(supplier.code, given))
      yield* Effect.all([...runs, pause], unbounded)
      const found = Option.getOrNull(yield* configuration.supplier(supplier.code))
      expectSame(found, { ...supplier, ...every, status: "Paused" })
    })
  )
}

const statuses = (it: It): void => {
  it.effect("sets only the decided status", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { supplier } = yield* freshSupplier
      for (const [from, to] of [
        ["Ongoing", "Paused"],
        ["Paused", "Ongoing"],
        ["Ongoing", "Complete"],
        ["Complete", "Ongoing"]
      ] as const) {
        const changed = yield* configuration.changeSupplierStatus(supplier.code, (present) => {
          expect(present, "what it decides upon").toBe(from)
          return changeStatus(present, to, true)
        })
        expectSame(changed, { ...supplier, status: to })
        expectSame(Option.getOrNull(yield* configuration.supplier(supplier.code)), changed)
      }
    })
  )

  it.effect("changes nothing if the decision is a refusal", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { supplier } = yield* freshSupplier
      yield* configuration.changeSupplierStatus(supplier.code, () => Result.succeed("Complete"))
      const refused = yield* Effect.flip(
        configuration.changeSupplierStatus(supplier.code, (present) =>
          changeStatus(present, "Paused", false)
        )
      )
      expectSame(refused, { from: "Complete", to: "Paused" })
      const kept = Option.getOrThrow(yield* configuration.supplier(supplier.code))
      expect(kept.status).toBe("Complete")
    })
  )

  it.effect("makes decisions one at a time, each on the result of the previous one", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { supplier } = yield* freshSupplier
      const pause = configuration.changeSupplierStatus(supplier.code, (present) =>
        present === "Ongoing" ? Result.succeed("Paused") : Result.fail(present)
      )
      const results = yield* Effect.all(
        Array.from({ length: 8 }, () => Effect.result(pause)),
        unbounded
      )
      expect(results.filter(Result.isSuccess)).toHaveLength(1)
      const found = results.filter(Result.isFailure).map(({ failure }) => failure)
      expect(found).toStrictEqual(times(7, "Paused"))
    })
  )
}

const teams = (it: It): void => {
  it.effect("creates a team once, and finds it by its exact name", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const name = `Team Ærø ${hex(16)}`
      expect(yield* configuration.hasTeam(name)).toBe(false)
      yield* configuration.createTeam(name)
      expect(yield* configuration.hasTeam(name)).toBe(true)
      expect(yield* configuration.hasTeam(name.toLowerCase())).toBe(false)
      expect(yield* configuration.hasTeam(`${name} `)).toBe(false)
      const again = yield* Effect.flip(configuration.createTeam(name))
      expect(again).toMatchObject({ _tag: "AlreadyExists", what: "team", name })
      expect((yield* configuration.teams).filter((each) => each === name)).toStrictEqual([name])
    })
  )
}

const codeLists = (it: It): void => {
  it.effect.each(OpenCodeList.literals)("adds a value to %s only, and once", (list) =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const value = `VALUE_${hex(16)}`
      const add = configuration.addCode(list, value)
      yield* add
      yield* Effect.all([add, add, add], unbounded)
      const added = yield* configuration.codeLists
      for (const each of OpenCodeList.literals) {
        const found = (added[each] ?? []).filter((other) => other === value)
        expect(found, each).toStrictEqual(each === list ? [value] : [])
      }
    })
  )
}

/** Declares the suite under `name`; the layer is built once for all of it. */
export const configurationContract = <E>(
  name: string,
  layer: Layer.Layer<Configuration, E>
): void =>
  withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })(
    `Configuration, ${name}`,
    (it) => {
      describe("names", () => names(it))
      describe("organisations", () => organisations(it))
      describe("test organisations", () => testOrganisations(it))
      describe("suppliers", () => {
        suppliers(it)
        supplierNames(it)
      })
      describe("configureSupplier", () => settings(it))
      describe("document roots", () => documentRoots(it))
      describe("changeSupplierStatus", () => statuses(it))
      describe("teams", () => teams(it))
      describe("code lists", () => codeLists(it))
    }
  )
