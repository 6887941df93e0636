/**
 * The part of the contract of `Configuration` about document roots: those of two organisations
 * never overlap, so that no supplier can name another organisation's document.
 */
import { expect, type Vitest } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { Configuration } from "../src/suppliers/Configuration.ts"
import type { OrganisationName } from "../src/suppliers/Organisation.ts"
import type { Supplier } from "../src/suppliers/Supplier.ts"
import { expectSame, freshOrganisation, hex, supplierOf, times } from "./freshNames.ts"

type It = Vitest.MethodsNonLive<Configuration>
type Roots = ReadonlyArray<readonly [held: string, asked: string]>

const unbounded = { concurrency: "unbounded" } as const

/** `R` stands for a name unique to the test. */
const overlapping: Roots = [
  ["R", "R"],
  ["R", "/R/"],
  ["/R/", "R"],
  ["R", "R/sub"],
  ["R/sub/deep", "R"],
  ["R/sub/deep", "R//sub"],
  ["R", ""]
]

const apart: Roots = [
  ["R", "R2"],
  ["R2", "R"],
  ["R/sub", "R/other"],
  ["R/sub", "R/subtle"],
  ["R/sub", "R/SUB"],
  ["R", "other/R"]
]

const named = (name: string, roots: readonly [string, string]) => {
  const [held, asked] = roots.map((root) => root.replace("R", name))
  return { held: held ?? "", asked: asked ?? "" }
}

const createdWith = Effect.fnUntraced(function* (name: OrganisationName, documentRoot: string) {
  const configuration = yield* Configuration
  const supplier: Supplier = { ...supplierOf(name), documentRoot }
  yield* configuration.createSupplier(supplier)
  return supplier
})

const find = ({ code }: Supplier) =>
  Configuration.use((configuration) => Effect.map(configuration.supplier(code), Option.getOrNull))

/** Two organisations, the first of which has a supplier with a root. */
const arrange = Effect.fnUntraced(function* (documentRoot: string) {
  const { name: owner } = yield* freshOrganisation
  const { name: rival } = yield* freshOrganisation
  return { owner, rival, held: yield* createdWith(owner, documentRoot) }
})

const taken = (documentRoot: string, by: Supplier) => ({
  _tag: "DocumentRootTaken",
  documentRoot,
  by: { code: by.code, organisation: by.organisation, documentRoot: by.documentRoot }
})

const ofAnother = (it: It): void => {
  it.effect.each(overlapping)("refuses, beside %o of another organisation, %o", (roots) =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { asked, held: root } = named(hex(16), roots)
      const { held, rival } = yield* arrange(root)
      const wanted = { ...supplierOf(rival), documentRoot: asked }
      const refused = yield* Effect.flip(configuration.createSupplier(wanted))
      if (asked === "") expect(refused._tag).toBe("DocumentRootTaken")
      else expect(refused).toMatchObject(taken(asked, held))
      expect(yield* find(wanted), "nothing is created").toBeNull()

      const other = yield* createdWith(rival, hex(16))
      const settings = { documentRoot: asked, customerEmails: true }
      const kept = yield* Effect.flip(configuration.configureSupplier(other.code, settings))
      expect(kept._tag).toBe("DocumentRootTaken")
      expectSame(yield* find(other), other, "nothing is set")
    })
  )

  it.effect.each(apart)("accepts, beside %o of another organisation, %o", (roots) =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { asked, held } = named(hex(16), roots)
      const { rival } = yield* arrange(held)
      const other = yield* createdWith(rival, hex(16))
      yield* configuration.configureSupplier(other.code, { documentRoot: asked })
      expectSame(yield* find(other), { ...other, documentRoot: asked })
      const further = yield* createdWith(rival, asked)
      expectSame(yield* find(further), further)
    })
  )
}

const ofItsOwn = (it: It): void => {
  it.effect("accepts equal or nested roots within an organisation", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const root = hex(16)
      const { held, owner } = yield* arrange(`${root}/sub`)
      for (const documentRoot of [`${root}/sub`, `${root}/sub/deep`, root]) {
        const other = yield* createdWith(owner, documentRoot)
        expectSame(yield* find(other), other)
        yield* configuration.configureSupplier(held.code, { documentRoot })
        expectSame(yield* find(held), { ...held, documentRoot })
      }
    })
  )

  it.effect("frees a root for others when its supplier gets another", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { held, rival } = yield* arrange(hex(16))
      yield* configuration.configureSupplier(held.code, { documentRoot: hex(16) })
      const other = yield* createdWith(rival, held.documentRoot)
      expectSame(yield* find(other), other)
    })
  )
}

/** Roots, each inside the previous one, so that any two overlap. */
const nested = (root: string): ReadonlyArray<string> =>
  times(6, root).map((each, depth) => each + "/sub".repeat(depth))

const atOnce = (it: It): void => {
  const onlyOne = Effect.fnUntraced(function* <E extends { readonly _tag: string }>(
    runs: ReadonlyArray<Effect.Effect<unknown, E>>
  ) {
    const results = yield* Effect.all(runs.map(Effect.result), unbounded)
    const failures = results.filter(Result.isFailure).map(({ failure }) => failure._tag)
    expect(failures).toStrictEqual(times(runs.length - 1, "DocumentRootTaken"))
  })

  it.effect("gives the root to exactly one of several organisations at the same time", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const wanted = yield* Effect.forEach(nested(hex(16)), (documentRoot) =>
        Effect.map(freshOrganisation, ({ name }) => ({ ...supplierOf(name), documentRoot }))
      )
      yield* onlyOne(wanted.map((supplier) => configuration.createSupplier(supplier)))
      const settings = yield* Effect.forEach(nested(hex(16)), (documentRoot) =>
        Effect.gen(function* () {
          const { name } = yield* freshOrganisation
          const { code } = yield* createdWith(name, hex(16))
          return configuration.configureSupplier(code, { documentRoot })
        })
      )
      yield* onlyOne(settings)
    })
  )
}

export const documentRoots = (it: It): void => {
  ofAnother(it)
  ofItsOwn(it)
  atOnce(it)
}
