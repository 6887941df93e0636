/**
 * Every field of every payload is stored and shown: a value in it goes through validate, stage and
 * process, or through its post-import request, and `operator account show --json` has it. A field
 * without a value in these payloads fails the test, and so does one that is lost.
 */
import { layerMemory as auditHeads } from "@data-import/domain/testing/memory/AuditHeadStore"
import { Account, encodeAccount } from "@data-import/domain/accounts/Account"
import { PaymentInstruction } from "@data-import/domain/accounts/PaymentInstruction"
import { AccountImport, layer as accountImport } from "@data-import/domain/imports/AccountImport"
import { layerMemory as documents } from "@data-import/domain/testing/memory/Documents"
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { layerMemory as vendors } from "@data-import/domain/testing/memory/PaymentVendor"
import { layerMemory as tokens } from "@data-import/domain/testing/memory/TokenSigner"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { layer as postImport, PostImport } from "@data-import/domain/additions/PostImport"
import { freshSupplier } from "@data-import/domain/testing/freshNames"
import {
  domesticPayload,
  instructionPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import { isWire, objectsAt, putAll, type Wire } from "@data-import/domain/testing/wire"
import {
  NotesRequest,
  StatementsRequest,
  TransactionsRequest
} from "@data-import/domain/additions/PostImportValidation"
import * as TestDatabase from "@data-import/postgres/testing/TestDatabase"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Result, type Schema } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../Operator.ts"
import type { Ports } from "../Storage.ts"

/** A schema as it is declared: a struct, a list, an optional field or a leaf. */
interface Declared {
  readonly fields?: Readonly<Record<string, Declared>>
  readonly value?: Declared
  readonly schema?: Declared
  readonly ast: { readonly context?: { readonly isOptional: boolean } }
}

/** The paths of the leaves; `[]` stands for an element of a list. */
const leavesOf = (declared: Schema.Constraint | Declared, path = ""): ReadonlyArray<string> => {
  const { ast, fields, schema, value } = declared as Declared
  if (ast.context?.isOptional === true && schema !== undefined) return leavesOf(schema, path)
  if (fields !== undefined) {
    return Object.entries(fields).flatMap(([name, field]) => leavesOf(field, `${path}.${name}`))
  }
  return value === undefined ? [path] : leavesOf(value, `${path}[]`)
}

/** The paths at which a payload has a value, those of whole objects and lists included. */
const pathsOf = (value: unknown, path = ""): ReadonlyArray<string> => {
  if (Array.isArray(value)) {
    return [path, ...value.flatMap((element) => pathsOf(element, `${path}[]`))]
  }
  if (isWire(value)) {
    const inside = Object.entries(value).flatMap(([name, member]) =>
      pathsOf(member, `${path}.${name}`)
    )
    return [path, ...inside]
  }
  return value === null || value === undefined ? [] : [path]
}

const missing = (schema: Schema.Constraint, payloads: ReadonlyArray<unknown>) => {
  const present = new Set(payloads.flatMap((payload) => pathsOf(payload)))
  return leavesOf(schema).filter((leaf) => !present.has(leaf))
}

/** A ledger whose history is a supply charge, the transaction with the most fields. */
const billedLedger = (): Wire => {
  const [, , supplyCharge] = transactionsPayload().transactions
  return {
    ledger_code: "GAS_LEDGER",
    last_statement_balance: -325,
    last_statement_closing_date: "2025-06-30",
    historical_statement_transactions: [{ ...supplyCharge, note: "Billed by the old system." }]
  }
}

/** The sample with a history of every field, and other values than the defaults. */
const domestic = () =>
  putAll(domesticPayload(), {
    "ledgers.1": billedLedger(),
    transfer_balance: -275,
    "customers.0.customer_preferences": {
      opted_into_sms: true,
      opted_into_recommended: false,
      opted_into_updates: true,
      opted_into_third_parties: true,
      opted_into_offers: true,
      is_user_psr_consent_obtained: true
    },
    communication_preference: "PRINT",
    account_type: "MANAGED",
    operations_team_name: "The team of the payload"
  })

/** An occupier who is unknown, at an address with a structure, billed by the quarter. */
const occupier = (): Wire => ({
  external_account_number: "NL-0004712",
  unknown_occupier: true,
  billing_address: { country: "NL", structured_street_address: { number: 14, floor: null } },
  account_billing_options: {
    period_length: "QUARTERLY",
    period_start_day: 3,
    period_start_month: 2
  }
})

const industryBilling = (): Wire => ({
  external_account_number: "NL-0004713",
  account_type: "SYSTEM",
  account_billing_options: { use_industry_billing: true }
})

const accounts = [domestic(), occupier(), industryBilling()]

