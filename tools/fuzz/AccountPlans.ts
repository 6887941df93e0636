/**
 * Cases of the account creation flow: generated accounts that must be accepted, accounts with one
 * fault that must be told and nothing else, and imports in every state.
 */
import { accountPayload } from "@data-import/domain/testing/arbitraries"
import { mutant } from "@data-import/domain/testing/mutants"
import { put, type Wire } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { type Expectation, get, type Plan, post, type Request, type Step } from "./Case.ts"
import type { Day } from "./Day.ts"
import { answers, both, exactly, faultIn, faults, has, isText } from "./Expectation.ts"
import { soundBody } from "./SoundBody.ts"
import { team } from "@data-import/testbed/Tenants"
import { processPath, stagePath, supplier } from "./Tenant.ts"

export const validatePath = "/v1/data-import/validate-account/"
const failed = "400 account_failed_validation"

/** The number with the mark in front, so that no other case has it. */
const marked = (mark: string, number: string): string =>
  Array.from(`${mark} ${number}`).slice(0, 128).join("").trim()

/** The account under a number that no other case has. */
export const numbered = (account: Wire, mark: string): Wire =>
  put(account, "external_account_number", marked(mark, String(account["external_account_number"])))

const numberOf = (account: Wire): string => String(account["external_account_number"])

const wrapped = (payload: Wire): Wire => ({ payload })

export const statusPath = (of: string, number: string): string =>
  `/v1/data-import/account-transfer-status/${encodeURIComponent(of)}/${encodeURIComponent(number)}/`

/** Stages it, for the first time unless expected otherwise. */
export const stageStep = (account: Wire, expect: Expectation = answers("201")): Step => ({
  request: post(stagePath, wrapped(account)),
  expect
})

const statusStep = (number: string, status: string): Step => ({
  request: get(statusPath(supplier, number)),
  expect: both(answers("200"), has("status", status))
})

const processRequest = (number: string, more: Wire = {}): Request => {
  const payload = { import_supplier: supplier, external_account_number: number }
  return post(processPath, { payload: { ...payload, operations_team_name: team, ...more } })
}

/** Creates the staged account. */
export const processStep = (number: string): Step => ({
  request: processRequest(number),
  expect: answers("201")
})

/** Accounts that are valid all day long. */
export const accounts = (day: Day): fc.Arbitrary<Wire> => accountPayload({ now: day.end, supplier })

/** What was answered is answered once more: it is valid, and there is nothing left to tidy up. */
const sameAgain: Step["next"] = ({ body }) => [
  {
    request: post(validatePath, `{"payload":${body}}`),
    expect: both(answers("200"), isText(body))
  }
]

const validAccount = (day: Day): fc.Arbitrary<Plan> =>
  accounts(day).map((payload) => ({
    operation: "validateAccount",
    kind: "valid",
    name: "a generated account, and what is answered to it",
    steps: (mark) => {
      const account = numbered(payload, mark)
      const isIts = has("external_account_number", numberOf(account))
      const request = post(validatePath, wrapped(account))
      return [{ request, expect: both(answers("200"), isIts), next: sameAgain }]
    }
  }))

const stagings = (day: Day): fc.Arbitrary<Plan> =>
  accounts(day).map((payload) => ({
    operation: "stageAccount",
    kind: "valid",
    name: "a generated account, twice",
    steps: (mark) => {
      const account = numbered(payload, mark)
      return [
        stageStep(account),
        statusStep(numberOf(account), "UNKNOWN"),
        stageStep(account, both(answers("200"), has("import_supplier", supplier)))
      ]
    }
  }))

const processings = (day: Day): fc.Arbitrary<Plan> =>
  accounts(day).map((payload) => ({
    operation: "processAccount",
    kind: "valid",
    name: "a generated account",
    steps: (mark) => {
      const account = numbered(payload, mark)
      const number = numberOf(account)
      const already = "400 account_import_process_already_imported"
      return [
        stageStep(account),
        {
          request: processRequest(number, { dry_run: true }),
          expect: answers("400 dry_run_successful")
        },
        { request: processRequest(number, { dry_run: false }), expect: answers("201") },
        statusStep(number, "COMPLETED"),
        stageStep(account, answers(already)),
        { request: processRequest(number), expect: answers(already) }
      ]
    }
  }))

