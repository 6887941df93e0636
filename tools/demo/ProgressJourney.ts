/**
 * The last part of the journey: an import fails, and its supplier queries what failed, why, what is
 * stored and whether it is done. The operator queries what is stuck, what is left and who did what.
 * The imports have their own cohort, so that the counts are those of this run.
 */
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { samplePdf } from "@data-import/local/SamplePdf"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { Effect, Schema } from "effect"
import type { ResponsePattern } from "./ResponsePattern.ts"
import { type Command, get, instant, type Known, post, type Step } from "./Step.ts"

const stage = "/v1/data-import/account-import-process/create-or-update/"
const process = "/v1/data-import/account-import-process/process/"

const cohortOf = ({ number }: Known): string => number

/** The account that is imported at once, and the one that fails at first. */
const goodOf = ({ number }: Known): string => `${number}-good`
const stuckOf = ({ number }: Known): string => `${number}-stuck`

const keyOf = ({ demo }: Known, external_account_number: string) => ({
  import_supplier: demo.importSupplier,
  external_account_number
})

const letterOf = ({ number }: Known): string => `notes/${number}.pdf`

const fileOf = (known: Known): string => join(known.demo.documentsDir, letterOf(known))

const upload = (known: Known) =>
  Effect.promise(async () => {
    await mkdir(dirname(fileOf(known)), { recursive: true })
    await writeFile(fileOf(known), samplePdf(letterOf(known)))
  })

const Created = Schema.Struct({ kraken_account_number: Schema.String })

const processed = (known: Known, number: string) => {
  const payload = { ...keyOf(known, number), operations_team_name: known.demo.operationsTeamName }
  return post(process, { payload }, known.token)
}

const created = {
  status: 201,
  body: () => ({ kraken_account_number: /^A-/ }),
  learn: (body: unknown, requestId: string) => ({
    accountNumber: Schema.decodeUnknownSync(Created)(body).kraken_account_number,
    requestId
  })
}

const letterIsMissing: ResponsePattern = {
  code: "path_does_not_exist_in_file_store",
  attr: "notes.0.document_paths.0.document_path",
  detail: /./
}

const checkingDocuments = (check: "off" | "on", title: string): Command => ({
  title,
  command: ({ demo }) => ["supplier", "set", demo.importSupplier, "--document-check", check],
  says: () => [/^Set documentCheck /m]
})

const failing: ReadonlyArray<Step | Command> = [
  {
    title: "Stage an account for a cohort",
    request: (known) => {
      const payload = { ...domesticPayload(), ...keyOf(known, goodOf(known)) }
      return post(stage, { payload, cohort: cohortOf(known) }, known.token)
    },
    status: 201,
    body: (known) => keyOf(known, goodOf(known))
  },
  { title: "Process it", request: (known) => processed(known, goodOf(known)), ...created },
  checkingDocuments("off", "The operator lets accounts be staged before their documents are there"),
  {
    title: "Stage another one, with a letter that is to come",
    request: (known) => {
      const notes = [{ document_paths: [{ document_path: letterOf(known) }] }]
      const key = keyOf(known, stuckOf(known))
      const payload = { ...key, unknown_occupier: true, transfer_balance: 12.34, notes }
      return post(stage, { payload, cohort: cohortOf(known) }, known.token)
    },
    status: 201,
    body: (known) => keyOf(known, stuckOf(known))
  },
  checkingDocuments("on", "The operator has documents checked again"),
  {
    title: "The letter is not in the bucket. Process the account: it fails",
    request: (known) => processed(known, stuckOf(known)),
    status: 400,
    body: () => ({ code: "account_failed_validation", errors: [letterIsMissing] }),
    learn: (_, requestId) => ({ requestId })
  }
]

const importPath = (known: Known) =>
  `/v1/data-import/imports/${known.demo.importSupplier}/${stuckOf(known)}/`

const listPath = (known: Known, conditions: string) =>
  `/v1/data-import/all-account-import-processes/${known.demo.importSupplier}/` +
  `?cohort=${cohortOf(known)}&${conditions}`

const summaryPath = (known: Known) =>
  `/v1/data-import/suppliers/${known.demo.importSupplier}/summary/?cohort=${cohortOf(known)}`

const none = { PENDING: 0, FAILED: 0, IN_PROGRESS: 0, SKIPPED: 0, IMPORTED: 0, ERASED: 0 }

