/**
 * Checks a line of a book by the programs that the server runs for a line of a VALIDATE batch, on
 * ports in memory. The rules, their order, the codes and the texts are the server's, because it is
 * the same code.
 * Source: docs/contract/batches.md#operations, docs/contract/batches.md#results.
 */
import { ConfigProvider, DateTime, Effect, Layer } from "effect"
import { resultEncoderOf } from "@data-import/api/LineResultText"
import * as Batch from "@data-import/domain/batch/Batch"
import type { LineProblem } from "@data-import/domain/batch/BatchLine"
import type { SplitLine } from "@data-import/domain/batch/LineSplitter"
import { receivedLine } from "@data-import/domain/batch-processing/BatchUpload"
import { makeLineRunner } from "@data-import/domain/batch-processing/LineRunner"
import type { ResultEncoder } from "@data-import/domain/batch-processing/LineResult"
import type { Code, FieldCode } from "@data-import/domain/codes/Code"
import type { ErrorParameters } from "@data-import/domain/codes/CodeEntry"
import * as AccountImport from "@data-import/domain/import/AccountImport"
import {
  ApiKeyId,
  type Caller,
  OrganisationName,
  RequestId
} from "@data-import/domain/organisation/Organisation"
import type { SupplierCode } from "@data-import/domain/organisation/Supplier"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { layerMemory as accounts } from "@data-import/domain/ports/memory/Accounts"
import { layerMemory as auditLog } from "@data-import/domain/ports/memory/AuditLog"
import { layerMemory as configuration } from "@data-import/domain/ports/memory/Configuration"
import { layerMemory as documents } from "@data-import/domain/ports/memory/Documents"
import { layerMemory as hashing } from "@data-import/domain/ports/memory/Hashing"
import { layerMemory as keys } from "@data-import/domain/ports/memory/IdempotencyKeys"
import { layerMemory as processes } from "@data-import/domain/ports/memory/ImportProcesses"
import { layerMemory as vendor } from "@data-import/domain/ports/memory/PaymentVendor"
import * as PostImport from "@data-import/domain/post-import/PostImport"
import type { CodeLists, OpenCodeList } from "@data-import/domain/schema/CodeLists"
import * as IdempotentWrites from "@data-import/domain/writes/IdempotentWrites"
import type { SupplierConfiguration } from "./SupplierConfiguration.ts"

/** What is known of the supplier whose lines these are. */
export interface CheckSettings extends SupplierConfiguration {
  readonly supplier: SupplierCode
}

/** One error of a failed line. */
export interface LineError {
  readonly code: FieldCode | Code
  readonly attr: string
  readonly detail: string
  readonly parameters?: ErrorParameters
  /** Of a CSV book. */
  readonly column?: string
}

/** What the server would answer to the line: the members of its result. */
export interface FailedResult {
  readonly line: number
  readonly external_account_number: string | null
  readonly outcome: "FAILED"
  /** Of a CSV book. */
  readonly row?: number
  readonly status: number
  readonly error: {
    readonly detail: string
    readonly code: Code
    readonly errors?: ReadonlyArray<LineError>
  }
}

export interface FailedLine {
  readonly result: FailedResult
  readonly problems: ReadonlyArray<LineProblem>
}

const caller: Caller = {
  organisation: OrganisationName.make("offline"),
  apiKey: ApiKeyId.make("key_0000000000000000"),
  requestId: RequestId.make("offline"),
  scopes: ["import:write"]
}

const programs = Layer.mergeAll(AccountImport.layer, PostImport.layer, IdempotentWrites.layer).pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      accounts,
      auditLog,
      configuration,
      documents(new Map()),
      hashing,
      keys,
      processes,
      vendor
    )
  ),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
)

/** Sets the supplier up as the operator would, but that no document is looked for. */
const setUp = Effect.fnUntraced(function* ({ codeLists, supplier, timeZone }: CheckSettings) {
  const port = yield* Configuration
  yield* port.createOrganisation(caller.organisation, yield* DateTime.now)
  yield* port.createSupplier({
    code: supplier,
    organisation: caller.organisation,
    status: "Ongoing",
    documentRoot: supplier,
    documentCheck: false,
    customerEmails: false,
    concurrencyLimit: null,
    timeZone
  })
  for (const [list, values] of Object.entries(codeLists) as ReadonlyArray<
    [OpenCodeList, NonNullable<CodeLists[OpenCodeList]>]
  >) {
    for (const value of values) yield* port.addCode(list, value)
  }
})

const batchOf = (supplier: SupplierCode) =>
  Effect.map(DateTime.now, (createdAt) =>
    Batch.open({
      id: Batch.BatchId.make("00000000-0000-4000-8000-000000000000"),
      organisation: caller.organisation,
      settings: {
        supplier,
        operation: "VALIDATE",
        name: null,
        operationsTeam: null,
        dryRun: false,
        cohort: null,
        pending: null,
        retryOf: null,
        maxFailures: null,
        parameters: {}
      },
      createdAt
    })
  )

/** Nobody reads the text of a line that has not failed. */
const encoderOf = (operation: Batch.BatchOperation): ResultEncoder => {
  const encode = resultEncoderOf(operation)
  return (line, result) => (result.outcome === "FAILED" ? encode(line, result) : "")
}

/** An error of this program ends the line at once, as the server ends it after its last try. */
const tries = 4

/** Gives what is wrong with a line, or null. */
export type LineCheck = (line: number, bytes: SplitLine) => Effect.Effect<FailedLine | null>

const make = Effect.fnUntraced(function* (settings: CheckSettings) {
  yield* setUp(settings)
  const linePrograms = {
    accountImport: yield* AccountImport.AccountImport,
    postImport: yield* PostImport.PostImport,
    writes: yield* IdempotentWrites.IdempotentWrites,
    encoderOf
  }
  const runner = makeLineRunner(
    linePrograms,
    yield* batchOf(settings.supplier),
    caller,
    Effect.void
  )
  const check: LineCheck = Effect.fnUntraced(function* (line, bytes) {
    const inHand = { line, bytes, tries, externalAccountNumber: null, sourceLine: null }
    const run = yield* runner.run(inHand)
    if (run._tag === "Postponed") {
      return yield* Effect.die(new Error(`Line ${line} waits for ${run.waitingFor}`))
    }
    if (run.end.outcome !== "FAILED") return null
    // Most lines are valid, so the number is only read from one that has failed.
    const { externalAccountNumber } = yield* receivedLine(bytes)
    const result = JSON.parse(run.end.text) as FailedResult
    return {
      result: { ...result, external_account_number: externalAccountNumber },
      problems: run.end.problems
    }
  })
  return check
})

export const makeLineCheck = (settings: CheckSettings): Effect.Effect<LineCheck> =>
  make(settings).pipe(Effect.provide(programs), Effect.orDie)
