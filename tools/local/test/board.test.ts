/**
 * The board on the whole system, in a real Chromium: a manager goes from a batch that fails to the
 * sign-off of the migration, or takes a wave back. It is skipped where there is no Chromium.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "@data-import/api/testing/Client"
import { issueLink } from "@data-import/domain/access/BoardAccess"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { freshSupplier, minimalAccount } from "@data-import/domain/testing/freshNames"
import * as Browsing from "@data-import/server/testing/Browser"
import { persistently } from "@data-import/server/testing/RunningService"
import { textAt } from "@data-import/testbed/Client"
import type { Page } from "playwright-core"
import { downloads, formulaSupplier } from "./boardDownloads.ts"
import { healthyWorld } from "./healthyWorld.ts"
import { tokenFor, wholeSystem, WholeSystem } from "./wholeSystem.ts"

if (!Browsing.hasBrowser) {
  console.log("The board is not looked at on the whole system: there is no Chromium.")
}

const base = "/v1/data-import"
const team = "Migration Team"
const accounts = 10
const withDocument = 4
const cohort = "wave-1"

/** Longer than any successful step takes. */
const stepTimeout = 30_000

/** Whether the object store has the documents. */
let isStored = false

const world = healthyWorld({}, () => isStored)

/** A supplier with ten staged accounts, four of which name a missing document. */
const stagedSupplier = Effect.gen(function* () {
  const { gatewayUrl } = yield* WholeSystem
  const setup = yield* Configuration
  yield* Effect.ignore(setup.createTeam(team))
  const { caller, keyOf, supplier } = yield* freshSupplier
  const token = yield* tokenFor(caller.organisation)
  const headers = { authorization: `Token ${token}`, "content-type": "application/json" }
  const ask = (path: string, payload: unknown, beside: object = {}) =>
    persistently(
      send(gatewayUrl, { path: base + path, headers, body: JSON.stringify({ payload, ...beside }) })
    )
  yield* setup.configureSupplier(supplier.code, { documentCheck: false })
  const notes = [{ body: "N", document_paths: [{ document_path: "notes/1.pdf" }] }]
  for (let line = 0; line < accounts; line++) {
    const account = minimalAccount(keyOf(`A-${line}`))
    const staging = "/account-import-process/create-or-update/"
    const payload = { ...account, ...(line < withDocument && { notes }) }
    const staged = yield* ask(staging, payload, { cohort })
    expect(staged.status).toBe(201)
  }
  yield* setup.configureSupplier(supplier.code, { documentCheck: true })
  return { ask, code: supplier.code }
})

/** The supplier processes everything, and four accounts fail if their document is missing. */
const processedSupplier = Effect.gen(function* () {
  const { ask, code } = yield* stagedSupplier
  const { json } = yield* ask("/batches/", {
    import_supplier: code,
    operation: "PROCESS",
    source: "PENDING",
    operations_team_name: team
  })
  const started = yield* ask(`/batches/${textAt(json, "batch_id")}/start/`, { total_lines: 0 })
  expect(started.status).toBe(200)
  return code
})

const signIn = async (page: Page, link: string) => {
  await page.goto(link)
  await page.getByRole("button", { name: /Sign in/ }).click()
  await page.waitForURL(/\/board\/$/)
}

const headline = (page: Page, name: RegExp) =>
  page.getByRole("heading", { level: 1, name }).waitFor()

const findsTheCause = async (page: Page, code: string) => {
  await page.getByRole("link", { name: code, exact: true }).click()
  await headline(page, new RegExp(`${code}: 6 of 10 imported, 4 failed`))
  await page.getByText("adds up").first().waitFor()
  await page.getByRole("link", { name: "4 failed" }).click()
  await headline(page, /10 of 10 lines ended, 4 failed/)
  await page.getByText("path_does_not_exist_in_file_store").first().waitFor()
  await page.getByRole("link", { name: code, exact: true }).click()
  await page.getByRole("link", { name: "4 accounts have failed" }).click()
  await headline(page, /problem/i)
  await page.getByText("path_does_not_exist_in_file_store").first().waitFor()
  await page.getByText("examples").first().click()
  await page.getByRole("link", { name: "A-0", exact: true }).first().click()
  await headline(page, /A-0 failed/)
  await page.getByText("As it was sealed").waitFor()
}

