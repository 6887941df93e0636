/** What the record keeps of an exchange is the same in every run, and tells what has changed. */
import { describe, expect, it } from "vitest"
import { Names } from "../Names.ts"
import { type Exchange, Transcript } from "../Transcript.ts"

const exchange = (more: Partial<Exchange> = {}): Exchange => ({
  method: "GET",
  path: "/v1/limits/",
  body: "",
  status: 200,
  headers: { "content-type": "application/json", date: "now" },
  answer: "{}",
  ...more
})

const textOf = (...exchanges: ReadonlyArray<Exchange>): string => {
  const transcript = new Transcript(new Names("2026-03-01", [["/tmp/x1", "<home>"]]))
  for (const each of exchanges) transcript.add(each)
  return transcript.text
}

describe("the record", () => {
  it.each([
    ["0b7e1a4c-9d0f-4c58-8f0e-2a51f7c3d6b9 in /tmp/x1", "<uuid 1> in <home>"],
    ["A-0F0F0F0F, A-0F0F0F10, A-0F0F0F0F", "<account 1>, <account 2>, <account 1>"],
    ["2026-03-01T23:59:59.123Z to 2019-03-01T00:00:00Z", "<instant> to 2019-03-01T00:00:00Z"],
    ['"revert_until":"2026-03-15T00:00:00Z"', '"revert_until":"<instant>"'],
    ["2026-03-01, 2026-02-28, 2026-03-09", "<today>, <today - 1>, 2026-03-09"],
    ['src="/board/assets/index-Cmv-aT9F.js"', 'src="/board/assets/index-<build 1>.js"'],
    ['{"lines_per_second":12.5,"lines":3}', '{"lines_per_second":<measured>,"lines":3}']
  ])("names what differs in %s", (answer, named) => {
    expect(textOf(exchange({ answer }))).toBe(
      `GET /v1/limits/\n  200; content-type: application/json\n  ${named}\n`
    )
  })

  it("names every day where bodies are made for the day of the run", () => {
    const names = new Names("2026-03-01", [], { areBodiesOfToday: true })
    expect(names.named("2026-03-01, 2019-12-31, 2019-03-01T00:00:00Z")).toBe(
      "<day>, <day>, <instant>"
    )
  })

  it("keeps a long body by its beginning and its digest", () => {
    const [one, other] = ["a", "b"].map((end) =>
      textOf(exchange({ answer: `${"x".repeat(600)}${end}` }))
    )
    expect(one).toContain("… 601 characters, ")
    expect(one).not.toBe(other)
  })

  it("keeps the last answer of a request that was waited for, and each of concurrent ones", () => {
    const answers = [201, 409, 201].map((status) => exchange({ status }))
    expect(textOf(...answers).match(/^ {2}\d+/gm)).toEqual(["  201"])
    const batch = "/v1/batches/0b7e1a4c-9d0f-4c58-8f0e-2a51f7c3d6b9/"
    const polls = ["", "?wait=1", ""].map((wait) => exchange({ path: `${batch}${wait}` }))
    expect(textOf(...polls).match(/^GET .*/gm)).toEqual(["GET /v1/batches/<uuid 1>/"])
    const refused = exchange({ path: `${batch}?wait=21`, status: 400 })
    expect(textOf(refused, ...polls).match(/^GET .*/gm)).toHaveLength(2)
    const posts = answers.map((each) => ({ ...each, method: "POST" }))
    expect(textOf(...posts).match(/^ {2}\d+/gm)).toEqual(["  201", "  409"])
  })
})
