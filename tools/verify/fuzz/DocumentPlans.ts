/**
 * Cases derived from the document alone. A value that its schemas allow is never refused for its
 * type. A value that they forbid at one path is refused only there.
 */
import { isWire, put, type Wire } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import type { Plan } from "./Case.ts"
import { type Operation, resolved, type Schema } from "./Document.ts"
import { anything, errors, noError, where } from "./Expectation.ts"
import { schemaViolations, valueOf } from "./Schema.ts"
import { bodied, validBody, withBody } from "./ValidRequests.ts"
import { imported, supplier } from "./TenantNames.ts"

/** Codes of errors that a schema rules out. */
const shapeCodes: ReadonlySet<string> = new Set([
  "required",
  "null",
  "invalid_type",
  "not_a_list",
  "not_an_object",
  "unknown_field",
  "blank",
  "max_length",
  "invalid_date",
  "invalid_datetime"
])

/**
 * Paths at which a rule between fields yields a code of a shape, such as the operation of a batch.
 */
const ofRules = new RegExp(
  "^customers$|product_code$" +
    "|^(?:operations_team_name|cohort|dry_run|source|reason|with_additions)$" +
    "|^(?:filter|parameters)(?:[.].+)?$"
)

/** Paths at which another rule also reports an error, or reports it instead. */
const hangTogether = /country$|delivery_point_identifier$|units$/

/** Whether the body of the operation is wrapped in `payload`, which no `attr` names. */
const isWrapped = (id: string): boolean => isWire(validBody(id)["payload"])

/** The body, or the content of its wrapper. */
const insideOf = ({ body, id }: Operation): readonly [Schema, Wire] => {
  const valid = validBody(id)
  if (!isWrapped(id)) return [body ?? {}, valid]
  const members = resolved((body ?? {})["properties"])
  return [resolved(members["payload"]), valid["payload"] as Wire]
}

const wrapped = (id: string, inside: unknown): unknown =>
  isWrapped(id) ? { payload: inside } : inside

const envelopeOf = ({ answers }: Operation): string =>
  `400 ${answers.get(400)?.find((code) => code.endsWith("_failed_validation"))}`

/** Operations that answer errors of their body in the envelope, which GraphQL does not. */
const validatedOperations = bodied.filter(({ id }) => id !== "obtainServiceToken")

const misshapen = (asked: Operation): fc.Arbitrary<Plan> => {
  const [schema, valid] = insideOf(asked)
  const all = schemaViolations(schema, valid).filter(
    ({ attr }) => attr !== "" && !hangTogether.test(attr)
  )
  return fc.constantFrom(...all).map(({ attr, body, code }) => ({
    operation: asked.id,
    kind: "document",
    name: `${attr} ${code}`,
    steps: () => [
      {
        request: withBody(asked, wrapped(asked.id, body)),
        expect: errors(envelopeOf(asked), `${attr} ${code}`)
      }
    ]
  }))
}

const shaped = (asked: Operation): fc.Arbitrary<Plan> => {
  const [schema] = insideOf(asked)
  const properties = resolved(schema["properties"])
  return fc
    .tuple(valueOf(schema).filter(isWire), fc.constantFrom(...imported))
    .map(([value, number]) => ({
      operation: asked.id,
      kind: "document",
      name: "a body that the schema allows",
      steps: (mark) => {
        const named = {
          import_supplier: supplier,
          external_account_number: isWrapped(asked.id) ? mark : number
        }
        const body = Object.entries(named)
          .filter(([name]) => Object.hasOwn(properties, name))
          .reduce((before, [name, text]) => put(before, name, text), value)
        return [
          {
            request: withBody(asked, wrapped(asked.id, body)),
            expect: where(400, noError(shapeCodes, ofRules), anything)
          }
        ]
      }
    }))
}

/** Cases of every operation that takes a body of rules. */
export const documentPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = validatedOperations.flatMap(
  (asked) => [
    { weight: 3, arbitrary: misshapen(asked) },
    { weight: 3, arbitrary: shaped(asked) }
  ]
)
