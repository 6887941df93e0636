/**
 * One step of the journey: its request, the expected answer, and what later steps need of the
 * answer.
 */
import type { Demo } from "@data-import/local/DemoFile"
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
  readonly request: (known: Known) => Request
  readonly status: number
  /** What the body must hold; it may hold more members than are named. */
  readonly body: (known: Known) => ResponsePattern
  /** Whether it must be the answer that was kept of an earlier request. */
  readonly replayed?: boolean
  /** Whether the batch is asked for again until it has ended, at each change. */
  readonly watched?: boolean
  /** What later steps need of a body that is as expected. */
  readonly learn?: (body: unknown) => Partial<Known>
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
