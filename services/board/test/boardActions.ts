/**
 * The actions of the board that have a dialog, and what each does in a real Chromium:
 * `pagesInBrowser.test.ts` runs one of them, `everyActionInBrowser.long.test.ts` all.
 */
import { inaccessible } from "@data-import/server/testing/Browser"
import type { Locator, Page } from "playwright-core"
import { expect } from "vitest"
import { standard } from "../testing/FixtureServer.ts"
import { moveId } from "../testing/sampleAccount.ts"
import { usedInvitation } from "../testing/sampleInvitations.ts"
import { rehearsalId } from "../testing/sampleWave.ts"
import { later } from "../testing/sampleCertificates.ts"
import { type Board, close, pausedBatch, recorded, supplier } from "./boardInBrowser.ts"

interface Action {
  readonly at: string
  /** The button that opens the dialog, the dialog's name, and the button that confirms it. */
  readonly button: string | RegExp
  readonly dialog: RegExp
  readonly confirm: string
  readonly fill?: Readonly<Record<string, string>>
  /** What to choose first, by label. */
  readonly choose?: Readonly<Record<string, string>>
  /** A checkbox to tick first. */
  readonly accept?: string
  readonly said: string | RegExp
  readonly posted: ReadonlyArray<{ readonly path: string; readonly body: unknown }>
}

const migration = "migrations/DELTA_LEGACY/"
const id: unknown = expect.stringMatching(/^[\da-f]{8}-/)
export const batch = {
  batch_id: id,
  operations_team_name: "Migration Team"
}
const move = { move_id: id, cohort: "wave-9", selection: { cohort: null }, after: null }

