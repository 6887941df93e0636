/** Answers of the board's API about accounts and the audit log, for looking at its pages. */
import type * as Accounts from "@data-import/api/board/Accounts"
import type * as Migrations from "@data-import/api/board/Migrations"
import { instant } from "./sampleMigrations.ts"

const hour = 3_600_000

export const moveId = "00000000-0000-4000-8000-00000000000a"

export const move = (now: number): typeof Accounts.MoveDetailBody.Type => ({
  move_id: moveId,
  at: instant(now - 20 * hour),
  by: "board:Maria Keller",
  from: [
    { cohort: null, accounts: 400 },
    { cohort: "wave-1", accounts: 12 }
  ],
  to: ["wave-2"],
  accounts: 412,
  undoes: null,
  undone_by: null,
  can_undo: true
})

export const audit = (now: number, length = 40): typeof Accounts.AuditBody.Type => ({
  entries: Array.from({ length }, (_, index) => ({
    id: String(900 - index),
    at: instant(now - index * 600_000),
    organisation: "north",
    who: index % 3 === 0 ? "board:Maria Keller" : "key-7f3a",
    action: ["move_accounts", "process", "stage"][index % 3] ?? "",
    outcome: [`moved ${moveId}`, "created", "replaced"][index % 3] ?? "",
    failed: false,
    import_supplier: "ACME_LEGACY",
    external_account_number: index % 3 === 0 ? null : "NL-0004712",
    request_id: `00000000-0000-4000-8000-0000000${10_000 + index}`,
    move: index === 0 ? move(now) : null,
    comment: null
  })),
  next_before: "860",
  stopped: false
})

const masked = {
  external_account_number: "NL-0004712",
  customers: [
    {
      given_name: "M… (5 characters)",
      family_name: "K… (6 characters)",
      landline: "4… (8 characters)",
      email: "m… (24 characters)"
    }
  ],
  transfer_balance: "12.50"
}

export const revealed: typeof Accounts.RevealedBody.Type = {
  stored: {
    ...masked,
    customers: [
      {
        given_name: "Maria",
        family_name: "Keller",
        landline: "41234567",
        email: "maria.keller@example.com"
      }
    ]
  }
}

const life = (now: number, import_supplier: string, external_account_number: string) => {
  const entries = [
    ["board:Maria Keller", "read_import", "read", 1],
    ["key-7f3a", "process", "account_failed_validation", 2],
    ["key-7f3a", "stage", "replaced", 30],
    ["board:Maria Keller", "revert_import", "reverted", 40],
    ["key-7f3a", "stage", "created", 54]
  ] as const
  return entries.map(([who, action, outcome, hours], index) => ({
    id: String(900 - index),
    at: instant(now - hours * hour),
    organisation: "north",
    who,
    action,
    outcome,
    failed: outcome === "account_failed_validation",
    import_supplier,
    external_account_number,
    request_id: `00000000-0000-4000-8000-0000000${10_000 + index}`,
    move: null,
    comment: null
  }))
}

/** It failed, and before that a trial run had passed because the day had changed. */
const attempts = (now: number): (typeof Accounts.BoardAccountBody.Type)["attempts"] => [
  {
    started_at: instant(now - 2 * hour),
    ended_at: instant(now - 2 * hour + 1_000),
    dry_run: false,
    outcome: "FAILED",
    code: "account_failed_validation",
    meaning: "The account breaks a rule.",
    errors: [
      {
        code: "invalid_phone_number",
        attr: "customers.0.landline",
        detail:
          "Must be a phone number in international format, like +4512345678: " +
          "it needs a leading + and the country's calling code.",
        business_day: null
      },
      {
        code: "max_value",
        attr: "customers.0.date_of_birth",
        detail: "Must be at most 2026-01-15.",
        business_day: "2026-01-15"
      }
    ],
    passed_by_day: null
  },
  {
    started_at: instant(now - 3 * hour),
    ended_at: instant(now - 3 * hour + 1_000),
    dry_run: true,
    outcome: "DRY_RUN_SUCCESSFUL",
    code: "dry_run_successful",
    meaning: "The account would be created.",
    errors: [],
    passed_by_day: {
      failed_at: instant(now - 27 * hour),
      failed_on: "2026-01-15",
      business_day: "2026-01-16",
      alone: true
    }
  }
]

export const account = (
  import_supplier: string,
  external_account_number: string,
  now: number
): typeof Accounts.BoardAccountBody.Type => ({
  import_supplier,
  external_account_number,
  kraken_account_number: null,
  state: "FAILED",
  cohort: "wave-1",
  staged_at: instant(now - 30 * hour),
  times_staged: 2,
  account_created_at: null,
  balance: null,
  attempts: attempts(now),
  stored: masked,
  added: { transactions: 0, notes: 0, statements: 0, payment_instructions: 0 },
  documents: [
    { document_path: "s… (22 characters).pdf", size: 48_211 },
    { document_path: "s… (22 characters).pdf", size: null }
  ],
  revert_until: null,
  reverted: [
    {
      kraken_account_number: "A-0000002A",
      account_created_at: instant(now - 52 * hour),
      reverted_at: instant(now - 40 * hour),
      reverted_by: "board:Maria Keller",
      reason: "The balance has the wrong sign"
    }
  ],
  moves: [
    {
      move_id: moveId,
      at: instant(now - 20 * hour),
      by: "board:Maria Keller",
      from: "wave-1",
      to: "wave-2",
      is_undo: false
    }
  ],
  audit: life(now, import_supplier, external_account_number),
  audit_seal: { entries: 6, holds: true, broken_at: null }
})

const pageLength = 100

/** A page of `total` imports. */
export const imports = (
  total: number,
  after: string | null,
  now: number
): typeof Migrations.ImportRowsBody.Type => {
  const begin = after === null ? 0 : Number(after.slice(3))
  const end = Math.min(total, begin + pageLength)
  const numberOf = (index: number) => `NL-${String(index).padStart(7, "0")}`
  return {
    imports: Array.from({ length: end - begin }, (_, index) => ({
      external_account_number: numberOf(begin + index + 1),
      kraken_account_number: null,
      state: "FAILED",
      cohort: index % 2 === 0 ? "wave-1" : null,
      staged_at: instant(now - 30 * hour),
      account_created_at: null,
      balance: null,
      code: "account_failed_validation",
      problem: {
        code: "invalid_phone",
        attr: "customers.0.landline",
        detail: "Must be a valid phone number.",
        business_day: null
      }
    })),
    total,
    next_after: end < total ? numberOf(end) : null
  }
}
