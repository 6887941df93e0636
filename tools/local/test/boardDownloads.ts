/**
 * Files of the board, downloaded in a real Chromium from the whole system: the figures match the
 * page, and a spreadsheet executes no formula. `board.test.ts` runs this.
 */
import { readFile } from "node:fs/promises"
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "@data-import/api/testing/Client"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { freshSupplier, hex, minimalAccount } from "@data-import/domain/testing/freshNames"
import { persistently } from "@data-import/server/testing/RunningService"
import type { Page } from "playwright-core"
import { extractText, getDocumentProxy } from "unpdf"
import { tokenFor, WholeSystem } from "./wholeSystem.ts"

const root = "/v1/data-import/account-import-process"
const team = "Migration Team"

/** Account numbers that a spreadsheet would take for formulas, and their form in the CSV. */
const numbers = {
  "=HYPERLINK(1)": "'=HYPERLINK(1)",
  "+1,2": `"'+1,2"`,
  "@SUM(A1)": "'@SUM(A1)"
}

/** A supplier whose code is a formula too: two accounts with a balance, and one that is staged. */
export const formulaSupplier = Effect.gen(function* () {
  const { gatewayUrl } = yield* WholeSystem
  const setup = yield* Configuration
  yield* Effect.ignore(setup.createTeam(team))
  const { caller, supplier } = yield* freshSupplier
  const code = SupplierCode.make(`=1+${hex(16)}`)
  yield* setup.createSupplier({ ...supplier, code, documentRoot: hex(16) })
  const token = yield* tokenFor(caller.organisation)
  const headers = { authorization: `Token ${token}`, "content-type": "application/json" }
  const ask = (path: string, payload: unknown) =>
    persistently(
      send(gatewayUrl, { path: root + path, headers, body: JSON.stringify({ payload }) })
    )
  for (const [index, number] of Object.keys(numbers).entries()) {
    const external_account_number = ExternalAccountNumber.make(number)
    const account = minimalAccount({ import_supplier: code, external_account_number })
    const staged = yield* ask("/create-or-update/", { ...account, transfer_balance: -617.28 })
    expect(staged.status).toBe(201)
    if (index === 2) break
    const processing = {
      import_supplier: account.import_supplier,
      external_account_number,
      operations_team_name: team
    }
    expect((yield* ask("/process/", processing)).status).toBe(201)
  }
  return code
})

/** Clicks a link, and returns the download. */
const downloaded = async (page: Page, name: string) => {
  const link = page.getByRole("link", { name, exact: true })
  const path = new URL((await link.getAttribute("href")) ?? "", page.url()).href
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()])
  // A download is not a response of the page, so its media type is requested separately.
  const response = await page.request.get(path)
  return {
    name: download.suggestedFilename(),
    type: response.headers()["content-type"],
    text: await readFile(await download.path(), "latin1")
  }
}

/** The counts and amounts on the page, by their names in the summary. */
const figuresOf = async (page: Page) => {
  const states = page.getByLabel("Accounts by state").locator("div")
  const counts = await states.evaluateAll((parts) =>
    parts.map((part) => [
      part.querySelector("dt")?.innerText.replace(/^[+=]\s*/, "") ?? "",
      part.querySelector("dd a")?.textContent ?? ""
    ])
  )
  const money = await page
    .locator("#money tr")
    .evaluateAll((rows) =>
      rows.map((row) => [
        row.querySelector("th")?.innerText ?? "",
        row.querySelector("td:last-child")?.textContent ?? ""
      ])
    )
  return Object.fromEntries([...counts, ...money]) as Readonly<Record<string, string>>
}

const plain = (shown: string | undefined): string =>
  (shown ?? "").replaceAll(",", "").replaceAll("−", "-")

/** Each name in the summary, and what the page calls it. */
const names = {
  PENDING: "Pending",
  FAILED: "Failed",
  IN_PROGRESS: "In progress",
  IMPORTED: "Imported",
  Total: "All",
  "Accounts without ledgers": "Accounts without ledgers",
  "Added after the import": "Transactions added after the import",
  "All accounts": "Balance of all accounts"
}

const rowsOfCsv = (text: string) =>
  text
    .trimEnd()
    .split("\r\n")
    .map((line) => line.split(",").slice(1))

/** What a PDF of the board shows, of which each row is a label and a value. */
const textOfPdf = async (bytes: string): Promise<string> => {
  const pdf = await getDocumentProxy(new Uint8Array(Buffer.from(bytes, "latin1")))
  return (await extractText(pdf, { mergePages: true })).text
}

/** On the page of the supplier. */
export const downloads = async (page: Page, code: string) => {
  const safe = code.replaceAll(/[=+]/g, "_")
  const shown = await figuresOf(page)
  const figures = Object.entries(names).map(([name, word]) => [name, plain(shown[word])])
  expect(shown["Balance of all accounts"]).toMatch(/1,234\.56/)

  const csv = await downloaded(page, "CSV")
  expect([csv.name, csv.type]).toEqual([`${safe}-summary.csv`, "text/csv; charset=utf-8"])
  expect(rowsOfCsv(csv.text)).toEqual(expect.arrayContaining(figures))
  expect(csv.text).toContain(`Import supplier,'${code}\r\n`)

  const pdf = await downloaded(page, "PDF")
  expect([pdf.name, pdf.type]).toEqual([`${safe}-summary.pdf`, "application/pdf"])
  expect(pdf.text).toMatch(/^%PDF-1\.\d\n[^]*%%EOF\n$/)
  const printed = plain(await textOfPdf(pdf.text))
  for (const row of [...figures, ["Import supplier", code]])
    expect(printed).toContain(row.join(" "))

  await page.getByRole("link", { name: "Who did what" }).click()
  const audit = page.locator("main tbody tr")
  await audit.first().waitFor()
  const exported = await downloaded(page, "Export as CSV")
  expect([exported.name, exported.type]).toEqual(["audit.csv", "text/csv; charset=utf-8"])
  const lines = exported.text.trimEnd().split("\r\n").slice(1)
  expect(lines).toHaveLength(await audit.count())
  for (const number of Object.values(numbers)) {
    expect(exported.text).toContain(`,'${code},${number},`)
  }
}
