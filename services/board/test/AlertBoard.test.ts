/** Alerts to users of the board. Source: docs/contract/board.md#alerts. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { Alerts } from "@data-import/domain/alerts/Alerts"
import { noAlerts } from "@data-import/domain/alerts/AlertSettings"
import { type Mail, Mailer, type MessageOutcome } from "@data-import/domain/alerts/Mailer"
import { BoardSessions } from "@data-import/domain/access/BoardSessions"
import type { BoardUser } from "@data-import/domain/access/BoardUser"
import { AlertBoard, layer as alertBoard } from "@data-import/domain/board/AlertBoard"
import { MigrationActions } from "@data-import/domain/board/MigrationActions"
import { CertificateBoard } from "@data-import/domain/board/CertificateBoard"
import { Checks } from "@data-import/domain/checks/Checks"
import {
  type Sent,
  type WebhookMessage,
  WebhookSender
} from "@data-import/domain/events/WebhookSender"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import {
  endOf,
  finish,
  processSettings,
  started,
  taken
} from "@data-import/domain/testing/begunBatches"
import { freshHash, hex } from "@data-import/domain/testing/freshNames"
import { adjust } from "@data-import/postgres/testing/SteppedClock"
import * as Board from "./boardPrograms.ts"

/** What was sent, and what the servers answer. */
const mails: Array<Mail> = []
const posts: Array<WebhookMessage> = []
let mailAnswer: MessageOutcome = { _tag: "Sent", answer: "250 OK" }
let postAnswer: Sent = { _tag: "Delivered" }

const servers = Layer.merge(
  Layer.succeed(Mailer, {
    send: (mail) => Effect.sync(() => (mails.push(mail), mailAnswer))
  }),
  Layer.succeed(WebhookSender, {
    send: (message) => Effect.sync(() => (posts.push(message), postAnswer))
  })
)

const programs = alertBoard({ publicUrl: new URL("https://board.example"), allowsPrivate: false })
const alertLayer = programs.pipe(Layer.provide(servers), Layer.provideMerge(Board.boardLayer))

const ownOf = (user: BoardUser) =>
  Effect.map(DateTime.now, (createdAt) => ({
    session: { user, createdAt },
    requestId: RequestId.make(`request-${hex(16)}`)
  }))

const asked = { kinds: [], failing_share: 5, import_suppliers: null, email: null } as const
type Asked = Parameters<AlertBoard["Service"]["save"]>[1]

/** A user of these organisations who is told of these things by e-mail. */
const told = Effect.fnUntraced(function* (
  organisations: BoardUser["organisations"],
  changes: Partial<Asked>
) {
  const name = `user-${hex(16)}`
  const user: BoardUser = { subject: name, name, role: "viewer", organisations, suppliers: null }
  const email = `${name}@example.com`
  const own = yield* ownOf(user)
  yield* (yield* AlertBoard).save(own, { ...asked, email, ...changes })
  return { own, email, user }
})

/** A minute later: finds what there is, and sends it. */
const minute = Effect.gen(function* () {
  const { deliver, watch } = yield* AlertBoard
  yield* adjust("1 minute")
  yield* Board.fold
  yield* watch
  while (yield* deliver) continue
})

/** The texts that have arrived at this address since the last call. */
const arrived = (address: string) =>
  mails.splice(0).flatMap(({ subject, text, to }) => (to === address ? [[subject, text]] : []))

const subjects = (address: string) => arrived(address).map(([subject]) => subject)

/** Of two accounts one fails, which is a share of 50 % or 100 %. */
const failOne = (owner: Board.Owner) =>
  Effect.andThen(Board.stage(owner, ["a"]), Board.fail(owner, "a"))

const failing = (code: string) => `[Data Import] ${code} is failing`

