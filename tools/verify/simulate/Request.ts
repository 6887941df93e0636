/**
 * The requests of clients and the operator, and everything known about one: when it was sent, the
 * results of its port calls, and how it ended.
 */
import type { Exit } from "effect"
import { createHash } from "node:crypto"
import type { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { Fingerprint, type KeyedRequest } from "@data-import/domain/idempotency/IdempotencyKey"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { Caller, OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { ImportListKind } from "@data-import/domain/imports/ImportProcesses"
import type { SupplierCode, SupplierStatus } from "@data-import/domain/suppliers/Supplier"
import type { Wire } from "@data-import/domain/testing/wire"

/** One running service process; a crash ends it and all its requests at once. */
export interface Instance {
  readonly name: string
  /** How far its clock is from the true time, in milliseconds. */
  readonly skew: number
  crashed: boolean
}

interface OnImport {
  readonly key: ImportKey
}

/** A body; `broken` names the rule that it breaks. */
interface WithBody extends OnImport {
  readonly broken: string | null
}

/** An account payload as it is sent; each has a `version` of its own. */
interface WithAccount extends WithBody {
  readonly version: number
  readonly payload: Wire
}

interface Orders {
  readonly validate: WithAccount
  readonly stage: WithAccount
  readonly process: OnImport & { readonly dryRun: boolean; readonly team: string }
  readonly notes: WithBody & { readonly notes: ReadonlyArray<Wire> }
  readonly transactions: WithBody & {
    readonly transactions: ReadonlyArray<Wire>
    readonly check: boolean
    readonly force: boolean
  }
  readonly statements: WithBody & { readonly statements: ReadonlyArray<Wire> }
  readonly instruction: WithBody & { readonly instruction: Wire }
  readonly revert: OnImport & {
    readonly number: AccountNumber
    readonly withAdditions: boolean
    readonly dryRun: boolean
  }
  readonly status: OnImport
  readonly list: {
    readonly supplier: SupplierCode
    readonly list: ImportListKind
    readonly limit: number | null
    readonly after: ExternalAccountNumber | null
  }
  readonly skip: OnImport & { readonly skipped: boolean }
  readonly setStatus: {
    readonly supplier: SupplierCode
    readonly to: SupplierStatus
    readonly reopen: boolean
  }
  readonly setWindow: { readonly supplier: SupplierCode; readonly days: number }
  readonly createSupplier: {
    readonly supplier: SupplierCode
    readonly organisation: OrganisationName
  }
  readonly batch: {
    readonly batch: string
    readonly action: BatchAction
  }
  /** A worker of batches works on lines, or does one of the things that it does beside them. */
  readonly work: { readonly task: "lines" | "cancelLines" | "review" | "deletePayloads" }
}

/** What a client does with a batch; lines are as they are sent. */
export type BatchAction =
  | { readonly does: "create" }
  | { readonly does: "pause" | "resume" | "cancel" | "read" | "results" }
  | { readonly does: "start"; readonly lines: number }
  | {
      readonly does: "upload"
      readonly from: number
      readonly lines: ReadonlyArray<string>
      /** Whether the connection breaks in the middle of the body. */
      readonly breaks: boolean
    }

type Kind = keyof Orders

/** The content of a request. */
export type Order<Of extends Kind = Kind> = {
  readonly [Each in Of]: { readonly kind: Each } & Orders[Each]
}[Of]

/** Requests of the operator, and of clients without a batch. */
export type SingleOrder = Exclude<Order, Order<"batch" | "work">>

/**
 * `code` is `ok` or that of the refusal; `message` is the other relevant content of the answer, as
 * text.
 */
export interface Answer {
  readonly code: string
  readonly message: string
  /** Whether it is the kept answer of an earlier request with the same key. */
  readonly replayed?: true
}

/** The answer of a request whose client gets none. */
export const unanswered = "unanswered"

/** A call of a port and its result. */
export interface Call {
  /** Such as `ImportProcesses.stage`. */
  readonly operation: string
  readonly exit: Exit.Exit<unknown, unknown>
  /** When it happened by the clock of the instance, in milliseconds. */
  readonly at: number
  /** The attempt of a claim. */
  readonly attempt?: string
}

/** A step of a line of a batch, which a worker runs like a request of its own. */
export interface LineStep {
  readonly batch: string
  readonly line: number
  readonly step: "prepare" | "stage" | "end"
  /** The request of the worker that runs it. */
  readonly worker: number
}

/** A request from its beginning to its end. Mutable. */
export interface SentRequest {
  readonly id: number
  readonly order: Order
  readonly caller: Caller
  /** Its idempotency key, if it has one. */
  readonly keyed: KeyedRequest | null
  readonly instance: Instance
  /** Whether it proceeds slowly, while others overtake it and time passes. */
  readonly slow: boolean
  /** The step until which it does not proceed, as if its machine were frozen. */
  frozenUntil: number
  /** When it was sent, by the clock of its instance, in milliseconds, and the step. */
  readonly at: number
  readonly step: number
  /** The request that this one sends again. */
  readonly repeats: SentRequest | null
  /** The step of a line of a batch; null for any other request. */
  readonly line: LineStep | null
  /** Its calls that reached their port, in their order. */
  readonly calls: Array<Call>
  /** The client's answer; `unanswered` when there will be none; null while it runs. */
  answer: Answer | typeof unanswered | null
  /** When it ended, for its client or completely, by the same clock, and at which step. */
  ended: { readonly at: number; readonly step: number } | null
}

const writes: ReadonlySet<Kind> = new Set([
  "stage",
  "process",
  "notes",
  "transactions",
  "statements",
  "instruction",
  "revert"
])

/** Whether the request may have an idempotency key. */
export const isWrite = (order: Order): boolean =>
  writes.has(order.kind) || (order.kind === "batch" && order.action.does === "create")

/**
 * When its program began, by the clock of its instance: at once, or as soon as its key was
 * reserved, and for a line of a batch once the worker was found to hold the line.
 */
export const begunAt = ({ at, calls }: SentRequest): number =>
  calls.findLast(({ operation }) => operation === "Batches.confirm")?.at ??
  calls.find(({ operation }) => operation === "IdempotencyKeys.reserve")?.at ??
  at

/** Distinguishes the request from others under the same key. */
export const fingerprintOf = (order: Order): Fingerprint =>
  Fingerprint.make(createHash("sha256").update(JSON.stringify(order)).digest("hex"))

/** Answers after which a client does not know whether its request took effect. */
const unclear = /^(error|service_unavailable|payment_vendor_unavailable|idempotency_key_in_use)$/

/** Whether the client of the request knows its outcome. */
export const isClear = ({ answer }: SentRequest): boolean =>
  answer !== null && answer !== unanswered && !unclear.test(answer.code)

/** The key as text. */
export const nameOf = ({ external_account_number, import_supplier }: ImportKey): string =>
  `${import_supplier}/${external_account_number}`
