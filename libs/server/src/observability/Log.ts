/**
 * The log of a service: one JSON object per line on standard output, with the name of the service
 * and the id of the request if there is one. It must not contain bodies, tokens or personal data.
 * So an error is written with its kind, code and stack, but without its message: messages of
 * drivers and parsers quote the offending value.
 */
import { Cause, Context, DateTime, Effect, Logger, type LogLevel, References } from "effect"
import type { RequestFacts } from "@data-import/domain/requests/RequestFacts"
import type { RequestId } from "@data-import/domain/suppliers/Organisation"

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

/**
 * Collects the lines of one turn of the event loop, because a write costs more than formatting a
 * line.
 */
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

/** How a request was answered. Its log entry also has the facts noted about it. */
export interface Access {
  readonly request_id: RequestId
  readonly method: string
  /** The template of the path, because the path itself may contain an account number. */
  readonly route: string
  readonly status: number
  readonly duration_ms: number
  /** The client closed the connection before it had the whole answer. */
  readonly aborted: boolean
}

export interface Log {
  readonly logger: Logger.Logger<unknown, void>
  /** Writes the entry of one request. Called from callbacks, outside of a fiber. */
  readonly access: (atMillis: number, access: Access, facts: Readonly<RequestFacts>) => void
}

/** Members that may be missing, in the order in which they are written. */
const optional = [
  "organisation",
  "api_key",
  "import_supplier",
  "batch",
  "code",
  "limit",
  "upstream"
] as const

/** The entry as JSON, member by member: every request has one, and this is the cheapest way. */
const accessText = (head: string, access: Access, facts: Readonly<RequestFacts>): string => {
  let line =
    `${head}"request_id":"${access.request_id}","method":${JSON.stringify(access.method)},` +
    `"route":${JSON.stringify(access.route)},"status":${access.status},` +
    `"duration_ms":${access.duration_ms},"bytes_in":${facts.bytes_in},` +
    `"bytes_out":${facts.bytes_out}`
  if (access.aborted) line += `,"aborted":true`
  for (const name of optional) {
    const value = facts[name]
    if (value !== undefined) line += `,"${name}":${JSON.stringify(value)}`
  }
  return `${line}}`
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
  const headOf = (level: string) =>
    `"level":"${level}","service":${JSON.stringify(service)},"message":"answered",`
  const heads = { Info: headOf("INFO"), Warn: headOf("WARN") }
  /** A busy service answers several requests in a millisecond. */
  let latest = { at: Number.NaN, iso: "" }
  const log: Log = {
    logger,
    access: (atMillis, access, facts) => {
      const level = access.status >= 500 ? "Warn" : "Info"
      if (severity[level] < severity[minimum]) return
      if (atMillis !== latest.at) latest = { at: atMillis, iso: iso(atMillis) }
      const head = `{"time":"${latest.iso}",${heads[level]}`
      lines.add(accessText(head, access, facts))
    }
  }
  return log
})
