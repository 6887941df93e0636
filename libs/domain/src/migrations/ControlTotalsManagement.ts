/**
 * Sets and reads the control totals of a supplier or a cohort of it. A supplier of another
 * organisation is reported as unknown.
 * Source: docs/contract/control-totals.md.
 */
import { Context, DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { SupplierCodeField } from "../accounts/Account.ts"
import { factsAt } from "../accounts/AccountValidation.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { recordRefusals } from "../audit/Audit.ts"
import { judged } from "../requests/RequestValidation.ts"
import { type Failure, NotFound, PermissionDenied, unavailable } from "../requests/Failure.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { formatInstant } from "../schema/Field.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { traced } from "../support/Traced.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { findOwnSupplier } from "../suppliers/OwnSupplier.ts"
import { type SupplierCode, wireCode } from "../suppliers/Supplier.ts"
import {
  type ComparedTotals,
  ControlTotals,
  controlTotalsRequest,
  differenceOf,
  type EnteredTotals,
  totalsBody
} from "./ControlTotals.ts"

const enteredBody = ({ at, by, totals }: EnteredTotals) => ({
  ...totalsBody(totals),
  set_by: by.startsWith("board:") ? ("manager" as const) : ("client" as const),
  set_at: formatInstant(at)
})

const differenceBody = ({ expected, moved: { arrived } }: ComparedTotals) => {
  if (expected === null) return null
  const { accounts, balance, ledgers } = differenceOf(expected.totals, arrived)
  return {
    accounts,
    balance: balance && twoDecimals(balance),
    ledger_balances:
      ledgers?.map((each) => ({ ledger_code: each.code, balance: twoDecimals(each.balance) })) ??
      null
  }
}

/** The members of the answer. */
export const controlTotalsBody = (
  supplier: SupplierCode,
  compared: ComparedTotals,
  at: DateTime.Utc
) => {
  const { cohort, expected, moved } = compared
  const { accounts, balance, ledgers } = moved.arrived
  return {
    import_supplier: wireCode(supplier) as string,
    cohort,
    at: formatInstant(at),
    expected: expected && enteredBody(expected),
    sent: { accounts: moved.sent },
    staged: { accounts: moved.staged, failed: moved.failed },
    arrived: {
      accounts,
      balance: twoDecimals(balance),
      ledger_balances: ledgers.map((each) => ({
        ledger_code: each.code,
        ledgers: each.ledgers,
        balance: twoDecimals(each.balance)
      }))
    },
    differences: differenceBody(compared)
  }
}

export type ControlTotalsAnswer = ReturnType<typeof controlTotalsBody>

/** The totals of a valid body; fails with every invalid field, those of the parameters first. */
const readTotals = Effect.fnUntraced(function* (
  body: unknown,
  parameterErrors: ReadonlyArray<FieldError>
) {
  const facts = factsAt(yield* DateTime.now)
  const valid = yield* inTimeSlices(() => controlTotalsRequest.validateInSteps(body, facts))
  const read = judged("request_failed_validation", parameterErrors, valid)
  return (yield* Effect.fromResult(read)).expected ?? null
})

export class ControlTotalsManagement extends Context.Service<
  ControlTotalsManagement,
  {
    /** Needs `account:read` too, since the answer has balances. */
    readonly set: (
      caller: Caller,
      supplier: string,
      cohort: Result.Result<string | null, ReadonlyArray<FieldError>>,
      body: unknown
    ) => Effect.Effect<ControlTotalsAnswer, Failure>
    readonly read: (
      caller: Caller,
      supplier: string,
      cohort: string | null
    ) => Effect.Effect<ControlTotalsAnswer, Failure>
  }
>()("@data-import/domain/ControlTotalsManagement") {}

const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)

const make = Effect.gen(function* () {
  const auditLog = yield* AuditLog
  const configuration = yield* Configuration
  const controlTotals = yield* ControlTotals

  const found = Effect.fnUntraced(function* (caller: Caller, named: string) {
    const supplier = yield* findOwnSupplier(configuration)(caller, supplierCode(named))
    return Option.isSome(supplier) ? supplier.value.code : yield* new NotFound()
  })

  const compared = Effect.fnUntraced(function* (supplier: SupplierCode, cohort: string | null) {
    const totals = yield* controlTotals.read({ supplier, cohort })
    return controlTotalsBody(supplier, totals, yield* DateTime.now)
  })

  const set = Effect.fnUntraced(function* (
    caller: Caller,
    named: string,
    sentCohort: Result.Result<string | null, ReadonlyArray<FieldError>>,
    body: unknown
  ) {
    if (!caller.scopes.includes("account:read")) return yield* new PermissionDenied()
    const errors = Result.isFailure(sentCohort) ? sentCohort.failure : []
    const totals = yield* readTotals(body, errors)
    const cohort = Result.getOrElse(sentCohort, () => null)
    const supplier = yield* found(caller, named)
    yield* controlTotals.set({ supplier, cohort, totals, caller, at: yield* DateTime.now })
    return yield* compared(supplier, cohort)
  })

  return ControlTotalsManagement.of({
    set: traced("ControlTotalsManagement.set")((caller, named, cohort, body) =>
      set(caller, named, cohort, body).pipe(
        recordRefusals({ auditLog, configuration }, "set_control_totals", caller, {
          import_supplier: named
        }),
        Effect.catchTag("StorageUnavailable", () => unavailable)
      )
    ),
    read: traced("ControlTotalsManagement.read")((caller, named, cohort) =>
      Effect.flatMap(found(caller, named), (supplier) => compared(supplier, cohort)).pipe(
        Effect.catchTag("StorageUnavailable", () => unavailable)
      )
    )
  })
})

export const layer = Layer.effect(ControlTotalsManagement, make)
