/**
 * The workload: concurrent writers, each of which takes one account after the other through all
 * steps. Every answer is compared with what the contract allows after the requests that were sent.
 * Only a request that was sent more than once may meet its own effects.
 */
import { Duration, Effect, Fiber, type Scope } from "effect"
import type { RandomSource } from "@data-import/testbed/RandomSource"
import * as Client from "@data-import/testbed/Client"
import type { Findings } from "./Findings.ts"
import { type Entry, AcknowledgedWrites } from "./AcknowledgedWrites.ts"
import { Probe } from "./Probe.ts"
import { type Addition, additions } from "./Requests.ts"
import * as Requests from "./Requests.ts"
import { tokenRequest, tokensOf } from "@data-import/testbed/Tokens"
import type { ServiceName } from "@data-import/testbed/Wiring"
import type { Tenant } from "@data-import/testbed/Tenants"

export interface Options {
  readonly tenant: Tenant
  /** The port of the gateway, or of a proxy before it. */
  readonly port: number
  readonly findings: Findings
  readonly random: RandomSource
  readonly writers: number
  /** How many accounts; null to go on until it is stopped. */
  readonly accounts: number | null
  /** The additions to an account; by default all. */
  readonly additions?: ReadonlyArray<Addition>
  /** Each account is staged once, and neither its status nor a second token is requested. */
  readonly onlyWrites?: boolean
  /** Every other account is written with idempotency keys, and also gets unchecked transactions. */
  readonly keyed?: boolean
}

export interface Traffic {
  readonly writes: AcknowledgedWrites
  readonly probe: Probe
  /** How often a request had to be sent again. */
  readonly repeats: () => number
  /** How often a request with an idempotency key had to be sent again. */
  readonly keyedRepeats: () => number
  /** The transient answers, after which a request was sent again. */
  readonly refusals: () => ReadonlyArray<Client.Answer>
  /** Lets the writers finish their current account, and waits for them. */
  readonly finish: Effect.Effect<void, Client.Unanswered>
  /** Waits until all accounts are done. */
  readonly done: Effect.Effect<void, Client.Unanswered>
}

const inProgress = "account_import_process_in_progress"
const alreadyImported = "account_import_process_already_imported"

/** The lease of a dead attempt must expire before the next attempt. */
const inProgressPause = Duration.millis(100)
const inProgressLimit = 600

/** Whether the account of this number is written with idempotency keys, if any is. */
export const isKeyed = (number: string): boolean => Number(number.at(-1)) % 2 === 0

/** The state that all writers share. */
class Work {
  readonly options: Options
  readonly writes = new AcknowledgedWrites()
  readonly probe = new Probe()
  stopped = false
  repeats = 0
  keyedRepeats = 0
  readonly refusals: Array<Client.Answer> = []
  #next = 0

  constructor(options: Options) {
    this.options = options
  }