/** Every action that has a dialog. */
export const actions: readonly [Action, ...ReadonlyArray<Action>] = [
  {
    at: supplier,
    button: "Pause…",
    dialog: /Pause DELTA_LEGACY/,
    confirm: "Pause DELTA_LEGACY",
    fill: { Reason: " Waiting for dates " },
    said: "DELTA_LEGACY is paused.",
    posted: [
      { path: `${migration}status/`, body: { status: "Paused", reason: "Waiting for dates" } }
    ]
  },
  {
    at: supplier,
    button: "Invite the supplier…",
    dialog: /Invite a person of DELTA_LEGACY/,
    confirm: "Make the link",
    fill: { "Name or e-mail address of the person, for the audit log": " Ann " },
    said: /Send this link to Ann/,
    posted: [{ path: `${migration}invitations/`, body: { person: "Ann" } }]
  },
  {
    at: supplier,
    button: "Revoke the invitation of Ben Adams…",
    dialog: /Revoke the invitation of Ben Adams/,
    confirm: "Revoke it",
    said: "The link of Ben Adams no longer works.",
    posted: [{ path: `${migration}invitations/${usedInvitation}/revoke/`, body: {} }]
  },
  {
    at: "/board/migrations/EAST_GAS/",
    button: "Resume…",
    dialog: /Resume EAST_GAS/,
    confirm: "Resume EAST_GAS",
    said: "EAST_GAS goes on.",
    posted: [{ path: "migrations/EAST_GAS/status/", body: { status: "Ongoing", reason: null } }]
  },
  {
    at: supplier,
    button: "Pause wave 2, north…",
    dialog: /Pause wave 2, north/,
    confirm: "Pause the batch",
    said: "wave 2, north is paused.",
    posted: [{ path: "batches/00000000-0000-4000-8000-000000000001/pause/", body: {} }]
  },
  {
    at: `${supplier}batches/${pausedBatch}/`,
    button: /Resume IMPORT/,
    dialog: /Resume IMPORT/,
    confirm: "Resume the batch",
    said: /IMPORT .* goes on/,
    posted: [{ path: `batches/${pausedBatch}/resume/`, body: {} }]
  },
  {
    at: supplier,
    button: /Import 5,934 pending accounts of wave-1/,
    dialog: /Import 5,934 pending accounts of wave-1/,
    confirm: "Import 5,934 accounts",
    said: /A batch of 412 accounts has started/,
    posted: [
      {
        path: `${migration}process/`,
        body: { selection: { state: "PENDING", cohort: "wave-1" }, ...batch }
      }
    ]
  },
  {
    at: supplier,
    button: /Rehearse 5,934 pending accounts of wave-1/,
    dialog: /Rehearse 5,934 pending accounts of wave-1/,
    confirm: "Rehearse 5,934 accounts",
    said: /A rehearsal of 412 accounts has started/,
    posted: [
      {
        path: `${migration}process/`,
        body: { selection: { state: "PENDING", cohort: "wave-1" }, ...batch, dry_run: true }
      }
    ]
  },
  {
    at: supplier,
    button: "Import all 11,868…",
    dialog: /Import 11,868 pending accounts/,
    confirm: "Import 11,868 accounts",
    said: /A batch of 412 accounts has started/,
    posted: [{ path: `${migration}process/`, body: { selection: { state: "PENDING" }, ...batch } }]
  },
  {
    at: supplier,
    button: /Move… pending or failed accounts without a cohort/,
    dialog: /Move 6,140 pending or failed accounts without a cohort/,
    confirm: "Move 6,140 accounts",
    choose: { "To cohort": "A new cohort…" },
    fill: { "Name of the new cohort": " wave-9 " },
    said: "412 accounts have moved to wave-9.",
    posted: [
      { path: `${migration}cohort/`, body: move },
      { path: `${migration}cohort/`, body: { ...move, after: "NL-0000400" } }
    ]
  },
  {
    at: `${supplier}imports/?move=${moveId}`,
    button: "Undo the move…",
    dialog: /Undo the move/,
    confirm: "Undo the move",
    said: "412 accounts have their earlier cohort again.",
    posted: [{ path: `${migration}moves/${moveId}/undo/`, body: { undo_id: id, after: null } }]
  },
  {
    at: `${supplier}imports/?state=FAILED&code=invalid_date&cohort=wave-1`,
    button: "Retry 412 failed accounts with invalid_date of wave-1…",
    dialog: /Retry 412 failed accounts with invalid_date of wave-1/,
    confirm: "Retry 412 accounts",
    said: /A batch of 412 accounts has started/,
    posted: [
      {
        path: `${migration}process/`,
        body: { selection: { state: "FAILED", code: "invalid_date", cohort: "wave-1" }, ...batch }
      }
    ]
  },
  {
    at: supplier,
    button: "Retry 412 failed…",
    dialog: /(Retry|Rehearse) 412 failed accounts/,
    accept: "Only rehearse: import nothing",
    confirm: "Rehearse 412 accounts",
    said: /A rehearsal of 412 accounts has started/,
    posted: [
      {
        path: `${migration}process/`,
        body: { selection: { state: "FAILED" }, ...batch, dry_run: true }
      }
    ]
  },
  {
    at: `${supplier}imports/NL-0004712/`,
    button: /Import account NL-0004712/,
    dialog: /Import account NL-0004712/,
    confirm: "Import 1 account",
    said: /A batch of 412 accounts has started/,
    posted: [
      { path: `${migration}process/`, body: { selection: { numbers: ["NL-0004712"] }, ...batch } }
    ]
  },
  {
    at: supplier,
    button: "Change the plan…",
    dialog: /Plan of DELTA_LEGACY/,
    confirm: "Save the plan",
    fill: { Plan: "2026-12-01 100" },
    said: /The plan has/,
    posted: [{ path: `${migration}plan/`, body: { points: [{ on: "2026-12-01", accounts: 100 }] } }]
  },
  {
    at: supplier,
    button: "Enter control totals…",
    dialog: /Control totals of DELTA_LEGACY/,
    confirm: "Save the control totals",
    fill: { Accounts: "1,187", "Cohort (empty for the whole migration)": " wave-9 " },
    said: /It is compared from now on/,
    posted: [
      {
        path: `${migration}control-totals/`,
        body: { cohort: "wave-9", expected: { accounts: 1187 } }
      }
    ]
  },
  {
    at: `${supplier}certificates/?cohort=wave-1`,
    button: "Issue a certificate…",
    dialog: /Issue a certificate of DELTA_LEGACY/,
    confirm: "Issue the certificate",
    said: /is being computed/,
    posted: [
      {
        path: `${migration}certificates/`,
        body: { certificate_id: batch.batch_id, cohort: "wave-1" }
      }
    ]
  },
  {
    at: supplier,
    button: /^Undo… [\d,]+ imported accounts of wave-1$/,
    dialog: /Undo wave-1 of DELTA_LEGACY/,
    confirm: "Revert 10,690 accounts",
    fill: { "Reason (kept with each account)": " Wrong sign ", "Type wave-1 to confirm": "wave-1" },
    accept: "Also end what was added since",
    said: "A batch that undoes wave-1 has started.",
    posted: [
      {
        path: `${migration}undo/`,
        body: {
          batch_id: batch.batch_id,
          cohort: "wave-1",
          reason: "Wrong sign",
          with_additions: true
        }
      }
    ]
  },
  {
    at: `${supplier}go-no-go/?cohort=wave-1`,
    button: "Say no-go to wave-1",
    dialog: /wave-1 of DELTA_LEGACY: a no-go/,
    confirm: "Say no-go",
    fill: { Reason: " Documents are missing " },
    said: "You say no-go to wave-1. The audit log has it under your name.",
    posted: [
      {
        path: `${migration}go-no-go/`,
        body: {
          cohort: "wave-1",
          decision: "NO_GO",
          rehearsal_id: rehearsalId,
          note: "Documents are missing"
        }
      }
    ]
  },
  {
    at: `${supplier}imports/NL-0004712/`,
    button: "Comment…",
    dialog: /Comment on NL-0004712/,
    confirm: "Add the comment",
    fill: { Comment: " They have called " },
    said: "It is kept with your name and the time.",
    posted: [
      {
        path: `${migration}comments/`,
        body: {
          comment_id: id,
          about: "comment",
          cohort: null,
          external_account_number: "NL-0004712",
          text: "They have called"
        }
      }
    ]
  },
  {
    at: `${supplier}go-no-go/?cohort=wave-1`,
    button: "Note that the corrections were sent",
    dialog: /The corrections of wave-1 of DELTA_LEGACY were sent/,
    confirm: "Note that they were sent",
    fill: { "Sent to": "Ben Adams" },
    said: "It is kept with your name and the time.",
    posted: [
      {
        path: `${migration}comments/`,
        body: {
          comment_id: id,
          about: "corrections_sent",
          cohort: "wave-1",
          external_account_number: null,
          text: "Ben Adams"
        }
      }
    ]
  },
  {
    at: `${supplier}waves/`,
    button: "Plan wave-2…",
    dialog: /Plan wave-2 of DELTA_LEGACY/,
    confirm: "Save the plan of the wave",
    fill: {
      "Day (Europe/Berlin)": "2099-12-01",
      Owner: " Ben ",
      "Target: accounts": "187",
      "Starts by itself at (empty: it does not)": "22:30"
    },
    said: /wave-2 is planned, and starts by itself/,
    posted: [
      {
        path: `${migration}waves/`,
        body: {
          cohort: "wave-2",
          starts_on: "2099-12-01",
          owner: "Ben",
          accounts: 187,
          start: { time: "22:30", operations_team_name: "Migration Team" }
        }
      }
    ]
  },
  {
    at: supplier,
    button: "Sign off…",
    dialog: /Sign DELTA_LEGACY off/,
    confirm: "Sign DELTA_LEGACY off",
    fill: {
      "Type DELTA_LEGACY to confirm": "DELTA_LEGACY",
      "Reason (stays in sight)": "No more data comes"
    },
    accept: "Sign off although this is open",
    said: "DELTA_LEGACY is signed off.",
    posted: [
      {
        path: `${migration}sign-off/`,
        body: {
          import_supplier: "DELTA_LEGACY",
          accept_open: true,
          reason: "No more data comes",
          certificate_id: later
        }
      }
    ]
  }
]

