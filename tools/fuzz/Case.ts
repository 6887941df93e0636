/**
 * What the fuzzer sends, as it goes onto the wire, and what must be answered. A case is plain data
 * except for its expectations, so that it can be printed, sent again and shrunk.
 */
import type { Received } from "@data-import/server/testing/RawClient"

/** Whose token goes along: none, or one that was never given, among them. */
export type Who = "demo" | "rival" | "reader" | "writer" | "tester" | "nobody"

/**
 * How the body is parted on the wire: with its length, in chunks of so many bytes, without its last
 * byte until there is an answer, or announced and never sent.
 */
export type Framing = "length" | "stalled" | "announced" | { readonly chunk: number }

export interface Request {
  readonly method: string
  /** As it stands in the request line. */
  readonly path: string
  /** Besides Host, Authorization and what the framing needs; these win over them. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly who: Who
  readonly body?: string | Uint8Array
  readonly framing?: Framing
  /** Characters of one byte each that stand for the whole request. */
  readonly raw?: string
  /** An attack on the framing, by its name, and the request that it hides in the body. */
  readonly smuggled?: { readonly attack: string; readonly request: Request }
  /** Head, empty line and body are sent one after the other, each when the one before was read. */
  readonly split?: true
  /** The client closes its sending side after the request. */
  readonly halfClosed?: true
  /** What earlier requests of the case sent, which the answer may repeat. */
  readonly sentBefore?: string
  /** The client reads so many bytes at a time, after another client has its answer. */
  readonly bytesPerRead?: number
  /** It may be refused before its operation is known. */
  readonly malformed?: true
}

export interface Reply extends Received {
  /** The body as JSON; undefined where it is none. */
  readonly value: unknown
}

/**
 * Everything that an answer should not be; several answers where a request is sent several times.
 */
export type Expectation = (replies: ReadonlyArray<Reply>) => ReadonlyArray<string>

export interface Step {
  readonly request: Request
  readonly expect: Expectation
  /** Sent so many times at once. */
  readonly times?: number
  /** What is asked next, knowing the answer. */
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
 * - `state`: what is stored already;
 * - `value`: a hostile value inside a valid body;
 * - `bytes`: a body that may be no JSON;
 * - `http`: everything around the body;
 * - `framing`: a request that is hidden in another one;
 * - `connection`: how a client uses its connection;
 * - `worst`: a large body that costs as much as can be;
 * - `path`: the path and the query;
 * - `batch`: a batch from its lines to their results;
 * - `who`: the token.
 */
export type Kind = (typeof kinds)[number]

/** One case: its steps go one after the other, and the last is the one it is about. */
export interface Case {
  readonly operation: string
  readonly kind: Kind
  readonly name: string
  readonly steps: ReadonlyArray<Step>
}

/** Secrets of the run that a request has to spell. */
export interface Secrets {
  readonly apiKey: string
}

/**
 * A case that still lacks its mark, a text that no other case of the run has; what it makes anew is
 * named after the mark, so that a case can be tried again.
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

/** A POST of this body, text and bytes as they are and anything else as JSON. */
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

/** A plan of these requests, one after the other, each with what it is answered. */
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
