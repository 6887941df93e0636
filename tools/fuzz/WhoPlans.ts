/**
 * Cases of who asks: nobody, somebody with a token that was never given, somebody whose key may not
 * do this, and another client of the platform, to whom nothing of the first one exists.
 */
import { put, type Wire } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { type Expectation, get, type Plan, post, type Request, type Who } from "./Case.ts"
import { operations, type Operation } from "./Document.ts"
import { answers, faults } from "./Expectation.ts"
import { pathOf, soundRequest } from "./HttpPlans.ts"
import { soundAnswers, soundBody } from "./SoundBody.ts"
import { rivalSupplier } from "./Tenant.ts"

const guarded = operations.filter(({ answers: documented }) => documented.has(401))
const ofSuppliers = guarded.filter(
  ({ body, template }) => body !== null || template.includes("{import_supplier}")
)

const plan = (asked: Operation, name: string, request: Request, expect: Expectation): Plan => ({
  operation: asked.id,
  kind: "who",
  name,
  steps: () => [{ request, expect }]
})

const nobody: fc.Arbitrary<Plan> = fc
  .constantFrom(...guarded)
  .map((asked) =>
    plan(
      asked,
      "no token",
      { ...soundRequest(asked), who: "nobody" },
      answers("401 not_authenticated")
    )
  )

const claims = (header: Wire, payload: Wire): string =>
  [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")

const later = 4_102_444_800

const unsigned = claims(
  { alg: "none", typ: "JWT" },
  { iss: "data-import", sub: "demo", scope: "import:read import:write", exp: later, jti: "x" }
)

const wrongTokens = [
  "",
  "Token",
  "Token ",
  "Token x",
  "Token x y",
  "Token  ",
  "Bearer x",
  "Basic ZGVtbzpkZW1v",
  "Digest username=x",
  "token",
  "x",
  "Token null",
  "Token undefined",
  "Token ..",
  "Token eyJ.eyJ.",
  `Token ${unsigned}.`,
  `Token ${unsigned}.AAAA`,
  `Token ${claims({ alg: "HS256", kid: "../../etc/passwd" }, { exp: later })}.AAAA`,
  `Token ${claims({ alg: "EdDSA", jwk: { kty: "OKP" }, jku: "http://127.0.0.1:1/" }, { exp: later })}.AAAA`,
  `Token ${claims({ alg: "EdDSA", crit: ["x"] }, {})}.AAAA`,
  `Token ${Buffer.from("[]").toString("base64url")}.e30.AAAA`,
  `Token ${"a".repeat(7_000)}`,
  `Token ${"a.".repeat(3_000)}`,
  `Token ${"=".repeat(3_000)}`,
  "Token \x80\xff",
  "Token sk_00000000000000000000000000000000",
  "Token 'or 1=1--",
  "Token %00"
]

const strangers: fc.Arbitrary<Plan> = fc
  .tuple(
    fc.constantFrom(...guarded),
    fc.oneof(
      fc.constantFrom(...wrongTokens),
      fc.string({ maxLength: 60 }).map((text) => `Token ${text}`)
    )
  )
  .map(([asked, authorization]) => {
    const sound = soundRequest(asked)
    const headers = [...sound.headers, ["authorization", authorization] as const]
    return plan(
      asked,
      `Authorization: ${authorization.slice(0, 40)}`,
      { ...sound, headers },
      answers("401 authentication_failed")
    )
  })

const scopes: fc.Arbitrary<Plan> = fc
  .tuple(fc.constantFrom(...guarded), fc.constantFrom<Who>("reader", "writer"))
  .map(([asked, who]) => {
    const isRead = asked.method === "GET" || asked.id === "validateAccount"
    const mayDo = isRead === (who === "reader")
    return plan(
      asked,
      `a key that may only ${who === "reader" ? "read" : "write"}`,
      { ...soundRequest(asked), who },
      mayDo ? answers(...soundAnswers) : answers("403 permission_denied")
    )
  })

/** The envelope of failed validation that the operation has. */
const envelopeOf = ({ id }: Operation): string =>
  /^(validate|stage|process)Account$/.test(id)
    ? "400 account_failed_validation"
    : "400 request_failed_validation"

const foreign = (asked: Operation): Expectation =>
  asked.body === null
    ? answers("404 not_found")
    : faults(envelopeOf(asked), "import_supplier import_supplier_does_not_exist")

const rivals: fc.Arbitrary<Plan> = fc
  .constantFrom(...ofSuppliers)
  .map((asked) => plan(asked, "a rival", { ...soundRequest(asked), who: "rival" }, foreign(asked)))

const withSupplier = (asked: Operation, supplier: string): Request => {
  if (asked.body === null) {
    return get(asked.template.replace("{import_supplier}", supplier).replace(/\{\w+\}/, "1"))
  }
  const sound = soundBody(asked.id)
  const place = Object.hasOwn(sound, "payload") ? "payload.import_supplier" : "import_supplier"
  return post(pathOf(asked), put(sound, place, supplier))
}

const others: fc.Arbitrary<Plan> = fc
  .tuple(
    fc.constantFrom(...ofSuppliers),
    fc.constantFrom(rivalSupplier, "NOBODY", "fuzz", "FUZZ%", "F_ZZ", "__proto__", "Ｆuzz")
  )
  .map(([asked, supplier]) =>
    plan(
      asked,
      `the supplier ${supplier}`,
      withSupplier(asked, asked.body === null ? encodeURIComponent(supplier) : supplier),
      foreign(asked)
    )
  )

/** Who asks, each kind as often as its weight says. */
export const whoPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = [
  { weight: 2, arbitrary: nobody },
  { weight: 4, arbitrary: strangers },
  { weight: 2, arbitrary: scopes },
  { weight: 3, arbitrary: rivals },
  { weight: 2, arbitrary: others }
]
