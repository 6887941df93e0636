import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { registry } from "@data-import/domain/codes/Code"
import {
  BatchLimitExceeded,
  PaymentInstructionRejected,
  ServiceUnavailable,
  TransactionRefused,
  ValidationFailed
} from "@data-import/domain/requests/Failure"
import { Transaction } from "@data-import/domain/accounts/Transaction"
import { envelopeOf, errorResponseOf } from "../src/ErrorResponse.ts"
import { type ErrorStatus, statusOf } from "../src/StatusOfCode.ts"
import { AuthenticationFailed, Throttled } from "../src/Refusal.ts"
import { errorExamples, refusals } from "../src/RefusalExamples.ts"
import { requestCodes } from "../src/ErrorBody.ts"

const table: Record<keyof typeof refusals, readonly [ErrorStatus, string]> = {
  NotAuthenticated: [401, "not_authenticated"],
  SignInRequired: [401, "not_authenticated"],
  RoleRefused: [403, "permission_denied"],
  ForgeryRefused: [403, "permission_denied"],
  AuthenticationFailed: [401, "authentication_failed"],
  KeyRevoked: [401, "authentication_failed"],
  PermissionDenied: [403, "permission_denied"],
  NotFound: [404, "not_found"],
  MethodNotAllowed: [405, "method_not_allowed"],
  NotAcceptable: [406, "not_acceptable"],
  RequestTimeout: [408, "request_timeout"],
  PayloadTooLarge: [413, "payload_too_large"],
  HeadersTooLarge: [431, "headers_too_large"],
  UnsupportedMediaType: [415, "unsupported_media_type"],
  Throttled: [429, "throttled"],
  Defect: [500, "error"],
  NotJson: [400, "parse_error"],
  ValidationFailed: [400, "account_failed_validation"],
  MigrationNotOngoing: [400, "import_supplier_migration_not_ongoing"],
  ImportProcessDoesNotExist: [400, "import_process_does_not_exist"],
  AlreadyImported: [400, "account_import_process_already_imported"],
  ImportSkipped: [400, "account_import_process_skipped"],
  ImportNotImported: [400, "account_import_process_not_imported"],
  AccountNumberDiffers: [409, "account_number_differs"],
  RevertWindowClosed: [409, "revert_window_closed"],
  AccountHasAdditions: [409, "account_has_additions"],
  PayloadNotKept: [409, "payload_not_kept"],
  AccountReverted: [409, "account_reverted"],
  ImportErased: [400, "account_import_process_erased"],
  ImportInProgress: [400, "account_import_process_in_progress"],
  ImportProcessDiffers: [409, "import_process_differs"],
  OperationsTeamDoesNotExist: [400, "operations_team_name_does_not_exist"],
  CertificateLimitExceeded: [429, "certificate_limit_exceeded"],
  ConcurrencyLimitExceeded: [429, "concurrency_limit_exceeded"],
  DryRunSuccessful: [400, "dry_run_successful"],
  AccountNotFound: [400, "account_not_found"],
  ActivePaymentInstructionExists: [400, "active_payment_instruction_exists"],
  PaymentInstructionRejected: [400, "payment_instruction_rejected_by_vendor"],
  PaymentVendorUnreachable: [400, "payment_vendor_unreachable"],
  PaymentVendorUnavailable: [500, "payment_vendor_unavailable"],
  IdempotencyKeyInUse: [409, "idempotency_key_in_use"],
  IdempotencyKeyReused: [422, "idempotency_key_reused"],
  BatchLineDiffers: [409, "batch_line_differs"],
  BatchLineGap: [409, "batch_line_gap"],
  BatchLineCountMismatch: [400, "batch_line_count_mismatch"],
  BatchUploadSuperseded: [409, "batch_upload_superseded"],
  BatchLimitExceeded: [409, "batch_limit_exceeded"],
  StorageLimitExceeded: [409, "storage_limit_exceeded"],
  BatchStateConflict: [409, "batch_state_conflict"],
  BatchLinesDeleted: [410, "batch_lines_deleted"],
  TestKeyRequired: [403, "permission_denied"],
  SandboxInUse: [409, "sandbox_in_use"],
  EventsPruned: [410, "events_pruned"],
  ServiceUnavailable: [503, "service_unavailable"]
}

type Enveloped = Parameters<typeof envelopeOf>[0]
const all: ReadonlyArray<Enveloped> = Object.values(refusals)

