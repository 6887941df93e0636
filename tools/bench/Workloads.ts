/**
 * The workloads that are measured: the requests of each and the expected answer. Requests are
 * numbered, and differ only in values derived from their numbers.
 */
import { Result } from "effect"
import { encodeAccount } from "@data-import/domain/account/Account"
import { validateUnknownAccount } from "@data-import/domain/validation/AccountValidation"
import {
  domesticPayload,
  notesPayload,
  sampleTime,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import { team } from "@data-import/testbed/Tenants"
import { tokenRequest } from "@data-import/testbed/Tokens"

export interface Request {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body: string | null
  /** Replace the header with the token. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The values from which requests are made. */
export interface Materials {
  /** Numbers of platform accounts, if the workload reads them. */
  readonly accounts: ReadonlyArray<string>
  readonly apiKey: string
  readonly cookie: string
}

interface Staged {
  readonly prefix: string
  readonly count: number
}

export interface Workload {
  readonly title: string
  readonly service: "account-import" | "auth" | "board" | "events" | "post-import" | "query"
  readonly expected: 200 | 201
  /**
   * What is staged before the first request: `count` accounts, whose numbers begin with `prefix`.
   * Null if each request has its own account.
   */
  readonly staged: Staged | null
  readonly request: (supplier: string, number: number, materials: Materials) => Request
}

/** The supplier of the list, which belongs to the same organisation. */
export const listSupplier = (supplier: string): string => `${supplier}_L`

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

/** The placeholders for the number of a request, and for a time that no other request names. */
const ofCall = { number: "@CALL@", time: "@TIME@" }

export const transactionsPerCall = 100

const transactionsBody = template({
  import_supplier: marks.supplier,
  external_account_number: marks.account,
  transactions: Array.from({ length: transactionsPerCall }, (_, index) => {
    const { transactions } = transactionsPayload()
    return {
      ...transactions[index % transactions.length],
      transaction_id: `${ofCall.number}-${index}`
    }
  })
})

const notesBody = template({
  import_supplier: marks.supplier,
  external_account_number: marks.account,
  notes: notesPayload().notes.map(({ body, created_at, ...note }) => ({
    ...note,
    ...(body !== undefined && { body: `${body} ${ofCall.number}` }),
    ...(created_at !== undefined && { created_at: ofCall.time })
  }))
})

const statementsBody = template({
  import_supplier: marks.supplier,
  external_account_number: marks.account,
  statements: statementsPayload().statements.map((statement, index) => ({
    ...statement,
    statement_id: `${ofCall.number}-${index}`
  }))
})

/** The first of the times, in seconds, early enough that all runs use times in the past. */
const firstTime = Date.UTC(2015, 0) / 1_000

const timeOf = (number: number): string =>
  new Date((firstTime + number) * 1_000).toISOString().replace(".000", "")

const post = (path: string, body: string): Request => ({ method: "POST", path, body })
const get = (path: string): Request => ({ method: "GET", path, body: null })

const ofBoard = (path: string, cookie: string): Request => ({
  ...get(`/board/api/migrations/${path}`),
  headers: { cookie }
})

const stagePath = `${base}/account-import-process/create-or-update/`
const repeated = 2_000
const importedAccounts = 200

/** The number of a previously imported account; requests use them in turn. */
const importedNumber = (number: number): string => accountNumber("T", number % importedAccounts)

const listLength = 1_000

/** The prefix of the numbers of the list's accounts. */
export const listPrefix = "L"

/** How many entries and events a page has. */
const pageLength = 100

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
  /** Not measured: creates the accounts that the workloads of `addsToAccounts` add to. */
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
      return post(`${base}/transactions/create/`, body.replaceAll(ofCall.number, `C${number}`))
    }
  },
  notes: {
    title: "notes, 3 a call",
    service: "post-import",
    expected: 201,
    staged: null,
    request: (supplier, number) => {
      const body = notesBody(supplier, importedNumber(number))
      const timed = body.replaceAll(ofCall.time, timeOf(number))
      return post(`${base}/notes/create/`, timed.replaceAll(ofCall.number, `C${number}`))
    }
  },
  statements: {
    title: "statements, 2 a call",
    service: "post-import",
    expected: 201,
    staged: null,
    request: (supplier, number) => {
      const body = statementsBody(supplier, importedNumber(number))
      const path = `${base}/historical-statements/create/`
      return post(path, body.replaceAll(ofCall.number, `C${number}`))
    }
  },
  list: {
    title: "list of 1,000",
    service: "query",
    expected: 200,
    staged: { prefix: listPrefix, count: listLength },
    request: (supplier) => get(`${base}/all-account-import-processes/${listSupplier(supplier)}/`)
  },
  import: {
    title: "an import",
    service: "query",
    expected: 200,
    staged: { prefix: "S", count: repeated },
    request: (supplier, number) =>
      get(`${base}/imports/${supplier}/${accountNumber("S", number % repeated)}/`)
  },
  page: {
    title: "a page of 100 with attempts",
    service: "query",
    expected: 200,
    staged: { prefix: listPrefix, count: listLength },
    request: (supplier, number) => {
      const after = accountNumber(listPrefix, number % (listLength - pageLength))
      const asked = `?limit=${pageLength}&after=${after}&fields=state,attempts`
      return get(`${base}/all-account-import-processes/${listSupplier(supplier)}/${asked}`)
    }
  },
  failed: {
    title: "the first failed import",
    service: "query",
    expected: 200,
    staged: { prefix: listPrefix, count: listLength },
    request: (supplier) => {
      const asked = "?failed=true&limit=1&fields=state,attempts"
      return get(`${base}/all-account-import-processes/${listSupplier(supplier)}/${asked}`)
    }
  },
  summary: {
    title: "the summary",
    service: "query",
    expected: 200,
    staged: { prefix: listPrefix, count: listLength },
    request: (supplier) => get(`${base}/suppliers/${listSupplier(supplier)}/summary/`)
  },
  events: {
    title: "100 events",
    service: "events",
    expected: 200,
    staged: { prefix: listPrefix, count: listLength },
    request: (_, number) =>
      get(`${base}/events/?limit=${pageLength}&after=${number % (listLength - pageLength)}`)
  },
  account: {
    title: "an account, read back",
    service: "query",
    expected: 200,
    staged: null,
    request: (_, number, { accounts }) =>
      get(`${base}/accounts/${accounts[number % accounts.length] ?? ""}/`)
  },
  token: {
    title: "a token",
    service: "auth",
    expected: 200,
    staged: null,
    request: (_supplier, _number, { apiKey }) => {
      const { body, path } = tokenRequest({ APIKey: apiKey })
      return { ...post(path, JSON.stringify(body)), headers: {} }
    }
  },
  migrations: {
    title: "the board's list of migrations",
    service: "board",
    expected: 200,
    staged: { prefix: listPrefix, count: listLength },
    request: (_supplier, _number, { cookie }) => ofBoard("", cookie)
  },
  migration: {
    title: "the board's page of one supplier",
    service: "board",
    expected: 200,
    staged: { prefix: listPrefix, count: listLength },
    request: (supplier, _number, { cookie }) => ofBoard(`${listSupplier(supplier)}/`, cookie)
  }
} satisfies Record<string, Workload>

export type WorkloadName = keyof typeof workloads

/** Queries whose cost may grow with the number of imports. The peer does not have them. */
export const queriesOfMany = [
  "import",
  "page",
  "failed",
  "summary",
  "events",
  "account"
] as const satisfies ReadonlyArray<WorkloadName>

/** The workloads that add to the accounts of `importing`. */
export const addsToAccounts: ReadonlySet<WorkloadName> = new Set([
  "transactions",
  "notes",
  "statements"
])

/** The workloads of services with few requests. The peer has none of them. */
export const supporting = [
  "token",
  "migrations",
  "migration",
  "events"
] as const satisfies ReadonlyArray<WorkloadName>

const notCompared: ReadonlySet<WorkloadName> = new Set([
  "importing",
  ...queriesOfMany,
  ...supporting
])

/** The workloads that are compared with the peer. */
export const workloadNames = (Object.keys(workloads) as ReadonlyArray<WorkloadName>).filter(
  (name) => !notCompared.has(name)
)
