/** The exchanges of a part, in order, as text that is the same in every run. */
import { createHash } from "node:crypto"
import type { Names } from "./Names.ts"

export interface Exchange {
  readonly method: string
  readonly path: string
  /** Whose token is sent, or what else tells requests with the same path apart. */
  readonly as?: string
  readonly body: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly answer: string
}

/** Headers that differ in every run, or only repeat the length of the body. */
const unstable: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "etag",
  "keep-alive",
  "last-modified",
  "transfer-encoding",
  "x-request-id"
])

const shownLength = { request: 200, answer: 500 }

/**
 * What tells how long something took, or will: members of bodies, words of a command, and a speed
 * in a table, with the spaces that fill its column.
 */
const measured =
  /("(?:lines_per_second|estimated_finish_at|duration_ms|seconds)":\s*)(?:"[^"]*"|[\d.]+|null)|\b[\d.,]+ (?=s\b|(?:lines|accounts)\/s)|\b[\d.]+ {2,}(?=<instant>)/g

const digestOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16)

const shortened = (text: string, length: number): string =>
  text.length <= length
    ? text
    : `${text.slice(0, length)}… ${text.length} characters, ${digestOf(text)}`

/** A batch is asked for, at once or when it has changed. */
const ofBatch = /^GET \S*\/batches\/<uuid \d+>\/(?:\?wait=\d+)?(?= |$)/

/** Whether a client that waits for a batch asks for it again; how often depends on the machine. */
const isWaiting = (last: Entry, next: string): boolean =>
  ofBatch.test(last.request) &&
  ofBatch.test(next) &&
  `${last.request} ${next}`.includes("?wait=") &&
  last.answers.every((answer) => /^ {2}(?:200|304)\b/.test(answer))

interface Entry {
  readonly request: string
  answers: ReadonlyArray<string>
}

export class Transcript {
  readonly #names: Names
  readonly #entries: Array<Entry> = []

  constructor(names: Names) {
    this.#names = names
  }

  #named(text: string): string {
    return this.#names
      .named(text)
      .replaceAll(measured, (_, member: string = "") => `${member}<measured>`)
  }

  #text(text: string): string {
    return this.#named(text).replaceAll(/\n$/g, "").replaceAll("\n", "\\n").replaceAll("\r", "\\r")
  }

  /**
   * Of a GET that is repeated at once the last answer counts, which was waited for; of another
   * request every answer counts, in no order, because the requests were concurrent.
   */
  add({ answer, as = "", body, headers, method, path, status }: Exchange): void {
    this.#names.begin()
    const request = [
      [method, shortened(this.#text(path), shownLength.request), as]
        .filter((part) => part !== "")
        .join(" "),
      ...(body === "" ? [] : [`  ${shortened(this.#text(body), shownLength.request)}`])
    ].join("\n")
    const head = Object.entries(headers)
      .filter(([name]) => !unstable.has(name))
      .map(([name, value]) => `${name}: ${this.#text(value)}`)
      .toSorted()
    const answered = [
      `  ${[status, ...head].join("; ")}`,
      ...(answer === "" ? [] : [`  ${shortened(this.#text(answer), shownLength.answer)}`])
    ].join("\n")
    const last = this.#entries.at(-1)
    if (last !== undefined && isWaiting(last, request)) this.#entries.pop()
    if (last?.request !== request) this.#entries.push({ request, answers: [answered] })
    else if (method === "GET") last.answers = [answered]
    else last.answers = [...new Set([...last.answers, answered])].toSorted()
  }

  /** What a program printed. */
  printed(command: string, status: number | string, out: string): void {
    this.#names.begin()
    const printed = this.#named(out).trimEnd().replaceAll(/^/gm, "  | ")
    this.#entries.push({
      request: `$ ${this.#text(command)}`,
      answers: [`  ${status}\n${printed}`]
    })
  }

  get text(): string {
    return this.#entries
      .map(({ answers, request }) => `${[request, ...answers].join("\n")}\n`)
      .join("")
      .toWellFormed()
  }

  get length(): number {
    return this.#entries.length
  }
}
