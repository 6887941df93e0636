/**
 * A run against a server with planted faults finds and reports each once, and retries a busy
 * service.
 */
import { createServer, type ServerResponse } from "node:http"
import { createServer as createTcpServer, type AddressInfo } from "node:net"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Expectation, get, type Plan } from "../Case.ts"
import { answers } from "../Expectation.ts"
import { hiddenEffects } from "../FramingPlans.ts"
import { report } from "../Report.ts"
import { type Options, type Outcome, run } from "../Run.ts"
import type { Tenant } from "../Tenant.ts"
import { exchange, NoAnswer, type Target } from "../Wire.ts"
import { errorOf, record, validHeaders } from "./replies.ts"

type Answer = (response: ServerResponse, sent: string) => void

const under = "/v1/data-import/account-transfer-status/FUZZ/"

const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    response.writeHead(status, { ...validHeaders, ...headers }).end(JSON.stringify(body))

const good = json(200, record)
const full = json(503, errorOf("service_unavailable"), { "retry-after": "7" })

/** The answer to the account number at the end of the path. */
let answer: Answer = good
const sent: Array<string> = []

const server = createServer((request, response) => {
  const number = request.url?.slice(under.length, -1) ?? ""
  sent.push(number)
  answer(response, number)
})

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const target = (): Target => ({
  port: (server.address() as AddressInfo).port,
  tokenOf: () => "a-token"
})

const planOf = (number: string, expect: Expectation = answers("200")): Plan => ({
  operation: "getAccountImportStatus",
  kind: "valid",
  name: number,
  steps: () => [{ request: get(`${under}${number}/`), expect }]
})

const validPlan = planOf("valid")

interface Arranged {
  readonly fixed?: ReadonlyArray<Plan>
  readonly options?: Partial<Options>
}

const options = { seed: 5, from: 0, to: 4, concurrency: 2 }

const runWith = async (
  answered: Answer,
  { fixed = [], options: more = {} }: Arranged = {}
): Promise<Outcome & { readonly waited: ReadonlyArray<number> }> => {
  answer = answered
  sent.length = 0
  const waited: Array<number> = []
  const tenant: Tenant = {
    target: target(),
    secrets: { apiKey: "k" },
    secretsOfRun: () => ["hush-hush"]
  }
  const outcome = await run(
    tenant,
    { ...options, ...more },
    {
      deckOf: () => ({ fixed, others: fc.constant(validPlan) }),
      wait: async (seconds) => {
        waited.push(seconds)
      }
    }
  )
  return { ...outcome, waited }
}

describe("a run", () => {
  it("finds nothing wrong with valid answers", async () => {
    const outcome = await runWith(good)
    expect(outcome).toMatchObject({ cases: 4, failures: [], hangs: 0, turnedAway: 0, waited: [] })
    expect(outcome.tally.requests).toBe(4)
  })

  it.each<readonly [string, Answer, string]>([
    ["an error of the server", json(500, errorOf("error")), "the service answered 500 error"],
    ["a body that nobody describes", json(200, { ...record, odd: 1 }), "additional properties"],
    ["a secret", json(404, errorOf("not_found", "hush-hush")), "the answer reveals a secret"],
    ["another answer than expected", json(404, errorOf("not_found")), "200 is expected, 404"]
  ])("finds %s", async (_, wrong, complaint) => {
    const { failures } = await runWith(
      (response, number) => (number === "wrong" ? wrong : good)(response, number),
      { fixed: [validPlan, planOf("wrong")] }
    )
    expect(failures).toHaveLength(1)
    expect(failures[0]).toMatchObject({ index: 1, others: 0, at: `GET ${under}wrong/` })
    expect(failures[0]?.complaints.join("\n")).toContain(complaint)
  })

  it("finds a connection that ends without an answer, and counts it", async () => {
    const { failures, hangs } = await runWith((response) => response.destroy(), {
      options: { to: 1 }
    })
    expect(hangs).toBeGreaterThan(0)
    expect(failures).toHaveLength(1)
  })

  const probing: Plan = { ...validPlan, kind: "path" }
  it("finds a connection on which the next request gets the answer of another", async () => {
    const { failures } = await runWith(good, { fixed: [probing] })
    expect(failures[0]?.complaints).toEqual([
      expect.stringContaining("the next request on the connection got 200")
    ])
  })

  it("reports a failure once, with the number of cases", async () => {
    const { failures } = await runWith(json(500, errorOf("error")))
    expect(failures).toMatchObject([{ others: 3 }])
  })
})

describe("a service that cannot answer now", () => {
  it.each([
    ["its Retry-After", full, 7, 1],
    ["the batches of another case", json(409, errorOf("batch_limit_exceeded")), 10, 0]
  ])("gets the case once more, after %s, with another mark", async (_, now, seconds, errors) => {
    const late: Plan = {
      ...validPlan,
      steps: (mark) => planOf(`late-${mark}`).steps(mark, { apiKey: "k" })
    }
    const { failures, tally, turnedAway, waited } = await runWith(
      (response, number) => (number === "late-0.1" ? now : good)(response, number),
      { fixed: [late] }
    )
    const isTried = { failures: [], turnedAway: 1, waited: [seconds] }
    expect({ failures, turnedAway, waited }).toEqual(isTried)
    expect([sent.indexOf("late-0.1") < 2, sent.at(-1)]).toEqual([true, "late-0.2"])
    expect(tally.serverErrors).toBe(errors)
  })

  it("fails a case that it cannot answer even then", async () => {
    const outcome = await runWith(
      (response, number) => (number === "late" ? full : good)(response, number),
      { fixed: [planOf("late")] }
    )
    expect(outcome.failures).toMatchObject([
      { index: 0, complaints: ["the service cannot answer now, nor later"] }
    ])
    expect(report(outcome, options)).toMatch(/1 failed, .* 1 put off and tried again$/)
  })
})

describe("a request", () => {
  it("has no answer when its time is up", async () => {
    answer = () => {}
    const sending = { from: "127.0.0.1", seconds: 0.05, probe: false }
    const waiting = exchange(target(), get(`${under}x/`), sending)
    await expect(waiting).rejects.toThrow(new NoAnswer("no answer within 0.05 seconds"))
  })

  it("that is split arrives in parts, each when another client has been answered", async () => {
    const parts: Array<string> = []
    const split = createTcpServer((socket) => {
      socket.on("data", (data) => {
        const text = String(data)
        parts.push(text.slice(0, 4))
        const isWhole = text.startsWith("GET /health/live ") || text === "\r\n"
        if (isWhole) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
      })
    })
    await new Promise<void>((resolve) => split.listen(0, "127.0.0.1", resolve))
    const { port } = split.address() as AddressInfo
    const sending = { from: "127.0.0.1", seconds: 5, probe: false }
    const request = { ...get("/"), method: "HEAD", split: true } as const
    const { replies } = await exchange({ port, tokenOf: () => null }, request, sending)
    split.close()
    expect(replies.map(({ status }) => status)).toEqual([200])
    expect(parts.slice(0, 3)).toEqual(["HEAD", "GET ", "\r\n"])
  })

  it("that was hidden in another is found by what it has staged", async () => {
    answer = json(200, [{ external_account_number: "hidden 7.1" }])
    expect(await hiddenEffects(target())).toEqual([expect.stringContaining("hidden 7.1")])
    answer = json(200, [])
    expect(await hiddenEffects(target())).toEqual([])
  })
})
