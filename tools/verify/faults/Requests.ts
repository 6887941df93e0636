/**
 * The requests of the writers for an account: the sample account under its own number, and the
 * additions to it. Every id contains the account's number, so that each item can be found again and
 * counted.
 */
import {
  domesticPayload,
  statementsPayload,
  transactionsPayload
} from "@data-import/domain/testing/samples"
import type { Request } from "@data-import/testbed/Client"
import type { Tenant } from "@data-import/testbed/Tenants"

/**
 * Additions to an account after its import, each by one request. Unchecked transactions are added
 * each time they are sent, unless with the same idempotency key.
 */
export type Addition = "notes" | "transactions" | "statements" | "instruction" | "unchecked"

/** The additions that may be repeated without an idempotency key. */
export const additions: ReadonlyArray<Addition> = [
  "notes",
  "transactions",
  "statements",
  "instruction"
]

interface Key {
  readonly import_supplier: string
  readonly external_account_number: string
}

const base = "/v1/data-import"

const keyOf = ({ supplier }: Tenant, number: string): Key => ({
  import_supplier: supplier,
  external_account_number: number
})

const importPaths = {
  stage: `${base}/account-import-process/create-or-update/`,
  process: `${base}/account-import-process/process/`
}

/** Imports are spread over ten cohorts. */
const cohortOf = (number: string): string => `wave-${number.at(-1)}`

/** `marker` identifies a staging of an account, and is stored on the platform account. */
export const stage = (tenant: Tenant, number: string, marker: string): Request => ({
  method: "POST",
  path: importPaths.stage,
  body: {
    payload: {
      ...domesticPayload(),
      ...keyOf(tenant, number),
      billing_customer_reference: marker
    },
    cohort: cohortOf(number)
  }
})

export const process = (
  tenant: Tenant,
  number: string,
  options: { readonly dry_run?: boolean; readonly operations_team_name?: string } = {}
): Request => ({
  method: "POST",
  path: importPaths.process,
  body: {
    payload: { ...keyOf(tenant, number), operations_team_name: tenant.team, ...options },
    task_params: {}
  }
})

export const status = ({ supplier }: Tenant, number: string): Request => ({
  method: "GET",
  path: `${base}/account-transfer-status/${supplier}/${number}/`
})

/** The summary of the supplier's imports, or of those of a cohort. */
export const summary = ({ supplier }: Tenant, cohort: string | null): Request => ({
  method: "GET",
  path: `${base}/suppliers/${supplier}/summary/${cohort === null ? "" : `?cohort=${cohort}`}`
})

/** Every import of the supplier. */
export const list = ({ supplier }: Tenant): Request => ({
  method: "GET",
  path: `${base}/all-account-import-processes/${supplier}/`
})

/** The texts of the added notes, which identify them. */
export const noteBodies = (number: string): ReadonlyArray<string> => [
  `The first note on ${number}`,
  `The second note on ${number}`
]

const numbered = (prefix: string): ReadonlyArray<string> =>
  transactionsPayload().transactions.map((_, index) => `${prefix}-${index + 1}`)

export const transactionIds = (number: string) => numbered(`${number}-T`)

export const uncheckedIds = (number: string) => numbered(`${number}-U`)

export const statementIds = (number: string): ReadonlyArray<string> =>
  statementsPayload().statements.map((_, index) => `${number}-S-${index + 1}`)

const transactionsUnder = (ids: ReadonlyArray<string>) => ({
  transactions: transactionsPayload().transactions.map((transaction, index) => ({
    ...transaction,
    transaction_id: ids[index]
  }))
})

const bodies: Readonly<Record<Addition, (number: string) => object>> = {
  notes: (number) => ({
    notes: noteBodies(number).map((body, index) => ({
      body,
      created_at: `2025-06-0${index + 1}T10:00:00Z`
    }))
  }),
  transactions: (number) => transactionsUnder(transactionIds(number)),
  unchecked: (number) => transactionsUnder(uncheckedIds(number)),
  statements: (number) => ({
    statements: statementsPayload().statements.map((statement, index) => ({
      ...statement,
      statement_id: statementIds(number)[index]
    }))
  }),
  instruction: (number) => ({ vendor: "STRIPE", reference: `pm_${number}`, type: "CARD" })
}

/** The fields of a payment instruction apart from the key of its account. */
export const instructionBody = bodies.instruction

const paths: Readonly<Record<Addition, string>> = {
  notes: `${base}/notes/create/`,
  transactions: `${base}/transactions/create/`,
  unchecked: `${base}/transactions/create/?check_previously_added=false`,
  statements: `${base}/historical-statements/create/`,
  instruction: `${base}/payment-instruction/create/`
}

export const add = (tenant: Tenant, number: string, addition: Addition): Request => ({
  method: "POST",
  path: paths[addition],
  body: { ...keyOf(tenant, number), ...bodies[addition](number) }
})

/** A payment instruction with another reference, or of the other vendor. */
export const instruction = (
  tenant: Tenant,
  number: string,
  given: { readonly vendor?: string; readonly type?: string; readonly reference?: string }
): Request => ({
  method: "POST",
  path: paths.instruction,
  body: { ...keyOf(tenant, number), ...bodies.instruction(number), ...given }
})

/** A body of any text for the operation. */
export const text = (operation: Addition | "stage" | "process", text: string): Request => ({
  method: "POST",
  path:
    operation === "stage" || operation === "process" ? importPaths[operation] : paths[operation],
  text
})

/** One note, as short as one can be. */
export const note = (tenant: Tenant, number: string, body: string): Request => ({
  method: "POST",
  path: paths.notes,
  body: { ...keyOf(tenant, number), notes: [{ body }] }
})
