/**
 * Cases of large bodies that are made to cost as much as a body can: of unknown fields, wrong
 * types, nulls, elements that are all alike, nesting, and values that are dear to judge. Whatever
 * the body, the answer comes soon, tells no more than 1,000 faults, in the order of the body, and
 * the service answers the next request.
 */
import { bodyBytes } from "@data-import/api/Limits"
import { mostFaults } from "@data-import/domain/schema/Findings"
import { listElements, nestingDepth } from "@data-import/domain/schema/Json"
import { get, isWire, put, type Wire, withSource } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { type Expectation, type Plan, post, type Reply } from "./Case.ts"
import { type Operation, resolved, tokenPath } from "./Document.ts"
import { answers, both, faultsOf, unlessTooLarge } from "./Expectation.ts"
import { soundRequest } from "./HttpPlans.ts"
import { pathsIn } from "./Schema.ts"
import { answersToOneChange, posts, soundAnswers, soundBody } from "./SoundBody.ts"

type Path = ReadonlyArray<string | number>

/** A source that stands at a place of a body, and how many faults it has at least. */
interface Filling {
  readonly source: string
  /** Zero where it may be sound. */
  readonly faults: number
}

/** So many bytes of elements, each made for its place in the row. */
const rowOf = (bytes: number, elementAt: (index: number) => string, most = Infinity) => {
  const elements: Array<string> = []
  for (let length = 0; length < bytes && elements.length < most;) {
    const element = elementAt(elements.length)
    elements.push(element)
    length += element.length + 1
  }
  return elements
}

const listOf = (elements: ReadonlyArray<string>): string => `[${elements.join()}]`

/** Longer lists and objects are refused as a whole. */
const faultsOfMany = (count: number): number => (count > listElements ? 1 : count)

type Fill = (present: unknown, bytes: number) => Filling

/** In place of each element, another value. */
const elements =
  (elementAt: (index: number, first: string) => string, most = listElements): Fill =>
  (present, bytes) => {
    const first = JSON.stringify(get(present, [0]))
    const row = rowOf(bytes, (index) => elementAt(index, first), most)
    return { source: listOf(row), faults: faultsOfMany(row.length) }
  }

/** How often the first element stands there, which may be allowed. */
const alike: Fill = (present, bytes) => ({
  ...elements((_, first) => first)(present, bytes),
  faults: 0
})

/** The first element, its texts and numbers replaced. */
const elementsOf =
  (leaf: string): Fill =>
  (present, bytes) => {
    const first = get(present, [0])
    const places = pathsIn(first).filter((path) => typeof get(first, path) !== "object")
    const spoilt = places.reduce<Wire>(
      (element, path) => put(element, path, leaf),
      isWire(first) ? first : {}
    )
    const source = JSON.stringify(isWire(first) ? spoilt : leaf)
    return { source: listOf(rowOf(bytes, () => source, listElements)), faults: 0 }
  }

const surplus =
  (nameOf: (index: number) => string): Fill =>
  (present, bytes) => {
    const own = JSON.stringify(present).slice(1, -1)
    const row = rowOf(bytes, (index) => `${JSON.stringify(nameOf(index))}:0`)
    return {
      source: `{${[...(own === "" ? [] : [own]), ...row].join()}}`,
      faults: faultsOfMany(row.length) === 1 ? 1 : row.length
    }
  }

const repeated: Fill = (present, bytes) => ({
  source: `{${rowOf(bytes, () => '"a":0').join()},${JSON.stringify(present).slice(1)}`,
  faults: 1
})

/** As deep as a body may be, at this place of it and inside an object. */
const nestedIn =
  (levels: number, keyLength: number, inside: (bytes: number) => string): Fill =>
  (_, bytes) => {
    const key = JSON.stringify("k".repeat(keyLength))
    const open = `{${key}:`.repeat(levels)
    return { source: `${open}${inside(bytes - open.length)}${"}".repeat(levels)}`, faults: 0 }
  }