  /** The number of the next account; undefined when there are no more. */
  next(): string | undefined {
    const { accounts } = this.options
    if (this.stopped || (accounts !== null && this.#next >= accounts)) return undefined
    return `F-${String(++this.#next).padStart(6, "0")}`
  }

  wrong(request: Client.Request, { answer, attempts }: Client.Settled): void {
    const code = Client.codeOf(answer)
    const times = attempts === 1 ? "once" : `${attempts} times`
    this.options.findings.add("wrong", `${request.path}, sent ${times}: ${answer.status} ${code}`)
  }

  isKeyed({ number }: Entry): boolean {
    return this.options.keyed === true && isKeyed(number)
  }

  /** Records a transient answer, or null for a lost one. A defect is a finding. */
  watch(request: Client.Request, answer: Client.Answer | null): void {
    this.repeats++
    if (request.key !== undefined) this.keyedRepeats++
    this.probe.record("refusal")
    if (answer === null) return
    this.refusals.push(answer)
    const isDefect = answer.status === 500 && Client.codeOf(answer) === "error"
    if (isDefect) this.wrong(request, { answer, attempts: 1 })
    if (answer.status === 503 && answer.retryAfter === null) {
      this.options.findings.add("wrong", `${request.path}: 503 without Retry-After`)
    }
  }
}

/** One writer: a connection, and a token that it renews. */
class Writer {
  readonly #work: Work
  readonly #client: Client.Client
  #token = ""
  #refreshToken = ""

  constructor(work: Work, client: Client.Client) {
    this.#work = work
    this.#client = client
  }

  /** Migrates accounts until there are no more. */
  run(): Effect.Effect<void, Client.Unanswered> {
    return Effect.gen({ self: this }, function* () {
      for (let number = this.#work.next(); number !== undefined; number = this.#work.next()) {
        const keepsToken = this.#work.options.onlyWrites === true && this.#token !== ""
        if (!keepsToken) yield* this.#renewToken()
        yield* this.#migrate(this.#work.writes.of(number))
      }
    })
  }

  #migrate(entry: Entry) {
    return Effect.gen({ self: this }, function* () {
      const { random, onlyWrites = false } = this.#work.options
      const stagings = onlyWrites ? 1 : random.between(1, 3)
      for (let staging = 1; staging <= stagings; staging++) {
        yield* this.#stage(entry, `${entry.number} as staged ${staging}`)
      }
      if (!onlyWrites) yield* this.#status(entry)
      yield* this.#process(entry)
      if (entry.account === null) return
      if (!onlyWrites) yield* this.#status(entry)
      const unchecked = this.#work.isKeyed(entry) ? (["unchecked"] as const) : []
      for (const addition of [...(this.#work.options.additions ?? additions), ...unchecked]) {
        yield* this.#add(entry, addition)
      }
    })
  }

  /** The write, with its own idempotency key if the account is written with keys. */
  #keyed(entry: Entry, name: string, request: Client.Request): Client.Request {
    return this.#work.isKeyed(entry) ? { ...request, key: `${entry.number} ${name}` } : request
  }

  #settle(service: ServiceName, request: Client.Request) {
    const work = this.#work
    const sent = { ...request, token: this.#token }
    return Effect.tap(
      this.#client.settle(sent, (answer) => work.watch(request, answer)),
      () =>
        Effect.sync(() => {
          work.probe.record(service)
          work.probe.record("gateway")
        })
    )
  }

  #stage(entry: Entry, marker: string) {
    return Effect.gen({ self: this }, function* () {
      const { writes, options } = this.#work
      const isFirst = entry.marker === null
      writes.staging(entry, marker)
      const staging = Requests.stage(options.tenant, entry.number, marker)
      const request = this.#keyed(entry, marker, staging)
      const settled = yield* this.#settle("account-import", request)
      const { answer, attempts } = settled
      const mayReplace = !isFirst || (attempts > 1 && !this.#work.isKeyed(entry))
      const isRight = (answer.status === 201 && isFirst) || (answer.status === 200 && mayReplace)
      if (!isRight) return this.#work.wrong(request, settled)
      writes.staged(entry, marker)
    })
  }

  /**
   * A repeated attempt may find the previous one running, or dead with a live lease; or done,
   * unless it has a key.
   */
  #process(entry: Entry) {
    return Effect.gen({ self: this }, function* () {
      const { writes, options } = this.#work
      const processing = Requests.process(options.tenant, entry.number)
      const request = this.#keyed(entry, "process", processing)
      entry.processed = true
      let earlier = 0
      for (let waits = 0; waits < inProgressLimit; waits++) {
        const settled = yield* this.#settle("account-import", request)
        const { answer } = settled
        const attempts = earlier + settled.attempts
        const code = Client.codeOf(answer)
        const mayBeDone = attempts > 1 && request.key === undefined
        if (answer.status === 201 || (code === alreadyImported && mayBeDone)) {
          return writes.imported(entry, Client.textAt(answer.json, "kraken_account_number"))
        }
        if (code !== inProgress || attempts === 1) {
          return this.#work.wrong(request, { answer, attempts })
        }
        earlier = attempts
        yield* Effect.sleep(inProgressPause)
      }
      options.findings.add("wrong", `${entry.number} stays IN_PROGRESS`)
    })
  }

  /** A read must show what was acknowledged before it. */
  #status(entry: Entry) {
    return Effect.gen({ self: this }, function* () {
      if (entry.marker === null) return
      const { options } = this.#work
      const { answer } = yield* this.#settle("query", Requests.status(options.tenant, entry.number))
      const expected = entry.account === null ? "UNKNOWN" : "COMPLETED"
      const found = Client.textAt(answer.json, "status")
      const account = Client.textAt(answer.json, "kraken_account_number")
      if (answer.status === 200 && found === expected && account === (entry.account ?? "")) return
      const what = `${entry.number} is ${answer.status} ${found} ${account}`
      options.findings.add("lost", `${what}, and not ${expected} ${entry.account ?? ""}`)
    })
  }