describe("problemOf", () => {
  it.each(Object.entries(table))("answers %s with its status and code", (tag, [status, code]) => {
    const problem = errorResponseOf(refusals[tag as keyof typeof refusals])
    expect([problem.status, problem.body.code]).toEqual([status, code])
  })

  it.each(all.map((refusal) => [refusal._tag, refusal] as const))(
    "has a text for %s that uses only registered codes",
    (_tag, refusal) => {
      const { body } = envelopeOf(refusal)
      expect(body.detail).toMatch(/^[A-Z].{15,}[.]$/)
      expect(registry).toHaveProperty(body.code)
      for (const error of body.errors ?? []) expect(registry).toHaveProperty(error.code)
    }
  )

  it("has only detail and code as members unless the contract names others", () => {
    const members = all.map((refusal) => [
      refusal._tag,
      Object.keys(errorResponseOf(refusal).body).slice(2)
    ])
    expect(members.filter(([, names]) => names?.length !== 0)).toEqual([
      ["Defect", ["request_id"]],
      ["ValidationFailed", ["errors"]],
      ["AlreadyImported", ["external_account_number", "kraken_account_number"]],
      ["ImportNotImported", ["state"]],
      ["AccountNumberDiffers", ["kraken_account_number"]],
      ["RevertWindowClosed", ["closed_at"]],
      ["AccountHasAdditions", ["additions"]],
      ["OperationsTeamDoesNotExist", ["errors"]],
      ["BatchLineDiffers", ["line"]],
      ["BatchLineGap", ["lines_received"]],
      ["BatchLineCountMismatch", ["total_lines", "lines_received"]],
      ["BatchStateConflict", ["state"]],
      ["EventsPruned", ["oldest_after"]]
    ])
  })

  it("starts every body with detail and code, and omits the tag", () => {
    for (const refusal of all) {
      const names = Object.keys(errorResponseOf(refusal).body)
      expect(names.slice(0, 2), refusal._tag).toEqual(["detail", "code"])
      expect(names, refusal._tag).not.toContain("_tag")
    }
  })

  it.each([
    ["JWT", "The Authorization scheme Token is asked for, not JWT; send"],
    [undefined, "The Authorization scheme Token is asked for, and the header has none; send"]
  ])("names the scheme %s that was sent instead of Token", (scheme, detail) => {
    const refused = new AuthenticationFailed({ header: "scheme", ...(scheme && { scheme }) })
    expect(JSON.stringify(errorResponseOf(refused).body)).toContain(detail)
  })

  it("sets only the headers of the status", () => {
    const headers = all.flatMap((refusal) => {
      const problem = errorResponseOf(refusal)
      return Object.keys(problem.headers).length === 0 ? [] : [[refusal._tag, problem.headers]]
    })
    expect(headers).toEqual([
      ["SignInRequired", { "www-authenticate": "Cookie" }],
      ["NotAuthenticated", { "www-authenticate": "Token" }],
      ["AuthenticationFailed", { "www-authenticate": "Token" }],
      ["KeyRevoked", { "www-authenticate": "Token" }],
      ["MethodNotAllowed", { allow: "POST" }],
      ["Throttled", { "retry-after": "5" }],
      ["CertificateLimitExceeded", { "retry-after": "60" }],
      ["ConcurrencyLimitExceeded", { "retry-after": "5" }],
      ["IdempotencyKeyInUse", { "retry-after": "1" }],
      ["ServiceUnavailable", { "retry-after": "5" }]
    ])
  })

  it.each([
    [0, "1"],
    [0.2, "1"],
    [1, "1"],
    [1.01, "2"],
    [59.5, "60"]
  ])(
    "rounds Retry-After to whole seconds, at least one: %d to %s",
    (retryAfterSeconds, seconds) => {
      for (const refusal of [
        new Throttled({ retryAfterSeconds }),
        new ServiceUnavailable({ retryAfterSeconds })
      ]) {
        expect(errorResponseOf(refusal).headers["retry-after"]).toBe(seconds)
      }
    }
  )

  it("lists every error in its order", () => {
    const errors = [
      { attr: "notes.1", code: "blank", detail: "Must not be empty." },
      { attr: "notes.0", code: "required", detail: "This field is required." }
    ] as const
    const { body } = errorResponseOf(
      new ValidationFailed({ code: "request_failed_validation", errors })
    )
    expect(body).toEqual({
      detail: "The request breaks 2 rules; see errors.",
      code: "request_failed_validation",
      errors
    })
  })

  it("states when more rules are broken than are listed", () => {
    const error = { attr: "notes.1", code: "blank", detail: "Must not be empty." } as const
    const errors = Array.from({ length: 1_000 }, () => error)
    const code = "account_failed_validation"
    expect(errorResponseOf(new ValidationFailed({ code, errors, more: true })).body).toEqual({
      detail: "The account payload breaks more than 1,000 rules; 1,000 are listed.",
      code,
      errors
    })
    expect(errorResponseOf(new ValidationFailed({ code, errors, more: false })).body).toMatchObject(
      {
        detail: "The account payload breaks 1,000 rules; see errors."
      }
    )
  })

  it("names the existing account", () => {
    expect(errorResponseOf(refusals.AlreadyImported).body).toMatchObject({
      external_account_number: "NL-0004711",
      kraken_account_number: "A-7F3C19E2"
    })
  })

  it("names the supplier's status if it is not Ongoing", () => {
    expect(envelopeOf(refusals.MigrationNotOngoing).body.detail).toContain("Paused")
  })

  it("names the line, the counts and the state that a batch is refused for", () => {
    expect(envelopeOf(refusals.BatchLineDiffers).body).toMatchObject({ line: 401 })
    expect(envelopeOf(refusals.BatchLineGap).body).toMatchObject({
      detail: "The batch has 400 lines; send line 401 next.",
      lines_received: 400
    })
    expect(envelopeOf(refusals.BatchLineCountMismatch).body).toMatchObject({
      total_lines: 100_000,
      lines_received: 99_000
    })
    expect(envelopeOf(refusals.BatchStateConflict).body).toMatchObject({ state: "RUNNING" })
  })

  it("states the limits that the deployment has set", () => {
    const limits = {
      ...batchLimits,
      lines: 10,
      bytes: 1_500,
      unfinishedBatches: 2,
      bytesOfOrganisation: 1024 ** 3
    }
    const detailOf = (of: "batches" | "lines") =>
      envelopeOf(new BatchLimitExceeded({ of, limits })).body.detail
    expect(detailOf("batches")).toContain("has 2 unfinished batches")
    expect(detailOf("lines")).toContain("10 lines and 1,500 bytes, and all unfinished batches")
    expect(detailOf("lines")).toContain("1 GiB")
  })

  it.each([
    ["batches", "The organisation has 20 unfinished batches"],
    ["lines", "A batch may have 1,000,000 lines and 8 GiB, and all unfinished batches of"]
  ] as const)("states the limit of %s", (of, words) => {
    expect(envelopeOf(new BatchLimitExceeded({ of, limits: batchLimits })).body.detail).toContain(
      words
    )
  })

  it.each([
    ["unknown", "it does not know the reference"],
    ["inactive", "the instruction is not active"],
    ["wrong_type", "the instruction is of another type"],
    ["credentials", "it does not accept the credentials that the operator has set up"],
    ["refused", "it refuses to tell of it"],
    ["of another release", "it says no"]
  ])("explains in its own words why the vendor rejected the instruction: %s", (reason, words) => {
    expect(envelopeOf(new PaymentInstructionRejected({ reason })).body.detail).toBe(
      `The vendor rejects the payment instruction: ${words}.`
    )
  })

  it("names the unknown team", () => {
    expect(envelopeOf(refusals.OperationsTeamDoesNotExist).body.errors).toEqual([
      {
        attr: "operations_team_name",
        code: "operations_team_name_does_not_exist",
        detail: 'There is no operations team "Nobody".'
      }
    ])
  })
})

