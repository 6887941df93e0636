/**
 * What the fuzzer sends on the wire, and the expected answers. A case is plain data except for its
 * expectations, so that it can be printed and sent again.
 */
import type { Received } from "@data-import/server/testing/RawClient"

/** Whose token is sent; `nobody` has none, or one that was never issued. */
export type Who = "demo" | "rival" | "reader" | "writer" | "tester" | "nobody"

/**
 * The framing of the body: with its length, in chunks of this many bytes, without its last byte
 * until there is an answer, or announced and never sent.
 */
export type Framing = "length" | "stalled" | "announced" | { readonly chunk: number }

export interface Request {
  readonly method: string
  /** The target as in the request line. */
  readonly path: string
  /** Headers besides Host, Authorization and those of the framing, which they override. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly who: Who
  readonly body?: string | Uint8Array
  readonly framing?: Framing
  /** Characters of one byte each that stand for the whole request. */
  readonly raw?: string
  /** An attack on the framing, by its name, and the request that it hides in the body. */
  readonly smuggled?: { readonly attack: string; readonly request: Request }
  /**
   * Head, empty line and body are sent one after the other, each when the previous part was read.
   */
  readonly split?: true
  /** The client closes its sending side after the request. */
  readonly halfClosed?: true
  /** Data of earlier requests of the case, which the answer may repeat. */
  readonly sentBefore?: string
  /** The client reads this many bytes at a time, after another client has its answer. */
  readonly bytesPerRead?: number
  /** It may be refused before its operation is known. */
  readonly malformed?: true
}

export interface Reply extends Received {
  /** The body as JSON; undefined if it is not JSON. */
  readonly value: unknown
}

/**
 * Returns everything that is wrong with an answer, or with several if a request is sent several
 * times.
 */
export type Expectation = (replies: ReadonlyArray<Reply>) => ReadonlyArray<string>

export interface Step {
  readonly request: Request
  readonly expect: Expectation
  /** How many times it is sent concurrently. */
  readonly times?: number
  /** The next steps, given the answer. */
  readonly next?: (reply: Reply) => ReadonlyArray<Step>
}

export const kinds = [
  "valid",
  "document",
  "mutant",
  "state",
  "value",
  "bytes",
  "http",
  "framing",
  "connection",
  "worst",
  "path",
  "batch",
  "who"
] as const

/**
 * Where a case comes from:
 * - `valid` and `mutant`: the rules;
 * - `document`: the published schemas;
 * - `state`: data that is already stored;
 * - `value`: a hostile value inside a valid body;
 * - `bytes`: a body that may not be JSON;
 * - `http`: everything around the body;
 * - `framing`: a request that is hidden in another one;
 * - `connection`: how a client uses its connection;
 * - `worst`: a large body that is as expensive as possible;
 * - `path`: the path and the query;
 * - `batch`: a batch from its lines to their results;
 * - `who`: the token.
 */
export type Kind = (typeof kinds)[number]

/** One case: its steps are sent one after the other, and the last is the one under test. */
export interface Case {
  readonly operation: string
  readonly kind: Kind
  readonly name: string
  readonly steps: ReadonlyArray<Step>
}

/** Secrets of the run that requests contain. */
export interface Secrets {
  readonly apiKey: string
}

/**
 * A case that still lacks its mark, a text that no other case of the run has. Things that it
 * creates are named after the mark, so that a case can be retried.
 */
export interface Plan {
  readonly operation: string
  readonly kind: Kind
  readonly name: string
  readonly steps: (mark: string, secrets: Secrets) => ReadonlyArray<Step>
}

/** The case of a plan. */
export const caseOf = (plan: Plan, mark: string, secrets: Secrets): Case => ({
  operation: plan.operation,
  kind: plan.kind,
  name: plan.name,
  steps: plan.steps(mark, secrets)
})

const json: Request["headers"] = [["content-type", "application/json"]]

/** A POST of this body: text and bytes unchanged, anything else as JSON. */
export const post = (path: string, body: unknown, who: Who = "demo"): Request => ({
  method: "POST",
  path,
  headers: json,
  who,
  body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
})

export const get = (path: string, who: Who = "demo"): Request => ({
  method: "GET",
  path,
  headers: [],
  who
})

/** A plan of these requests, one after the other, each with its expectation. */
export const plan = (
  operation: string,
  kind: Kind,
  name: string,
  ...steps: ReadonlyArray<readonly [Request, Expectation]>
): Plan => ({
  operation,
  kind,
  name,
  steps: () => steps.map(([request, expect]): Step => ({ request, expect }))
})