const levels = nestingDepth - 12

/** Where a list stands. */
const lists: Readonly<Record<string, Fill>> = {
  nulls: elements(() => "null"),
  numbers: elements((index) => String(index)),
  texts: elements((index) => `"${index}"`),
  "empty objects": elements(() => "{}"),
  "empty lists": elements(() => "[]"),
  "objects of one unknown field": elements(() => '{"x_unknown":null}'),
  "objects of many unknown fields": elements(
    () => `{${Array.from({ length: 100 }, (_, index) => `"x_${index}":0`).join()}}`
  ),
  "more elements than a list may have": elements(() => "null", Infinity),
  "the same element": alike,
  "long names": elements((index) => `{"x_${"n".repeat(2_000)}${index}":0}`),
  phones: elementsOf(`+45 ${"20 ".repeat(100)}`),
  "addresses of e-mail": elementsOf(`${"a.".repeat(150)}@${"b.".repeat(100)}`),
  dates: elementsOf(`2025-02-${"3".repeat(300)}`),
  "dates and times": elementsOf(`2025-02-30T${"0".repeat(300)}:00:00Z`),
  decimals: elementsOf(`${"9".repeat(400)}.${"9".repeat(400)}`),
  "control characters": elementsOf("\u0001".repeat(500)),
  "lone surrogates": elementsOf("\ud800".repeat(300)),
  "combining marks": elementsOf(`a${"\u0301".repeat(1_000)}`),
  "white space": elementsOf(" ".repeat(2_000)),
  paths: elementsOf("a/../".repeat(300)),
  "numbers of many digits": (present, bytes) => {
    const text = elementsOf("@")(present, bytes).source
    return { source: text.replaceAll('"@"', "9".repeat(300)), faults: 0 }
  }
}

/** Where an object stands. */
const objects: Readonly<Record<string, Fill>> = {
  "unknown fields": surplus((index) => `x_${index}`),
  "unknown fields of long names": surplus((index) => `x_${"n".repeat(1_000)}${index}`),
  "unknown fields that look like known ones": surplus((index) => `external_account_numbe_${index}`),
  "names of control characters": surplus((index) => `x_${"\u0001".repeat(100)}${index}`),
  "a name again and again": repeated,
  "nested objects": nestedIn(levels, 1, (bytes) => listOf(rowOf(bytes, () => "{}", 10_000))),
  "too deeply nested objects": nestedIn(nestingDepth + 1, 1, (bytes) => `"${"x".repeat(bytes)}"`),
  "nested objects of long names": nestedIn(levels, 2_000, (bytes) =>
    listOf(rowOf(bytes, () => '"\\u0000"', 10_000))
  ),
  "unstorable texts": nestedIn(1, 1, (bytes) =>
    listOf(rowOf(bytes, () => '"\\ud800"', listElements))
  )
}

/** Where anything stands. */
const leaves: Readonly<Record<string, Fill>> = {
  "a number of digits": (_, bytes) => ({ source: "9".repeat(bytes), faults: 0 }),
  "a text of digits": (_, bytes) => ({ source: `"${"9".repeat(bytes)}"`, faults: 0 }),
  escapes: (_, bytes) => ({ source: `"${"\\u0041".repeat(bytes / 6)}"`, faults: 0 }),
  "escaped surrogates": (_, bytes) => ({ source: `"${"\\ud800".repeat(bytes / 6)}"`, faults: 0 }),
  backslashes: (_, bytes) => ({ source: `"${"\\\\".repeat(bytes / 2)}"`, faults: 0 }),
  blanks: (_, bytes) => ({ source: `"${" ".repeat(bytes)}x"`, faults: 0 }),
  "blanks around it": (present, bytes) => ({
    source: `${" ".repeat(bytes)}${JSON.stringify(present)}`,
    faults: 0
  })
}

const rootOf = (body: unknown): unknown => {
  const payload = get(body, ["payload"])
  return isWire(payload) ? payload : body
}