const races = (day: Day): fc.Arbitrary<Plan> =>
  fc.tuple(accounts(day), fc.integer({ min: 2, max: 5 })).map(([payload, times]) => ({
    operation: "processAccount",
    kind: "state",
    name: "attempts at once",
    steps: (mark) => {
      const account = numbered(payload, mark)
      const others = [
        "400 account_import_process_in_progress",
        "400 account_import_process_already_imported"
      ]
      const request = processRequest(numberOf(account))
      return [stageStep(account), { request, times, expect: exactly(1, "201", others) }]
    }
  }))

const stagingRaces = (day: Day): fc.Arbitrary<Plan> =>
  fc.tuple(accounts(day), fc.integer({ min: 2, max: 5 })).map(([payload, times]) => ({
    operation: "stageAccount",
    kind: "state",
    name: "first stagings at once",
    steps: (mark) => {
      const request = post(stagePath, wrapped(numbered(payload, mark)))
      return [{ request, times, expect: exactly(1, "201", ["200"]) }]
    }
  }))

const brokenAccounts = (day: Day, id: string, path: string): fc.Arbitrary<Plan> =>
  accounts(day)
    .chain((payload) => mutant(payload, day.begin))
    .map(({ body, fault, name }) => ({
      operation: id,
      kind: "mutant",
      name,
      steps: () => {
        const request = post(path, wrapped(body))
        return [{ request, expect: faultIn(request, failed, `${fault.attr} ${fault.code}`) }]
      }
    }))

const wrappers: ReadonlyArray<readonly [body: unknown, ...faults: ReadonlyArray<string>]> = [
  [{}, "payload required"],
  [null, "payload null"],
  [[], "payload not_an_object"],
  ["payload", "payload not_an_object"],
  [{ payload: null }, "payload null"],
  [{ payload: [] }, "payload not_an_object"],
  [{ Payload: {} }, "Payload unknown_field", "payload required"]
]

const wrapperFaults = (id: string, path: string): fc.Arbitrary<Plan> =>
  fc.constantFrom(...wrappers).map(([body, ...places]) => ({
    operation: id,
    kind: "mutant",
    name: `the wrapper: ${places.join(", ")}`,
    steps: () => [{ request: post(path, JSON.stringify(body)), expect: faults(failed, ...places) }]
  }))

const taskParams: fc.Arbitrary<Plan> = fc
  .constantFrom<readonly [unknown, string]>(
    [{ retries: 1 }, "task_params.retries unknown_field"],
    [null, "task_params null"],
    [[], "task_params not_an_object"],
    ["{}", "task_params not_an_object"]
  )
  .map(([task_params, fault]) => ({
    operation: "processAccount",
    kind: "mutant",
    name: fault,
    steps: () => [
      {
        request: post(processPath, put(soundBody("processAccount"), "task_params", task_params)),
        expect: faults(failed, fault)
      }
    ]
  }))

/** The account creation flow, each kind as often as its weight says. */
export const accountPlans = (day: Day): ReadonlyArray<fc.WeightedArbitrary<Plan>> => [
  { weight: 12, arbitrary: validAccount(day) },
  { weight: 8, arbitrary: stagings(day) },
  { weight: 8, arbitrary: processings(day) },
  { weight: 2, arbitrary: races(day) },
  { weight: 2, arbitrary: stagingRaces(day) },
  { weight: 14, arbitrary: brokenAccounts(day, "validateAccount", validatePath) },
  { weight: 10, arbitrary: brokenAccounts(day, "stageAccount", stagePath) },
  { weight: 1, arbitrary: taskParams },
  { weight: 1, arbitrary: wrapperFaults("validateAccount", validatePath) },
  { weight: 1, arbitrary: wrapperFaults("stageAccount", stagePath) },
  { weight: 1, arbitrary: wrapperFaults("processAccount", processPath) }
]
