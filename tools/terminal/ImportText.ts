/** The state of an import and the reasons of failed attempts, as text for people. */
import type { Schema } from "effect"
import { type Entry, inEnglish, line, plain, table } from "./Answer.ts"

/** As the service answers it. */
export interface ImportAnswer {
  readonly attempts: ReadonlyArray<{
    readonly started_at: string
    readonly ended_at: string | null
    readonly dry_run: boolean
    readonly outcome: string
    readonly code: string | null
    readonly errors: ReadonlyArray<{
      readonly attr: string
      readonly code: string
      readonly detail: string
    }>
  }>
}

const attemptColumns = ["started_at", "ended_at", "dry_run", "outcome", "code"]
const errorColumns = ["attr", "code", "detail"]

/** A line of the table of errors. The path and the text may repeat names that were sent. */
const errorEntry = (error: {
  readonly attr: string
  readonly code: string
  readonly detail: string
}): Entry => ({ attr: plain(error.attr), code: error.code, detail: plain(error.detail) })

/** The errors of a refusal as a table. */
const errorTable = (errors: ReadonlyArray<Parameters<typeof errorEntry>[0]>): string =>
  table(errorColumns, errors.map(errorEntry))

export const importText = ({ attempts, ...members }: ImportAnswer): string => {
  const lines = Object.entries<Schema.Json>(members).map(([name, value]) =>
    line(name, typeof value === "number" ? inEnglish(value) : value)
  )
  const ofAttempts = attempts.map(({ errors: _, ...attempt }) => attempt)
  const errors = attempts.at(-1)?.errors ?? []
  return [
    lines.join("\n"),
    attempts.length === 0 ? "attempts: 0" : `attempts\n${table(attemptColumns, ofAttempts)}`,
    ...(errors.length === 0 ? [] : [`errors of the latest attempt\n${errorTable(errors)}`])
  ].join("\n\n")
}
