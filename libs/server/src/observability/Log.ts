/**
 * The log of a service: one JSON object a line on standard output, with the name of the service and
 * the id of the request if there is one. It must not contain bodies, tokens or personal data. So an
 * error is written with its kind, code and stack, but without its message: drivers and parsers
 * quote the offending value in theirs.
 */
import { Cause, Context, DateTime, Effect, Logger, type LogLevel, References } from "effect"
import type { RequestFacts } from "@data-import/domain/requests/RequestFacts"
import type { RequestId } from "@data-import/domain/organisation/Organisation"

/** Receives complete lines, each with its line break. */
export const Output = Context.Reference<(lines: string) => void>("@data-import/server/Log/Output", {
  defaultValue: () => (lines) => void process.stdout.write(lines)
})

/** An error without values that could come from a payload. */
export interface ErrorRecord {
  readonly kind: string
  readonly code?: string | number
  /** `at …` lines, innermost first. */
  readonly stack: ReadonlyArray<string>
  readonly cause?: ErrorRecord
}

const isFrame = (line: string) => /^\s+at /.test(line)

/** Includes at most four causes, because errors of drivers are often wrapped. */
const errorRecord = (error: unknown, depth = 4): ErrorRecord => {
  if (typeof error !== "object" || error === null) return { kind: typeof error, stack: [] }
  const { _tag, cause, code, name, stack } = error as Readonly<Record<string, unknown>>
  const frames = typeof stack === "string" ? stack.split("\n").filter(isFrame) : []
  return {
    kind: typeof _tag === "string" ? _tag : typeof name === "string" ? name : "Object",
    ...((typeof code === "string" || typeof code === "number") && { code }),
    stack: frames.slice(0, 30).map((line) => line.trim()),
    ...(cause !== undefined && depth > 1 && { cause: errorRecord(cause, depth - 1) })
  }
}

const errorsOf = (cause: Cause.Cause<unknown>): ReadonlyArray<ErrorRecord> =>
  cause.reasons.flatMap((reason) => {
    if (Cause.isFailReason(reason)) return [errorRecord(reason.error)]
    return Cause.isDieReason(reason) ? [errorRecord(reason.defect)] : []
  })

const scalars = (annotations: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(annotations).filter(
      ([, value]) => value === null || ["string", "number", "boolean"].includes(typeof value)
    )
  )

const text = (message: unknown): string =>
  (Array.isArray(message) ? message : [message])
    .map((part) => (typeof part === "string" ? part : JSON.stringify(part)))
    .join(" ")

/** Collects the lines of one turn of the event loop, because writing costs more than a line. */
const batch = (output: (lines: string) => void) => {
  let lines = ""
  const flush = () => {
    const ready = lines
    lines = ""
    if (ready !== "") output(ready)
  }
  return {
    flush,
    add: (line: string) => {
      if (lines === "") setImmediate(flush)
      lines += `${line}\n`
    }
  }
}

/** The log entry of an answered request, in which what is not known is left out. */
export interface Access extends Readonly<RequestFacts> {
  readonly request_id: RequestId
  readonly method: string
  /** The template of the path, because the path itself can hold an account number. */
  readonly route: string
  readonly status: number
  readonly duration_ms: number
  /** The client closed the connection before it had the whole answer. */
  readonly aborted?: true
}

export interface Log {
  readonly logger: Logger.Logger<unknown, void>
  /** Writes the entry of one request. Called from callbacks, outside of a fiber. */
  readonly access: (atMillis: number, access: Access) => void
}

const iso = (atMillis: number) => DateTime.formatIso(DateTime.makeUnsafe(atMillis))

const severity: Record<LogLevel.LogLevel, number> = {
  All: 0,
  Trace: 1,
  Debug: 2,
  Info: 3,
  Warn: 4,
  Error: 5,
  Fatal: 6,
  None: 7
}

/** The log of a service from the level `minimum` up. Flushed when the scope ends. */
export const make = Effect.fnUntraced(function* (service: string, minimum: LogLevel.LogLevel) {
  const lines = batch(yield* Output)
  yield* Effect.addFinalizer(() => Effect.sync(lines.flush))
  const write = (atMillis: number, level: LogLevel.LogLevel, message: string, members: object) =>
    lines.add(
      JSON.stringify({
        time: iso(atMillis),
        level: level.toUpperCase(),
        service,
        message,
        ...members
      })
    )

  const logger = Logger.make<unknown, void>(({ cause, date, fiber, logLevel, message }) => {
    const annotations = Context.get(fiber.context, References.CurrentLogAnnotations)
    const errors = errorsOf(cause)
    write(date.getTime(), logLevel, text(message), {
      ...scalars(annotations),
      ...(errors.length > 0 && { errors })
    })
  })
  const log: Log = {
    logger,
    access: (atMillis, access) => {
      const level = access.status >= 500 ? "Warn" : "Info"
      if (severity[level] >= severity[minimum]) write(atMillis, level, "answered", access)
    }
  }
  return log
})
