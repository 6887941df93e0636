/**
 * Every possible error of a payload is reported alone and at its path, and every code of the
 * registry occurs.
 */
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { type Code, registry } from "../src/codes/Code.ts"
import { accountPayload } from "../testing/arbitraries.ts"
import { mutant, mutationsOf } from "../testing/mutants.ts"
import { domesticPayload, sampleTime } from "../testing/samples.ts"
import type { Wire } from "../testing/wire.ts"
import { factsAt } from "../src/accounts/AccountValidation.ts"
import { errorsIn, errorsInProcess, errorsWith } from "./validationErrors.ts"

/** The sample, and payloads with what the sample lacks. */
const payloads: ReadonlyArray<[string, Wire]> = [
  ["a household", domesticPayload()],
  [
    "a business with a structured street and billing by the quarter",
    {
      import_supplier: "S",
      external_account_number: "1",
      account_type: "BUSINESS",
      customers: [{}],
      billing_address: { country: "DK", structured_street_address: { street: "Pilevangen" } },
      account_billing_options: {
        period_length: "QUARTERLY",
        period_start_day: 1,
        period_start_month: 4
      }
    }
  ],
  [
    "an unknown occupier",
    { import_supplier: "S", external_account_number: "1", unknown_occupier: true }
  ]
]

describe("a payload with one error", () => {
  it.each(payloads)(
    "is reported with that error only: %s",
    { timeout: 60_000 },
    (_name, payload) => {
      expect(errorsIn(payload)).toEqual([])
      const differing = mutationsOf(payload).flatMap(({ make }) => {
        const { body, error, name } = make()
        const errors = errorsIn(body)
        return errors.length === 1 && errors[0] === `${error.attr} ${error.code}`
          ? []
          : [`${name}: ${errors.join(", ")}`]
      })
      expect(differing).toEqual([])
    }
  )

  it("is reported with that error only, for any other content", { timeout: 60_000 }, () => {
    const mutants = accountPayload().chain((payload) => mutant(payload))
    fc.assert(
      fc.property(mutants, ({ body, error }) => {
        expect(errorsIn(body)).toEqual([`${error.attr} ${error.code}`])
      })
    )
  })

  it("is validated by the day on which it is sent", () => {
    const now = sampleTime
    const tomorrow = mutationsOf(domesticPayload(), now).filter(({ code }) =>
      ["transaction_in_future", "historical_statement_period_end_in_future"].includes(code)
    )
    expect(tomorrow).toHaveLength(2)
    const facts = { ...factsAt(now), today: "2026-01-16" as ReturnType<typeof factsAt>["today"] }
    for (const { make } of tomorrow) expect(errorsWith(facts, make().body)).toEqual([])
  })
})

describe("the registry", () => {
  /** Yielded only by the post-import endpoints. */
  const afterImport: ReadonlyArray<Code> = [
    "empty",
    "historical_statement_already_exists",
    "note_differs"
  ]
  /** Yielded by process, once the request itself is valid. */
  const ofTeams: ReadonlyArray<Code> = ["operations_team_name_does_not_exist"]
  /** Yielded by a staging, where it differs from the account that is imported. */
  const ofImported: ReadonlyArray<Code> = ["import_process_differs"]
  /** Yielded by the query of a request, whatever its body is. */
  const ofQueries: ReadonlyArray<Code> = ["unknown_parameter"]

  it("contains only field codes that some account yields", () => {
    const process = {
      import_supplier: "S",
      external_account_number: "1",
      operations_team_name: "T"
    }
    const unknown = errorsInProcess({ payload: process }, { supplierExists: false })
    const documents = new Set(["statements/NL-0004711/2025-01.pdf"])
    const missing = errorsWith({ missingDocuments: documents }, domesticPayload())
    const lookedUp = [...unknown, ...missing].map((error) => error.split(" ")[1])
    const validated = payloads.flatMap(([, payload]) =>
      mutationsOf(payload).map(({ code }) => code)
    )
    const others = [...afterImport, ...ofTeams, ...ofImported, ...ofQueries]
    const yielded = new Set([...validated, ...lookedUp, ...others])
    const codes = Object.entries(registry)
      .filter(([, { kind }]) => kind !== "request")
      .map(([code]) => code)
    expect(codes.filter((code) => !yielded.has(code))).toEqual([])
  })
})
