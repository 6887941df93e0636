import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { factsAt } from "../src/accounts/AccountValidation.ts"
import { BatchOperation } from "../src/batches/Batch.ts"
import { batchRequest, startRequest } from "../src/batches/BatchValidation.ts"
import { sampleTime } from "../testing/samples.ts"

const facts = factsAt(sampleTime)

const staging = { import_supplier: "NORDLYS", operation: "STAGE" }
const processing = { ...staging, operation: "PROCESS", operations_team_name: "Migration Team" }
const retried = "1f0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3d"

/** The errors of a creation, as `attr code`. */
const errorsIn = (payload: unknown): ReadonlyArray<string> =>
  Result.match(batchRequest.validate({ payload }, facts), {
    onSuccess: () => [],
    onFailure: (errors) => errors.map(({ attr, code }) => `${attr} ${code}`)
  })

describe("the creation of a batch", () => {
  it("accepts every field, and answers with trimmed text", () => {
    const payload = {
      ...processing,
      name: " Wave 3 ",
      dry_run: true,
      source: "PENDING",
      filter: { cohort: "south", code: "required", failed: true },
      max_failures: 0
    }
    const valid = Result.getOrThrow(batchRequest.validate({ payload }, facts))
    expect(valid.payload).toEqual({ ...payload, name: "Wave 3" })
  })

  it("requires supplier and operation", () => {
    expect(errorsIn({})).toEqual(["import_supplier required", "operation required"])
    expect(errorsIn({ dry_run: true })).toEqual(["import_supplier required", "operation required"])
    expect(errorsIn({ ...staging, operation: "DELETE" })).toEqual(["operation invalid_choice"])
  })

  it("refuses a supplier that is not the caller's", () => {
    const unknown = batchRequest.validate({ payload: staging }, { ...facts, supplierExists: false })
    expect(unknown).toMatchObject({
      failure: [{ attr: "import_supplier", code: "import_supplier_does_not_exist" }]
    })
  })

  it.each(["IMPORT", "PROCESS"])("requires a team for %s, except for a retry", (operation) => {
    const payload = { ...staging, operation }
    expect(errorsIn(payload)).toEqual(["operations_team_name required"])
    expect(errorsIn({ ...payload, retry_of: retried })).toEqual([])
  })

  it("accepts dry_run for IMPORT, PROCESS and REVERT only", () => {
    for (const operation of BatchOperation.literals.filter((each) => each !== "REVERT")) {
      const errors = ["IMPORT", "PROCESS"].includes(operation) ? [] : ["dry_run unknown_field"]
      expect(errorsIn({ ...processing, operation, dry_run: true }), operation).toEqual(errors)
    }
  })

  it("accepts no cohort beside a source, which has one in its filter", () => {
    const wave = { ...processing, cohort: "north" }
    expect(errorsIn(wave)).toEqual([])
    expect(errorsIn({ ...wave, source: "PENDING" })).toEqual(["cohort unknown_field"])
  })

  it("accepts the settings of a revert for REVERT only, which needs a reason", () => {
    const reverting = { ...staging, operation: "REVERT" }
    const settings = { reason: "Wrong sign", with_additions: true }
    expect(errorsIn({ ...reverting, ...settings, dry_run: true })).toEqual([])
    expect(errorsIn(reverting)).toEqual(["reason required"])
    expect(errorsIn({ ...reverting, retry_of: retried })).toEqual([])
    expect(errorsIn({ ...processing, ...settings })).toEqual([
      "reason unknown_field",
      "with_additions unknown_field"
    ])
    const filter = { cohort: "wave 3", created_after: "2026-01-01T00:00:00Z" }
    expect(errorsIn({ ...reverting, ...settings, source: "IMPORTED", filter })).toEqual([])
    expect(errorsIn({ ...reverting, ...settings, source: "PENDING" })).toEqual(["source invalid"])
    expect(errorsIn({ ...processing, source: "PENDING", filter })).toEqual([
      "filter.created_after unknown_field"
    ])
    expect(errorsIn({ ...processing, source: "IMPORTED" })).toEqual(["source invalid"])
  })

  it("accepts the source PENDING for PROCESS only", () => {
    expect(errorsIn({ ...processing, source: "PENDING" })).toEqual([])
    expect(errorsIn({ ...processing, source: "ALL" })).toEqual(["source invalid_choice"])
    expect(errorsIn({ ...processing, operation: "IMPORT", source: "PENDING" })).toEqual([
      "source unknown_field"
    ])
  })

  it("accepts a filter with a source only", () => {
    expect(errorsIn({ ...processing, filter: {} })).toEqual(["source required"])
    expect(errorsIn({ ...processing, source: "PENDING", filter: { failed: "yes" } })).toEqual([
      "filter.failed invalid_type"
    ])
  })

  it("refuses a retry with a source", () => {
    expect(errorsIn({ ...processing, source: "PENDING", retry_of: retried })).toEqual([
      "source fields_are_mutually_exclusive"
    ])
  })

  it("refuses a retry_of that is no batch_id", () => {
    for (const id of ["1", retried.toUpperCase(), `${retried}0`]) {
      expect(errorsIn({ ...staging, retry_of: id }), id).toEqual(["retry_of invalid"])
    }
  })

  it.each(["name", "cohort"])("accepts a %s of 1 to 64 characters", (field) => {
    expect(errorsIn({ ...staging, [field]: "n".repeat(64) })).toEqual([])
    expect(errorsIn({ ...staging, [field]: "n".repeat(65) })).toEqual([`${field} max_length`])
    expect(errorsIn({ ...staging, [field]: " " })).toEqual([`${field} blank`])
  })

  it("accepts a whole number of failures from 0", () => {
    expect(errorsIn({ ...staging, max_failures: 100_000 })).toEqual([])
    expect(errorsIn({ ...staging, max_failures: -1 })).toEqual(["max_failures min_value"])
    expect(errorsIn({ ...staging, max_failures: 0.5 })).toEqual(["max_failures invalid_type"])
    expect(errorsIn({ ...staging, max_failures: 2 ** 31 })).toEqual(["max_failures max_value"])
  })

  it("accepts the parameters of the transactions import, and of the notes import", () => {
    const parameters = { check_previously_added: false, on_difference: "keep" }
    expect(errorsIn({ ...staging, operation: "TRANSACTIONS", parameters })).toEqual([])
    expect(errorsIn({ ...staging, operation: "NOTES", parameters })).toEqual([
      "parameters.check_previously_added unknown_field"
    ])
    expect(errorsIn({ ...staging, operation: "STATEMENTS", parameters: {} })).toEqual([
      "parameters unknown_field"
    ])
    expect(
      errorsIn({ ...staging, operation: "TRANSACTIONS", parameters: { check_previous: true } })
    ).toEqual(["parameters.check_previous unknown_field"])
  })
})

describe("the start of a batch", () => {
  it.each([
    [{ payload: { total_lines: 0 } }, []],
    [{ payload: { total_lines: 2_000_000 } }, []],
    [{ payload: { total_lines: -1 } }, ["total_lines min_value"]],
    [{ payload: { total_lines: 1.5 } }, ["total_lines invalid_type"]],
    [{ payload: { total_lines: "2" } }, ["total_lines invalid_type"]],
    [{ payload: {} }, ["total_lines required"]],
    [{}, ["payload required"]]
  ])("validates %j", (body, errors) => {
    const result = startRequest.validate(body, facts)
    const found = Result.isFailure(result) ? result.failure : []
    expect(found.map(({ attr, code }) => `${attr} ${code}`)).toEqual(errors)
  })
})