layer(alertLayer, { excludeTestServices: true, timeout: "1 minute" })("alerts", (it) => {
  it.effect("say why and where, once while a condition goes on or comes back soon", () =>
    Effect.gen(function* () {
      const { code, mine, user } = yield* Board.begun
      const { email } = yield* told(user.organisations, { kinds: ["failing", "stuck"] })
      yield* failOne(mine)
      yield* minute
      expect(arrived(email)).toEqual([
        [
          failing(code),
          `${code} is failing.\n1 of 1 that were tried have failed (100.0 %).\n` +
            `https://board.example/board/migrations/${code}/\n\n` +
            "You chose to be told of this. Change or stop it: https://board.example/board/alerts/\n"
        ]
      ])
      yield* minute
      yield* Board.stage(mine, ["a"])
      yield* minute
      yield* Board.fail(mine, "a")
      yield* minute
      expect(subjects(email)).toEqual([])
      yield* Board.stage(mine, ["a"])
      yield* minute
      yield* adjust("61 minutes")
      yield* Board.fail(mine, "a")
      yield* minute
      expect(subjects(email)).toEqual([failing(code)])
    })
  )

  it.effect("are for those who chose them and may see the supplier", () =>
    Effect.gen(function* () {
      const { code, foreign, mine, user } = yield* Board.begun
      const kinds = ["failing"] as const
      const own = user.organisations
      yield* Board.stage(mine, ["b"])
      yield* Board.complete(mine, "b")
      const users = {
        mine: yield* told(own, { kinds, failing_share: 50 }),
        all: yield* told(null, { kinds, import_suppliers: [code] }),
        otherKind: yield* told(own, { kinds: ["late"] }),
        higherShare: yield* told(own, { kinds, failing_share: 51 }),
        foreign: yield* told([foreign.supplier.organisation], { kinds }),
        silenced: yield* told(own, { kinds }),
        off: yield* told(own, {})
      }
      const sessions = yield* BoardSessions
      yield* sessions.endAll({ user: users.silenced.user.name })
      yield* failOne(mine)
      yield* minute
      const to = new Set(mails.splice(0).map((mail) => mail.to))
      const who = Object.entries(users).filter(([, { email }]) => to.has(email))
      expect(who.map(([name]) => name)).toEqual(["mine", "all"])
      const { createdAt } = users.silenced.own.session
      yield* sessions.create(freshHash(), {
        user: users.silenced.user,
        csrfToken: "x",
        createdAt,
        lastSeenAt: createdAt,
        prolongedUntil: null
      })
      yield* minute
      expect(subjects(users.silenced.email)).toEqual([failing(code)])
      yield* adjust("90 days")
      yield* minute
      const settings = yield* (yield* Alerts).read(users.mine.user.subject)
      expect(settings._tag).toBe("None")
    })
  )

  it.effect("come in one message, if there are several", () =>
    Effect.gen(function* () {
      const { foreign, mine } = yield* Board.begun
      const organisations = [mine.supplier.organisation, foreign.supplier.organisation]
      const { email } = yield* told(organisations, { kinds: ["failing"] })
      yield* failOne(mine)
      yield* failOne(foreign)
      yield* minute
      const [message, ...others] = arrived(email)
      expect(others).toEqual([])
      expect(message?.[0]).toMatch(/^\[Data Import\] 2 alerts: .* is failing, …$/)
      for (const { supplier } of [mine, foreign]) {
        expect(message?.[1]).toContain(`${supplier.code} is failing.`)
      }
    })
  )

  it.effect("say that a migration is stuck, and that it is late", () =>
    Effect.gen(function* () {
      const { caller, code, mine, user } = yield* Board.begun
      const { email } = yield* told(user.organisations, { kinds: ["stuck", "late", "failing"] })
      yield* Board.stage(mine, ["a", "b"])
      yield* Board.complete(mine, "a")
      const points = [{ on: "2026-01-01", accounts: 2 }]
      yield* (yield* MigrationActions).setPlan(caller, code, { points })
      yield* minute
      expect(subjects(email)).toEqual([])
      yield* adjust("25 hours")
      yield* minute
      const [[subject, text] = []] = arrived(email)
      expect(subject).toMatch("2 alerts")
      expect(text).toContain(
        `${code} is stuck.\n1 account waits, and none was imported for 25 hours.`
      )
      expect(text).toContain(`${code} is behind its plan.\n1 are imported, 1 fewer than planned`)
    })
  )

  it.effect("say that a wave is finished, when nothing of it is left", () =>
    Effect.gen(function* () {
      const { code, mine, user } = yield* Board.begun
      const { email } = yield* told(user.organisations, { kinds: ["wave_finished"] })
      yield* Board.stage(mine, ["a", "b"], "wave 1")
      const end = Effect.gen(function* () {
        const chunk = yield* taken(yield* DateTime.now)
        yield* finish(chunk, chunk.lines.map(endOf("SUCCEEDED")), { at: yield* DateTime.now })
      })
      const pending = { ...processSettings, cohort: "wave 1", of: mine }
      yield* started(["a"], { ...pending, dryRun: true })
      yield* end
      yield* Board.complete(mine, "a")
      yield* started(["a"], pending)
      yield* end
      yield* minute
      expect(subjects(email)).toEqual([])
      yield* started(["b"], pending)
      yield* Board.complete(mine, "b")
      yield* minute
      expect(subjects(email)).toEqual([])
      yield* end
      yield* minute
      yield* minute
      expect(arrived(email)).toEqual([
        [
          `[Data Import] ${code}: wave 1 is finished`,
          expect.stringContaining(
            `2 accounts are imported, 0 failed.\n` +
              `https://board.example/board/migrations/${code}/go-no-go/?cohort=wave+1\n`
          )
        ]
      ])
      yield* started(["a"], pending)
      yield* end
      yield* minute
      expect(subjects(email)).toEqual([])
      yield* adjust("1 hour")
      yield* minute
      yield* minute
      expect(subjects(email)).toHaveLength(1)
    })
  )

  it.effect("say that a certificate differs, by its totals or by the scheduled checks", () =>
    Effect.gen(function* () {
      const { caller, code, mine, user } = yield* Board.begun
      const { email } = yield* told(user.organisations, { kinds: ["certificate_differs"] })
      yield* Board.stage(mine, ["a"])
      yield* Board.complete(mine, "a")
      yield* Board.issueAll()
      const { issue } = yield* CertificateBoard
      const issued = Effect.gen(function* () {
        const { certificate_id } = yield* issue(caller, code, {
          certificate_id: crypto.randomUUID(),
          cohort: null
        })
        yield* Board.issueAll()
        return certificate_id
      })
      const { setControlTotals } = yield* MigrationActions
      yield* setControlTotals(caller, code, { cohort: null, expected: { accounts: 1 } })
      yield* issued
      yield* minute
      expect(subjects(email)).toEqual([])
      yield* setControlTotals(caller, code, { cohort: null, expected: { accounts: 2 } })
      const id = yield* issued
      yield* minute
      const [[, text] = []] = arrived(email)
      expect(text).toContain("The certificate of all accounts has 1 account, and 2 were expected.")
      expect(text).toContain(`/board/migrations/${code}/certificates/${id}/`)
      const { conclude } = yield* Checks
      const difference = { check: "entry", subject: 1n, supplier: code, detail: "x" } as const
      const at = yield* DateTime.now
      const stretch = { walk: "accounts", after: 0n, through: 1n, moves: false, at } as const
      yield* conclude({ ...stretch, differences: [difference] })
      yield* minute
      const [[, checked] = []] = arrived(email)
      expect(checked).toContain("1 account is not as imported or certified")
      yield* conclude({ ...stretch, differences: [] })
    })
  )

  it.effect("are tried again for a day if nothing was sent, and never if that is not known", () =>
    Effect.gen(function* () {
      const { mine, user } = yield* Board.begun
      const webhook = "https://hooks.slack.com/services/secret"
      const { email, own } = yield* told(user.organisations, { kinds: ["failing"], webhook })
      yield* failOne(mine)
      mailAnswer = { _tag: "Unknown", error: "ETIMEDOUT", answer: "x" }
      postAnswer = { _tag: "Failed", error: "503" }
      posts.length = 0
      yield* minute
      const { deliver, read } = yield* AlertBoard
      const pauses: Array<number> = []
      for (let minutes = 0; minutes < 48 * 60; minutes++) {
        const before = posts.length
        yield* adjust("1 minute")
        while (yield* deliver) continue
        if (posts.length > before) pauses.push(minutes + 1)
      }
      expect(pauses).toEqual([1, 6, 21, 81, 201, 441, 921, 1401])
      expect(subjects(email)).toHaveLength(1)
      expect((yield* read(own)).told).toMatchObject([
        { way: "email", state: "UNKNOWN", error: "ETIMEDOUT" },
        { way: "webhook", state: "FAILED", error: "503" }
      ])
      expect(posts[0]).toMatchObject({ url: webhook, allowsPrivate: false, secrets: [] })
      mailAnswer = { _tag: "Sent", answer: "250 OK" }
      postAnswer = { _tag: "Delivered" }
    })
  )

  it.effect("are set by their user alone, on record, and without secrets in answers", () =>
    Effect.gen(function* () {
      const { code, user } = yield* Board.begun
      const { read, save, test } = yield* AlertBoard
      const own = yield* ownOf({ ...user, subject: freshHash() })
      const none = { kinds: [], failing_share: noAlerts.failingShare, import_suppliers: null }
      expect(yield* read(own)).toEqual({
        ...none,
        email: null,
        webhook: null,
        sends_email: true,
        told: []
      })
      const webhook = "https://hooks.slack.com/services/secret"
      const set = { ...asked, kinds: ["late", "late"], import_suppliers: [code], webhook } as const
      const saved = yield* save(own, { ...set, email: "mia@example.com" })
      expect(saved).toMatchObject({ kinds: ["late"], webhook: "https://hooks.slack.com/…" })
      yield* save(own, asked)
      const stored = Option.getOrThrow(yield* (yield* Alerts).read(own.session.user.subject))
      expect([stored.email, stored.webhook]).toEqual([null, Redacted.make(webhook)])
      expect(yield* test(own, "email")).toMatchObject({ sent: false })
      const tests = [yield* test(own, "webhook"), yield* test(own, "webhook")]
      expect(tests).toEqual([
        { sent: true, answer: "The server has taken it." },
        { sent: false, answer: "Wait half a minute between two tests." }
      ])
      expect(yield* save(own, { ...asked, webhook: null })).toMatchObject({ webhook: null })
      expect(yield* Board.entriesOf(own.requestId)).toEqual(
        Array.from({ length: 3 }, () => "board:mia set_alerts set")
      )
      const refused = [
        { import_suppliers: ["NOBODY"] },
        { import_suppliers: [] },
        { webhook: "http://hooks.example/" }
      ]
      for (const changes of refused) {
        const failure = yield* Effect.flip(save(own, { ...asked, ...changes }))
        expect(failure).toMatchObject({ _tag: "ValidationFailed" })
      }
    })
  )
})