describe("statusOf", () => {
  it("accepts exactly the top-level codes of the registry", () => {
    const topLevel = Object.entries(registry).flatMap(([code, { kind }]) =>
      kind === "field" ? [] : [code]
    )
    expect(Object.keys(statusOf).sort()).toEqual(topLevel.sort())
  })
})

const transactionCodes = [
  "duplicate_transaction_ids",
  "transaction_outside_open_period",
  "too_many_existing_items",
  "transaction_differs"
] as const

describe("a transaction that cannot be added", () => {
  it.each(transactionCodes)("has the body of the contract: %s", (code) => {
    const transaction = Schema.decodeUnknownSync(Transaction)({
      transaction_id: "T-1",
      transaction_date: "2025-01-31",
      amount: 12.5,
      type: "CHARGE"
    })
    expect(
      errorResponseOf(new TransactionRefused({ code, transaction, detail: "It is late." }))
    ).toEqual({
      status: 400,
      headers: {},
      body: {
        status: "TRANSACTION_IMPORT_ERROR",
        code,
        error_detail: "It is late.",
        transaction_data: {
          transaction_id: "T-1",
          transaction_date: "2025-01-31",
          amount: "12.50",
          type: "CHARGE"
        }
      }
    })
  })
})

describe("the examples of errors", () => {
  it("include every code of the envelope", () => {
    const ofTransactions: ReadonlyArray<string> = transactionCodes
    const codes = requestCodes.filter((code) => !ofTransactions.includes(code))
    expect(errorExamples.map(({ code }) => code).sort()).toEqual([...codes].sort())
  })
})