const retries = async (page: Page, code: string) => {
  await page.getByRole("link", { name: code, exact: true }).first().click()
  await page.getByRole("button", { name: "Retry 4 failed…" }).click()
  await page.getByRole("button", { name: "Retry 4 accounts", exact: true }).click()
  await page.getByText("A batch of 4 accounts has started").waitFor()
  await page.getByRole("button", { name: "Close" }).click()
  // The page updates without a reload.
  await headline(page, new RegExp(`${code}: 10 of 10 imported, none failed, nothing is open`))
}

const certifies = async (page: Page, code: string) => {
  await page.getByRole("link", { name: "Certificates", exact: true }).click()
  await page.getByRole("button", { name: "Issue a certificate…" }).click()
  await page.getByRole("button", { name: "Issue the certificate" }).click()
  await page.getByText("is being computed. Its page shows").waitFor()
  await page.getByRole("button", { name: "Close" }).click()
  // The page updates without a reload.
  await headline(page, /^1 certificate, the newest of 10 accounts$/)
  await page.getByRole("link", { name: code, exact: true }).click()
}

const signsOff = async (page: Page, code: string) => {
  await page.getByRole("button", { name: "Sign off…" }).click()
  await page.getByText("Nothing is open.").waitFor()
  await page.getByText("10 accounts as of").waitFor()
  await page.getByLabel(`Type ${code} to confirm`).fill(code)
  await page.getByRole("button", { name: `Sign ${code} off` }).click()
  await page.getByText(`${code} is signed off.`).waitFor()
  await page.getByRole("button", { name: "Close" }).click()
  await headline(page, /signed off$/)
  await page.getByRole("link", { name: "Who did what" }).click()
  await page.getByRole("link", { name: "local", exact: true }).first().waitFor()
}

const undoes = async (page: Page, code: string) => {
  await page.getByRole("link", { name: code, exact: true }).click()
  await headline(page, new RegExp(`${code}: 10 of 10 imported`))
  await page.getByRole("button", { name: `Undo… 10 imported accounts of ${cohort}` }).click()
  const dialog = page.getByRole("dialog")
  await dialog.getByText("10 accounts end: they stay readable").waitFor()
  expect(await Browsing.inaccessible(page)).toEqual([])
  await dialog.getByLabel("Reason").fill("The balances have the wrong sign")
  await dialog.getByLabel(`Type ${cohort} to confirm`).fill(cohort)
  await dialog.getByRole("button", { name: "Revert 10 accounts" }).click()
  await dialog.getByRole("link", { name: "Its page" }).click()
  // The page updates without a reload.
  await headline(page, /^Undo of wave-1: 10 of 10 accounts reverted, none failed$/)
  await page.getByText("The balances have the wrong sign").waitFor()
  await page.getByRole("link", { name: "10 reverted" }).click()
  await page.getByRole("link", { name: "A-9", exact: true }).click()
  await headline(page, /^A-9 was reverted and waits to be imported again$/)
  await page.getByRole("heading", { name: "Earlier accounts" }).waitFor()
  await page.getByText(/Reverted: A-\w{8} ended – The balances have the wrong sign/).waitFor()
  await page.getByRole("link", { name: code, exact: true }).click()
  await headline(page, new RegExp(`${code}: 0 of 10 imported`))
}