  #add(entry: Entry, addition: Addition) {
    return Effect.gen({ self: this }, function* () {
      const { writes, options } = this.#work
      const adding = Requests.add(options.tenant, entry.number, addition)
      const request = this.#keyed(entry, addition, adding)
      entry.sent.add(addition)
      const settled = yield* this.#settle("post-import", request)
      const { answer, attempts } = settled
      const text = JSON.stringify(answer.json) ?? ""
      const isRepeat = text.includes("_ALREADY_EXISTS")
      const isWhole = !isRepeat || !/NOTE_CREATION_SUCCESS|_ADDED_TO_ACCOUNT/.test(text)
      const mayRepeat = attempts > 1 && request.key === undefined
      if (answer.status !== 201 || (isRepeat && !mayRepeat)) {
        return this.#work.wrong(request, settled)
      }
      if (!isWhole) options.findings.add("halfMade", `${addition} of ${entry.number}: ${text}`)
      writes.added(entry, addition)
    })
  }

  /**
   * Uses the refresh token, but only once, because a reused one counts as stolen. If that fails,
   * uses the API key.
   */
  #renewToken() {
    return Effect.gen({ self: this }, function* () {
      const { findings, tenant } = this.#work.options
      if (this.#refreshToken !== "") {
        const request = tokenRequest({ refreshToken: this.#refreshToken })
        const result = yield* Effect.result(this.#client.send(request))
        const isAnswered = result._tag === "Success" && result.success.status === 200
        if (isAnswered && this.#take(result.success)) return
        if (isAnswered) findings.add("lost", "a refresh token is not known any more")
        else this.#work.watch(request, result._tag === "Success" ? result.success : null)
      }
      const request = tokenRequest({ APIKey: tenant.apiKey })
      const settled = yield* this.#settle("auth", request)
      if (!this.#take(settled.answer)) this.#work.wrong(request, settled)
    })
  }

  #take(answer: Client.Answer): boolean {
    const { refreshToken, token } = tokensOf(answer)
    if (token === "") return false
    this.#token = token
    this.#refreshToken = refreshToken
    this.#work.probe.record("auth")
    return true
  }
}

/** Starts the writers, which stop with the scope at the latest. */
export const start = (options: Options): Effect.Effect<Traffic, never, Scope.Scope> =>
  Effect.gen(function* () {
    const work = new Work(options)
    const writing = Effect.forEach(
      Array.from({ length: options.writers }),
      () =>
        Effect.scoped(
          Effect.flatMap(Client.make(options.port), (client) => new Writer(work, client).run())
        ),
      { concurrency: "unbounded", discard: true }
    )
    const fiber = yield* Effect.forkScoped(writing)
    const done = Fiber.join(fiber)
    return {
      writes: work.writes,
      probe: work.probe,
      repeats: () => work.repeats,
      keyedRepeats: () => work.keyedRepeats,
      refusals: () => work.refusals,
      done,
      finish: Effect.suspend(() => {
        work.stopped = true
        return done
      })
    }
  })
