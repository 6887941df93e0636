/** Starts a system with workers, sends it batches through the gateway, and follows them. */
import { Data, Duration, Effect } from "effect"
import { exampleAccount } from "@data-import/domain/accounts/ExampleAccount"
import { get } from "@data-import/domain/testing/wire"
import { type Request, textAt } from "@data-import/testbed/Client"
import { openSession } from "@data-import/testbed/Tokens"
import { install, type Server } from "./Installation.ts"
import * as Subjects from "./Subjects.ts"

const root = "/v1/data-import/batches/"

export type Operation = "VALIDATE" | "STAGE" | "IMPORT" | "PROCESS" | "TRANSACTIONS" | "REVERT"

/** Makes the line with this number, from 0. */
export type LineOf = (batch: string, number: number) => string

/** The example account without documents, which would be looked up. */
const { import_supplier: _, notes: __, statements: ___, ...account } = exampleAccount

const mark = "@NUMBER@"
const accountText = JSON.stringify({ ...account, external_account_number: mark })

/** An account with a unique number. */
export const accountLine: LineOf = (batch, number) =>
  accountText.replace(mark, `${batch.slice(0, 8)}-${number}`)

/** Lines of one part of an upload; clients send parts of at most 64 MiB. */
const linesOfPart = 10_000

/** A request of the measurement was refused. */
class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}

const make = Effect.fnUntraced(function* ({ installation, tenant }: Subjects.Subject) {
  const session = yield* openSession(installation.services.gateway.port, tenant.apiKey, 1)

  const send = Effect.fnUntraced(function* (request: Request) {
    const path = root + request.path
    const { json, status, text } = yield* session.send({ ...request, path })
    if (status < 300) return { json, text }
    const message = `${request.method} ${path} answered ${status}: ${text}`
    return yield* new Refused({ message })
  }, Effect.orDie)

  const create = (operation: Operation, settings: Readonly<Record<string, unknown>> = {}) => {
    const needsTeam = operation === "IMPORT" || operation === "PROCESS"
    const team = needsTeam ? { operations_team_name: tenant.team } : {}
    const payload = { import_supplier: tenant.supplier, operation, ...team, ...settings }
    const created = send({ method: "POST", path: "", body: { payload } })
    return Effect.map(created, ({ json }) => textAt(json, "batch_id"))
  }

  /** Returns the number of bytes sent. */
  const upload = Effect.fnUntraced(function* (id: string, lines: number, lineOf: LineOf) {
    let bytes = 0
    for (let from = 0; from < lines; from += linesOfPart) {
      const count = Math.min(linesOfPart, lines - from)
      const part = Array.from({ length: count }, (_each, index) => lineOf(id, from + index))
      const text = `${part.join("\n")}\n`
      bytes += text.length
      const path = `${id}/lines/?from_line=${from + 1}`
      yield* send({ method: "PUT", path, text, type: "application/x-ndjson" })
    }
    return bytes
  })

  const start = (id: string, total_lines: number) =>
    send({ method: "POST", path: `${id}/start/`, body: { payload: { total_lines } } })

  const remaining = (id: string) =>
    Effect.map(send({ method: "GET", path: `${id}/` }), ({ json }) => {
      const counts = get(json, "counts") as Readonly<Record<string, number>>
      const { failed = 0, remaining: left = 0 } = counts
      if (failed > 0) throw new Error(`${failed} lines of batch ${id} have failed`)
      return left
    })

  const follow = Effect.fnUntraced(function* (id: string) {
    while ((yield* remaining(id)) > 0) yield* Effect.sleep(Duration.millis(100))
  })

  const results = (id: string) =>
    Effect.map(send({ method: "GET", path: `${id}/results/` }), ({ text }) => text)

  return { create, upload, start, follow, results }
})

export interface System {
  readonly subject: Subjects.Subject
  readonly client: Effect.Success<ReturnType<typeof make>>
}

/** The services on a database of their own, with this many workers. */
export const startSystem = Effect.fnUntraced(function* (server: Server, workers: number) {
  const installation = yield* install(server, "batches", { workers })
  const subject = yield* Subjects.services(installation)
  return { subject, client: yield* make(subject) } satisfies System
})