/** Invites a person, who follows the link in another browser. */
const invites = async (page: Page, code: string) => {
  await page.getByRole("link", { name: code, exact: true }).click()
  await page.getByRole("button", { name: "Invite the supplier…" }).click()
  await page.getByLabel(/Name or e-mail/).fill("Ann")
  await page.getByRole("button", { name: "Make the link" }).click()
  const link = await page.getByLabel("Link", { exact: true }).inputValue()
  const other = await page.context().browser()?.newContext()
  const person = await other?.newPage()
  if (person === undefined) throw new Error("There is no other browser.")
  await person.goto(link)
  await person.getByRole("button", { name: "See the migration" }).click()
  await headline(person, /1 of 1 migration needs attention/)
  await person.getByRole("link", { name: code, exact: true }).click()
  await person.getByText("Ann (invited) (supplier)").waitFor()
  const file = person.waitForEvent("download")
  await person.locator(".summary").getByRole("link", { name: "CSV" }).click()
  expect((await file).suggestedFilename()).toMatch(/corrections\.csv$/)
}

const journey = async (page: Page, link: string, code: string) => {
  await signIn(page, link)
  await headline(page, /1 of \d+ migrations? needs attention/)
  expect(await Browsing.inaccessible(page)).toEqual([])
  await findsTheCause(page, code)
  isStored = true
  await retries(page, code)
  expect(await Browsing.inaccessible(page)).toEqual([])
  await certifies(page, code)
  await signsOff(page, code)
}

/** A page in a new browser, with a link that signs in. */
const inBrowser = Effect.fnUntraced(function* (run: (page: Page, link: string) => Promise<void>) {
  const { gatewayUrl, log } = yield* WholeSystem
  const link = `${gatewayUrl}/board/sign-in/${yield* issueLink}/`
  const browser = yield* Effect.acquireRelease(
    Effect.promise(() => Browsing.launch()),
    (opened) => Effect.promise(() => opened.close())
  )
  const { faults, page } = yield* Effect.promise(() =>
    Browsing.blank(browser, gatewayUrl, Browsing.wide)
  )
  page.setDefaultTimeout(stepTimeout)
  yield* Effect.promise(() =>
    run(page, link).catch(async (cause: unknown) => {
      const seen = await page.locator("body").innerText()
      const errors = log.filter((line) => /"level":"error"/i.test(line)).slice(-3)
      throw new Error(`${errors.join("")}At ${page.url()}: ${seen}`, { cause })
    })
  )
  expect(faults).toEqual([])
})

layer(wholeSystem(world), { excludeTestServices: true, timeout: "2 minutes" })(
  "the board",
  (it) => {
    const test = Browsing.hasBrowser ? it.effect : it.effect.skip
    const long = { timeout: Browsing.patience }

    test(
      "leads a manager from a failing batch to the sign-off",
      () =>
        Effect.gen(function* () {
          const code = yield* processedSupplier
          yield* inBrowser((page, link) => journey(page, link, code))
        }),
      long
    )

    test(
      "takes a wave back, from its cohort to the finished batch",
      () =>
        Effect.gen(function* () {
          isStored = true
          const code = yield* processedSupplier
          yield* inBrowser(async (page, link) => {
            await signIn(page, link)
            await undoes(page, code)
          })
        }),
      long
    )

    test(
      "shows an invited person the migration of the supplier, and no other",
      () =>
        Effect.gen(function* () {
          isStored = false
          const code = yield* processedSupplier
          yield* formulaSupplier
          yield* inBrowser(async (page, link) => {
            await signIn(page, link)
            await invites(page, code)
          })
        }),
      long
    )

    test(
      "gives files with the figures of the page, in which a spreadsheet runs nothing",
      () =>
        Effect.gen(function* () {
          const code = yield* formulaSupplier
          yield* inBrowser(async (page, link) => {
            await signIn(page, link)
            await page.getByRole("link", { name: code, exact: true }).click()
            await headline(page, /2 of 3 imported/)
            await downloads(page, code)
          })
        }),
      long
    )
  }
)