const positions = new WeakMap<object, ReadonlyMap<string, number>>()

/** Where the member stands in the object; undefined where it is not sent. */
const positionIn = (parent: unknown, name: string | number): number | undefined => {
  if (!isWire(parent)) return undefined
  const known =
    positions.get(parent) ?? new Map(Object.keys(parent).map((key, index) => [key, index] as const))
  positions.set(parent, known)
  return known.get(String(name))
}

/** Which of two places comes first; zero where the body does not say. */
const comparePlaces = (body: unknown, one: Path, other: Path): number => {
  let parent = body
  for (const [depth, segment] of one.entries()) {
    const another = other[depth]
    if (another === undefined) return -1
    if (segment !== another) {
      if (Array.isArray(parent)) return Number(segment) - Number(another)
      const [before, after] = [positionIn(parent, segment), positionIn(parent, another)]
      return before === undefined || after === undefined ? 0 : before - after
    }
    parent = get(parent, [segment])
  }
  return one.length < other.length ? 1 : 0
}

const wholePayload = "non_field_errors"

/** The first place that comes before the one told before it. */
const outOfOrder = (body: unknown, places: ReadonlyArray<string>): string | undefined => {
  const root = rootOf(body)
  return places.find((place, index) => {
    const before = places[index - 1]
    if (before === undefined || place === wholePayload) return false
    if (before === wholePayload) return true
    return comparePlaces(root, before.split("."), place.split(".")) > 0
  })
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What an answer may be larger by than the body that it is to. */
const room = 1_000_000

const complaintsOf = (body: string, faults: number, reply: Reply): ReadonlyArray<string> => {
  const found: Array<string> = []
  const told = faultsOf(reply).map((fault) => fault.slice(0, fault.lastIndexOf(" ")))
  const saysMore = String(get(reply.value, "detail")).includes("more than 1,000 rules")
  if (told.length > mostFaults) found.push(`${told.length} faults are told`)
  if (saysMore && told.length !== mostFaults) {
    found.push(`${told.length} faults are told, and that there are more`)
  }
  if (told.length > 0 && told.length < Math.min(faults, mostFaults)) {
    found.push(`${told.length} faults are told of at least ${faults}`)
  }
  if (told.length > 0 && faults > mostFaults && !saysMore) {
    found.push("nobody is told that there are more faults")
  }
  if (faults > 0 && reply.status < 400) found.push(`a body with faults got ${reply.status}`)
  const wrong = told.length > 1 ? outOfOrder(parsed(body), told) : undefined
  if (wrong !== undefined) found.push(`${wrong.slice(0, 200)} is told too late`)
  const size = Buffer.byteLength(reply.body)
  if (size > Buffer.byteLength(body) + room) found.push(`the answer has ${size} bytes`)
  return found
}

/** A refusal of no more faults than may be told, of no fewer than there are, in their order. */
export const bounded =
  (body: string, faults: number): Expectation =>
  (replies) =>
    replies.flatMap((reply) => complaintsOf(body, faults, reply))

const outcomes = answers(...answersToOneChange, "400 transaction_outside_open_period")

interface Worst {
  readonly asked: Operation
  readonly at: Path
  readonly name: string
  readonly fill: Fill
  readonly bytes: number
  readonly chunk: number | null
}

const plan = ({ asked, at, bytes, chunk, fill, name }: Worst): Plan => ({
  operation: asked.id,
  kind: "worst",
  name: `${name} at ${at.join(".")}, ${bytes} bytes`,
  steps: () => {
    const sound = soundBody(asked.id)
    const { faults, source } = fill(at.length === 0 ? sound : get(sound, at), bytes)
    const least = isFree(asked.body, at) ? 0 : faults
    const body = at.length === 0 ? source : withSource(sound, at, source)
    const who = asked.template === tokenPath ? "nobody" : "demo"
    const request = {
      ...post(asked.template, body, who),
      ...(chunk !== null && { framing: { chunk } })
    }
    const afterwards = { request: soundRequest(asked), expect: answers(...soundAnswers) }
    const expect = unlessTooLarge(request, both(outcomes, bounded(body, least)))
    return [{ request, expect, next: () => [afterwards] }]
  }
})

/** Whether anything may stand inside of what is at this place, as far as the schema says. */
const isFree = (described: unknown, [segment, ...rest]: Path): boolean => {
  const schema = resolved(described)
  const branches = get(schema, ["anyOf"])
  if (Array.isArray(branches)) {
    return branches.some((branch) =>
      isFree(branch, segment === undefined ? [] : [segment, ...rest])
    )
  }
  const inside = typeof segment === "number" ? ["items"] : ["properties", segment ?? ""]
  if (segment !== undefined && get(schema, inside) !== undefined) {
    return isFree(get(schema, inside), rest)
  }
  return schema["type"] === "object" && schema["additionalProperties"] !== false
}

interface Place {
  readonly asked: Operation
  readonly at: Path
  readonly fills: ReadonlyArray<readonly [name: string, fill: Fill]>
}

const placesOf = (asked: Operation): ReadonlyArray<Place> => {
  const sound = soundBody(asked.id)
  return [[], ...pathsIn(sound)].map((at) => {
    const present = at.length === 0 ? sound : get(sound, at)
    const ofThis = Array.isArray(present) ? lists : isWire(present) ? objects : leaves
    return { asked, at, fills: Object.entries(ofThis) }
  })
}

const places = new Map(posts.map((asked) => [asked, placesOf(asked)] as const))

const allOf = (asked: Operation): ReadonlyArray<Omit<Worst, "bytes" | "chunk">> =>
  (places.get(asked) ?? []).flatMap(({ at, fills }) =>
    fills.map(([name, fill]) => ({ asked, at, name, fill }))
  )

/** The largest body that is read, but for the sound rest of it. */
const largest = bodyBytes - 64 * 1024

const sizes: fc.Arbitrary<number> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(88_000) },
  { weight: 8, arbitrary: fc.constant(300_000) },
  { weight: 4, arbitrary: fc.constant(1_000_000) },
  { weight: 1, arbitrary: fc.constant(largest) }
)

