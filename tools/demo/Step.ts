/**
 * One step of the journey: a request, the expected answer, and what later steps need of the answer;
 * or a command of the operator.
 */
import type { Demo } from "@data-import/local/DemoFile"
import type { Effect } from "effect"
import type { ResponsePattern } from "./ResponsePattern.ts"

/** What the journey knows so far. */
export interface Known {
  readonly demo: Demo
  /** The external account number of this run, which no other run has. */
  readonly number: string
  readonly token: string
  readonly rivalToken: string
  /** The platform's number of the account, once there is one. */
  readonly accountNumber: string
  /** The batch that was created last. */
  readonly batchId: string
  /** Numbers of the lines of the book that have failed. */
  readonly failedLines: ReadonlyArray<number>
  /** The request that created an account last, or failed to. */
  readonly requestId: string
}

/** What names the account of this run in a request. */
export const keyOf = ({ demo, number }: Known) => ({
  import_supplier: demo.importSupplier,
  external_account_number: number
})

/** A datetime in an answer. */
export const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/

export interface Request {
  readonly method: "GET" | "POST" | "PUT"
  readonly path: string
  readonly token?: string
  readonly body?: unknown
  /** Sent as gzip instead of a body of JSON. */
  readonly lines?: ReadonlyArray<string>
  /** Of the `Idempotency-Key` header. */
  readonly key?: string
}

export interface Step {
  readonly title: string
  /** An action before the request that is not a request. */
  readonly before?: (known: Known) => Effect.Effect<void>
  readonly request: (known: Known) => Request
  readonly status: number
  /** The expected body; it may have further members. */
  readonly body: (known: Known) => ResponsePattern
  /** Whether it must be the kept answer of an earlier request. */
  readonly replayed?: boolean
  /** Whether the batch is requested again, at each change, until it has ended. */
  readonly watched?: boolean
  /** What later steps need of a body that is as expected, and of the id of the request. */
  readonly learn?: (body: unknown, requestId: string) => Partial<Known>
}

/** A command of the operator, on the database of the running system. */
export interface Command {
  readonly title: string
  readonly command: (known: Known) => ReadonlyArray<string>
  /** Whether it cannot be carried out. */
  readonly isRefused?: boolean
  /** Patterns that its output must contain. */
  readonly says: (known: Known) => ReadonlyArray<RegExp>
}

export const get = (path: string, token?: string): Request => ({
  method: "GET",
  path,
  ...(token !== undefined && { token })
})

export const post = (path: string, body: unknown, token?: string): Request => ({
  method: "POST",
  path,
  body,
  ...(token !== undefined && { token })
})

export const put = (path: string, lines: ReadonlyArray<string>, token: string): Request => ({
  method: "PUT",
  path,
  lines,
  token
})