const failedAttempt: ResponsePattern = {
  outcome: "FAILED",
  code: "account_failed_validation",
  errors: [letterIsMissing],
  started_at: instant,
  ended_at: instant
}

const asked: ReadonlyArray<Step> = [
  {
    title: "What failed? List the failed imports of the cohort",
    request: (known) => get(listPath(known, "failed=true&fields=state"), known.token),
    status: 200,
    body: (known) => [{ external_account_number: stuckOf(known), state: "FAILED" }]
  },
  {
    title: "Why did it fail? Ask for the import: the attempt tells",
    request: (known) => get(importPath(known), known.token),
    status: 200,
    body: (known) => ({
      ...keyOf(known, stuckOf(known)),
      state: "FAILED",
      cohort: cohortOf(known),
      attempts: [failedAttempt]
    })
  },
  {
    title: "Are we done? Ask for the summary: the states sum up to the total, and one has failed",
    request: (known) => get(summaryPath(known), known.token),
    status: 200,
    body: (known) => ({
      total: 2,
      states: { ...none, IMPORTED: 1, FAILED: 1 },
      codes: ["account_failed_validation", "path_does_not_exist_in_file_store"].map((code) => ({
        code,
        imports: 1,
        examples: [stuckOf(known)]
      })),
      documents_missing: 1,
      balance: "50.00"
    })
  }
]

const stuck: ReadonlyArray<Command> = [
  {
    title: "The operator asks what is left of the cohort",
    command: (known) => [
      "supplier",
      "summary",
      known.demo.importSupplier,
      "--cohort",
      known.number
    ],
    says: () => [/^total: 2$/m, /^FAILED +1$/m, /^IMPORTED +1$/m]
  },
  {
    title: "What is stuck",
    command: ({ demo }) => ["import", "list", demo.importSupplier, "--failed"],
    says: (known) => [new RegExp(`^${stuckOf(known)} +FAILED .*account_failed_validation$`, "m")]
  },
  {
    title: "Why",
    command: (known) => ["import", "show", known.demo.importSupplier, stuckOf(known)],
    says: () => [/^state: FAILED$/m, /document_path +path_does_not_exist_in_file_store/]
  },
  {
    title: "Who did it, by the id of the request",
    command: ({ requestId }) => ["request", "show", requestId],
    says: (known) => [
      new RegExp(` demo .* process +account_failed_validation +.*${stuckOf(known)}$`, "m")
    ]
  },
  {
    title: "Whether the migration is complete: it is not",
    command: ({ demo }) => ["supplier", "set-status", demo.importSupplier, "complete"],
    isRefused: true,
    says: () => [/\d+ open imports?: \d+ pending, [1-9]\d* failed, \d+ in progress/]
  }
]

const mended: ReadonlyArray<Step> = [
  {
    title: "The letter is in the bucket. Process the account",
    before: upload,
    request: (known) => processed(known, stuckOf(known)),
    ...created
  },
  {
    title: "Ask for the import: both attempts are told",
    request: (known) => get(importPath(known), known.token),
    status: 200,
    body: (known) => ({
      state: "IMPORTED",
      kraken_account_number: known.accountNumber,
      attempts: [failedAttempt, { outcome: "CREATED", code: null, errors: [] }]
    })
  },
  {
    title: "What is stored? Read the account back",
    request: (known) => get(`/v1/data-import/accounts/${known.accountNumber}/`, known.token),
    status: 200,
    body: (known) => ({
      balance: "12.34",
      account: keyOf(known, stuckOf(known)),
      documents: [{ document_path: letterOf(known) }]
    })
  },
  {
    title: "Are we done? Yes: everything is imported, and the balances sum up",
    request: (known) => get(summaryPath(known), known.token),
    status: 200,
    body: () => ({
      total: 2,
      states: { ...none, IMPORTED: 2 },
      oldest_pending: null,
      codes: [],
      documents_missing: 0,
      balance: "62.34"
    })
  }
]

const done: ReadonlyArray<Command> = [
  {
    title: "The operator asks what the last request did",
    command: ({ requestId }) => ["request", "show", requestId],
    says: (known) => [new RegExp(` demo .* process +created +.*${stuckOf(known)}$`, "m")]
  },
  {
    title: "Whether the audit log is as it was written",
    command: () => ["audit", "verify"],
    says: () => [/all are as they were written/]
  }
]

/** In the order in which they are walked. */
export const progressJourney: ReadonlyArray<Step | Command> = [
  ...failing,
  ...asked,
  ...stuck,
  ...mended,
  ...done
]