/** The second click of a double click, on whatever is at that place by then. */
const clickAgain = async (page: Page, button: Locator) => {
  const box = await button.boundingBox()
  if (box === null) throw new Error("There is no button")
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await page.mouse.down({ clickCount: 2 })
  await page.mouse.up({ clickCount: 2 })
}

const opened = async (page: Page, action: Action) => {
  const { accept, button, choose = {}, dialog: title, fill = {} } = action
  await page.getByRole("button", { name: button, exact: true }).first().click()
  const dialog = page.getByRole("dialog", { name: title })
  await dialog.waitFor()
  for (const [label, name] of Object.entries(choose)) {
    await dialog.getByLabel(label).selectOption({ label: name })
  }
  for (const [label, text] of Object.entries(fill)) await dialog.getByLabel(label).fill(text)
  if (accept !== undefined) await dialog.getByLabel(accept).check()
  return dialog
}

/** Refused first, then sent once, although it is confirmed twice. */
export const does = async ({ open, server }: Board, action: Action) => {
  const page = await open(action.at)
  const dialog = await opened(page, action)
  expect(await inaccessible(page)).toEqual([])
  const { hold, sent } = await recorded(page)
  const confirm = dialog.getByRole("button", { name: action.confirm, exact: true })
  server().fixture = { ...standard, refused: [[new RegExp(`${action.posted[0]?.path}$`), 409]] }
  await confirm.click()
  await dialog.getByRole("alert").getByText("Not done. Refused with 409.").waitFor()
  expect(server().posted).toEqual([])

  server().fixture = standard
  const release = hold()
  await confirm.dblclick()
  await dialog.getByRole("button", { name: "Sending…" }).and(page.locator(":disabled")).waitFor()
  await page.keyboard.press("Enter")
  release()
  await dialog.getByText(action.said).waitFor()
  expect(server().posted).toEqual(action.posted)
  // The retry sends the same id, so a batch whose answer was lost is not started twice.
  expect(sent).toHaveLength(1 + action.posted.length)
  expect(sent[1]).toEqual(sent[0])
  await clickAgain(page, dialog.getByRole("button", { name: "Close" }))
  expect(await dialog.getByText(action.said).isVisible()).toBe(true)
  await dialog.getByRole("button", { name: "Close" }).click()
  await dialog.waitFor({ state: "detached" })
  await close(page)
}