/** The transactions with their amounts as text with two decimals. */
const shownTransactions = (payload: Wire, list: string) =>
  objectsAt(payload, list).map(({ amount, ...rest }) => ({
    ...rest,
    amount: Number(amount).toFixed(2)
  }))

const transactionLists = ["historical_statement_transactions", "current_statement_transactions"]

/** The payload as it must be shown: as it was sent, field by field. */
const shownPayload = (payload: Wire): Wire => ({
  ...payload,
  ...("ledgers" in payload && {
    ledgers: objectsAt(payload, "ledgers").map((ledger) => ({
      ...ledger,
      ...Object.fromEntries(
        transactionLists
          .filter((list) => list in ledger)
          .map((list) => [list, shownTransactions(ledger, list)])
      )
    }))
  })
})

describe("the payloads of this test", () => {
  it("have a value in every field", () => {
    expect(missing(Account, accounts)).toEqual([])
    expect(missing(NotesRequest, [notesPayload()])).toEqual([])
    expect(missing(TransactionsRequest, [transactionsPayload()])).toEqual([])
    expect(missing(StatementsRequest, [statementsPayload()])).toEqual([])
    expect(missing(PaymentInstruction, [instructionPayload()])).toEqual([])
  })

  it("would be noticed without one", () => {
    const { salutation: _salutation, ...customer } = domesticPayload().customers[0] ?? {}
    expect(
      missing(Account, [...accounts.slice(1), putAll(domestic(), { customers: [customer] })])
    ).toEqual([".customers[].salutation"])
  })
})

const team = "Migration Team"

const storage = Layer.mergeAll(TestDatabase.deployed, tokens)
const programs = Layer.mergeAll(accountImport, postImport).pipe(
  Layer.provide(documents(new Map())),
  Layer.provide([vendors, hashing]),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
)

/** A supplier whose documents are not looked for, and one that imports accounts under it. */
const arrange = Effect.gen(function* () {
  const setup = yield* Configuration
  yield* Effect.ignore(setup.createTeam(team))
  const { caller, supplier } = yield* freshSupplier
  yield* setup.configureSupplier(supplier.code, { documentCheck: false })
  const program = yield* AccountImport
  const imported = Effect.fnUntraced(function* (payload: Wire) {
    const body = { payload: { ...payload, import_supplier: supplier.code } }
    const valid = yield* program.validate(caller, body)
    yield* program.stage(caller, { payload: encodeAccount(valid) })
    const { external_account_number } = payload
    const key = { import_supplier: supplier.code, external_account_number }
    const { kraken_account_number } = yield* program.process(caller, {
      payload: { ...key, operations_team_name: team }
    })
    return { key, number: kraken_account_number }
  })
  return { caller, imported }
})

/** What the operator is shown of the account. */
const shown = Effect.fnUntraced(
  function* (number: string) {
    const ports = Layer.succeedContext(yield* Effect.context<Ports>())
    const before = (yield* TestConsole.logLines).length
    yield* run(["account", "show", number, "--json"], ports, "tester")
    const lines = (yield* TestConsole.logLines).slice(before)
    return JSON.parse(lines.join("\n")) as Wire
  },
  Effect.provide([NodeServices.layer, TestConsole.layer])
)

layer(Layer.provideMerge(programs, Layer.merge(storage, auditHeads)), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("every field is shown to the operator", (it) => {
  it.effect.each(accounts.map((payload) => [payload["external_account_number"], payload] as const))(
    "of the account %s",
    ([, payload]) =>
      Effect.gen(function* () {
        const { imported } = yield* arrange
        const { key, number } = yield* imported(payload)
        const description = yield* shown(number)
        expect(description).toMatchObject({ ...key, operations_team_name: team })
        expect(description["account"]).toEqual(shownPayload({ ...payload, ...key }))
      })
  )

  it.effect("of notes, transactions, statements and a payment instruction", () =>
    Effect.gen(function* () {
      const { caller, imported } = yield* arrange
      const { key, number } = yield* imported(industryBilling())
      const program = yield* PostImport
      const parameters = Result.succeed({
        checkPreviouslyAdded: false,
        forceAddToCurrentStatement: false,
        onDifference: "keep" as const
      })
      yield* program.createNotes(caller, { ...notesPayload(), ...key }, parameters)
      yield* program.createTransactions(caller, { ...transactionsPayload(), ...key }, parameters)
      yield* program.createStatements(caller, { ...statementsPayload(), ...key })
      yield* program.createPaymentInstruction(caller, { ...instructionPayload(), ...key })
      const {
        external_account_number: _number,
        import_supplier: _supplier,
        ...instruction
      } = instructionPayload()
      expect(yield* shown(number)).toMatchObject({
        added: {
          notes: notesPayload().notes,
          transactions: shownTransactions(transactionsPayload(), "transactions"),
          statements: statementsPayload().statements,
          payment_instructions: [instruction]
        }
      })
    })
  )
})