const ofOperation = (asked: Operation): fc.Arbitrary<Plan> => {
  const ofKind = (fills: Readonly<Record<string, Fill>>) =>
    allOf(asked).filter(({ name }) => Object.hasOwn(fills, name))
  const some = [lists, objects, leaves].map(ofKind).filter((worst) => worst.length > 0)
  return fc
    .record({
      worst: fc.oneof(...some.map((worst) => fc.constantFrom(...worst))),
      bytes: sizes,
      chunk: fc.constantFrom(null, null, 65_536)
    })
    .map(({ worst, ...sent }) => plan({ ...worst, ...sent }))
}

/** Each operation with each filling at some place. */
const small: ReadonlyArray<Plan> = posts.flatMap((asked, index) => {
  const byName = Map.groupBy(allOf(asked), ({ name }) => name)
  return [...byName.values()].flatMap((worst) => {
    const chosen = worst[index % worst.length]
    return chosen === undefined ? [] : [plan({ ...chosen, bytes: 88_000, chunk: null })]
  })
})

/** Few, since each takes seconds. */
const large: ReadonlyArray<Plan> = ["unknown fields", "unknown fields of long names"].flatMap(
  (name, index) => {
    const asked = posts[index * 3]
    const fill = objects[name]
    return asked === undefined || fill === undefined
      ? []
      : [plan({ asked, at: [], name, fill, bytes: largest, chunk: null })]
  }
)

export const worstBodyCases: ReadonlyArray<Plan> = [...small, ...large]

/** The worst bodies of every operation that takes one. */
export const worstBodyPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = posts.map((asked) => ({
  weight: asked.template === tokenPath ? 1 : 3,
  arbitrary: ofOperation(asked)
}))
