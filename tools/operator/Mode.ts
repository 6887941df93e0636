/**
 * Whether a command is about live or test organisations. With `--test`, an organisation stands for
 * its test organisation, and the code of a supplier for the test supplier.
 * Source: docs/contract/sandbox.md#test-organisations.
 */
import type { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { type Organisation, OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { codeIn, type SupplierCode, type WireCode } from "@data-import/domain/suppliers/Supplier"
import { Configuration, DoesNotExist } from "@data-import/domain/suppliers/Configuration"
import { DateTime, Effect, Option } from "effect"
import { Flag, GlobalFlag } from "effect/cli"
import { Refused } from "@data-import/terminal/Refused"

/** Given anywhere on the line. */
export const Test = GlobalFlag.Setting("test")({
  flag: Flag.Boolean("test").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Mean the test organisation and its suppliers, not the live ones")
  )
})

/** The supplier that the code means in the mode of the command line. */
export const supplierMeant = (code: WireCode) =>
  Effect.map(Test, (isTest) => codeIn(isTest ? "test" : "live", code))

/** The import that the command line means. */
export const importMeant = (named: {
  readonly import_supplier: WireCode
  readonly external_account_number: ExternalAccountNumber
}) =>
  Effect.map(supplierMeant(named.import_supplier), (import_supplier): ImportKey => ({
    import_supplier,
    external_account_number: named.external_account_number
  }))

export const noSupplier = (code: SupplierCode) => new DoesNotExist({ what: "supplier", name: code })

const found = Effect.fnUntraced(function* (name: OrganisationName) {
  const organisation = yield* (yield* Configuration).organisation(name)
  return Option.isSome(organisation)
    ? organisation.value
    : yield* new DoesNotExist({ what: "organisation", name })
})

const testOrganisationOf = Effect.fnUntraced(function* (live: OrganisationName) {
  const organisations = yield* (yield* Configuration).organisations
  return organisations.find(({ testOf }) => testOf === live)
})

/** The organisation that the name means in the mode of the command line. */
export const organisationMeant = Effect.fnUntraced(function* (name: OrganisationName) {
  const organisation = yield* found(name)
  if (!(yield* Test) || organisation.testOf !== null) return organisation
  const test = yield* testOrganisationOf(name)
  const why = `${name} has no test organisation yet: key issue ${name} --test makes it.`
  return test ?? (yield* new Refused({ why }))
})

const longestStem = 56

/** `<name>-test`, or with a number behind it if that name is taken. */
const freeName = (live: OrganisationName, taken: ReadonlyArray<Organisation>): OrganisationName => {
  const names = new Set(taken.map(({ name }) => name))
  const stem = `${live.slice(0, longestStem)}-test`
  for (let number = 1; ; number++) {
    const name = OrganisationName.make(number === 1 ? stem : `${stem}${number}`)
    if (!names.has(name)) return name
  }
}

/** The same, and makes the test organisation if there is none yet. */
export const organisationWanted = Effect.fnUntraced(function* (name: OrganisationName) {
  const organisation = yield* found(name)
  if (!(yield* Test) || organisation.testOf !== null) return organisation
  const test = yield* testOrganisationOf(name)
  if (test !== undefined) return test
  const configuration = yield* Configuration
  const free = freeName(name, yield* configuration.organisations)
  return yield* configuration.createOrganisation(free, yield* DateTime.now, name)
})
