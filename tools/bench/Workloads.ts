/**
 * The workloads that are measured: the requests of each and the expected answer. Requests are
 * numbered, and differ only in values derived from their numbers.
 */
import { Result } from "effect"
import { encodeAccount } from "@data-import/domain/accounts/Account"
import { validateUnknownAccount } from "@data-import/domain/accounts/AccountValidation"
import {
  domesticPayload,
  sampleTime,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import { team } from "@data-import/testbed/Tenants"

export interface Request {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body: string | null
}

interface Staged {
  readonly prefix: string
  readonly count: number
}

export interface Workload {
  readonly title: string
  readonly service: "account-import" | "post-import" | "query"
  readonly expected: 200 | 201
  /**
   * What is staged before the first request: `count` accounts, whose numbers begin with `prefix`.
   * Null if each request has its own account.
   */
  readonly staged: Staged | null
  readonly request: (supplier: string, number: number) => Request
}

const base = "/v1/data-import"

/** The external account number with this number. */
const accountNumber = (prefix: string, number: number): string =>
  `${prefix}-${String(number).padStart(9, "0")}`

const marks = { supplier: "@SUPPLIER@", account: "@ACCOUNT@" }

const account = {
  ...domesticPayload(),
  import_supplier: marks.supplier,
  external_account_number: marks.account
}

/** A body in which each mark occurs once. */
const template = (body: unknown) => {
  const text = JSON.stringify(body)
  return (supplier: string, external: string): string =>
    text.replace(marks.supplier, supplier).replace(marks.account, external)
}

const accountBody = template({ payload: account })

/** The account as it is stored, for staging it without the service. */
export const storedPayload = (supplier: string): string => {
  const valid = Result.getOrThrow(validateUnknownAccount(account, sampleTime))
  return JSON.stringify(encodeAccount(valid)).replace(marks.supplier, supplier)
}

/** The placeholder in `storedPayload` for the external account number. */
export const accountMark = marks.account

const processBody = template({
  payload: {
    import_supplier: marks.supplier,
    external_account_number: marks.account,
    operations_team_name: team
  },
  task_params: {}
})

/** The placeholder for the number of a request. */
const callMark = "@CALL@"

export const transactionsPerCall = 100

const transactionsBody = template({
  import_supplier: marks.supplier,
  external_account_number: marks.account,
  transactions: Array.from({ length: transactionsPerCall }, (_, index) => {
    const { transactions } = transactionsPayload()
    return {
      ...transactions[index % transactions.length],
      transaction_id: `${callMark}-${index}`
    }
  })
})

const post = (path: string, body: string): Request => ({ method: "POST", path, body })
const get = (path: string): Request => ({ method: "GET", path, body: null })

const stagePath = `${base}/account-import-process/create-or-update/`
const repeated = 2_000
const importedAccounts = 200

/** The number of a previously imported account; requests use them in turn. */
const importedNumber = (number: number): string => accountNumber("T", number % importedAccounts)

const processing = (prefix: string) => ({
  title: "process",
  service: "account-import" as const,
  expected: 201 as const,
  request: (supplier: string, number: number) =>
    post(
      `${base}/account-import-process/process/`,
      processBody(supplier, accountNumber(prefix, number))
    )
})

export const workloads = {
  validate: {
    title: "validate",
    service: "account-import",
    expected: 200,
    staged: null,
    request: (supplier, number) =>
      post(`${base}/validate-account/`, accountBody(supplier, accountNumber("V", number)))
  },
  stage: {
    title: "stage, new",
    service: "account-import",
    expected: 201,
    staged: null,
    request: (supplier, number) =>
      post(stagePath, accountBody(supplier, accountNumber("N", number)))
  },
  restage: {
    title: "stage, again",
    service: "account-import",
    expected: 200,
    staged: { prefix: "S", count: repeated },
    request: (supplier, number) =>
      post(stagePath, accountBody(supplier, accountNumber("S", number % repeated)))
  },
  process: { ...processing("P"), staged: null },
  /** Not measured: creates the accounts to which transactions are added. */
  importing: {
    ...processing("T"),
    staged: { prefix: "T", count: importedAccounts }
  },
  status: {
    title: "status",
    service: "query",
    expected: 200,
    staged: { prefix: "S", count: repeated },
    request: (supplier, number) =>
      get(`${base}/account-transfer-status/${supplier}/${accountNumber("S", number % repeated)}/`)
  },
  transactions: {
    title: "transactions, 100 a call",
    service: "post-import",
    expected: 201,
    staged: null,
    request: (supplier, number) => {
      const body = transactionsBody(supplier, importedNumber(number))
      return post(`${base}/transactions/create/`, body.replaceAll(callMark, `C${number}`))
    }
  }
} satisfies Record<string, Workload>

export type WorkloadName = keyof typeof workloads

/** The workloads that are compared with the peer. */
export const workloadNames = (Object.keys(workloads) as ReadonlyArray<WorkloadName>).filter(
  (name) => name !== "importing"
)
