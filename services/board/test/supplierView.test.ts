/**
 * The role `supplier` at every endpoint: its own migration, nothing of others, and nothing of the
 * operator's people. Source: docs/contract/board.md#the-suppliers-view.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { forSuppliers } from "@data-import/api/board/ForSuppliers"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import {
  freshTestOrganisation,
  noon,
  supplierOf,
  testSupplierOf
} from "@data-import/domain/testing/freshNames"
import { complete } from "@data-import/domain/testing/importStates"
import { reverting } from "@data-import/domain/testing/RevertsContract"
import * as Board from "./BoardEndpoints.ts"
import { browserOf, codeOf, serviceWith, viewer } from "./boardService.ts"

const isAllowed = ({ identifier }: Board.Endpoint) =>
  identifier === Board.changes.identifier || forSuppliers.has(identifier)

/** A stream answers until its session ends; changes.test.ts reads it. */
const answering = Board.all.filter((each) => each !== Board.changes)

const suite = { excludeTestServices: true, timeout: "1 minute" } as const

layer(serviceWith({}), suite)("a user of a supplier", (it) => {
  it.effect("may change nothing but sign out", () =>
    Effect.sync(() => {
      expect(Board.writes.filter(isAllowed).map(({ identifier }) => identifier)).toEqual([
        "signOut"
      ])
    })
  )

  it.effect.each(answering)("$method $path is of its own supplier, or refused", (endpoint) =>
    Effect.gen(function* () {
      const mine = yield* Board.migration
      const sibling = supplierOf(mine.supplier.organisation)
      yield* (yield* Configuration).createSupplier(sibling)
      const beside = yield* Board.migrationOf({ ...mine, supplier: sibling })
      const foreign = yield* Board.migration
      const test = yield* freshTestOrganisation(mine.supplier.organisation)
      const testSupplier = testSupplierOf(test.name)
      yield* (yield* Configuration).createSupplier(testSupplier)
      const one = yield* browserOf(Board.ofSuppliers(mine.supplier.code))
      const token = yield* Board.tokenOf(one)
      const ask = (named: Board.Named) => Board.ask(one, endpoint, named, token)

      const others = [
        beside.named,
        foreign.named,
        { ...mine.named, supplier: testSupplier.code },
        { ...mine.named, supplier: sibling.code },
        Board.nowhere
      ]
      if (isAllowed(endpoint) && endpoint.path.includes(":")) {
        for (const named of others) {
          const refused = yield* ask(named)
          expect([refused.status, codeOf(refused)]).toEqual([404, "not_found"])
          expect(refused.text).toBe((yield* ask(Board.nowhere)).text)
        }
        const elsewhere = yield* ask({ ...foreign.named, supplier: mine.named.supplier })
        expect(elsewhere.text).not.toContain(foreign.named.batch)
      }
      const own = yield* ask(mine.named)
      if (isAllowed(endpoint)) {
        expect(own.status).toBe(Board.statuses[endpoint.identifier] ?? 200)
        expect(own.text).not.toContain(sibling.code)
        return
      }
      for (const named of [mine.named, ...others]) {
        const refused = yield* ask(named)
        expect([refused.status, refused.text]).toEqual([403, own.text])
        expect(codeOf(refused)).toBe("permission_denied")
      }
    })
  )
})

const mark = "Zoe Marked"

/** A migration on which a manager has done and written all that there is. */
const marked = Effect.gen(function* () {
  const made = yield* Board.migration
  const { caller, keyOf, named, supplier } = made
  const key = keyOf("a")
  const { number } = yield* complete(made, "a", noon)
  yield* reverting({ caller, key, number }, { reason: mark })
  const user = { ...Board.manager([supplier.organisation]), name: mark, subject: mark }
  const one = yield* browserOf(user)
  const token = yield* Board.tokenOf(one)
  const act = Effect.fnUntraced(function* (rest: string, body: object) {
    const path = `/board/api/migrations/${named.supplier}/${rest}`
    const answer = yield* one.post(path, token, JSON.stringify(body))
    expect([path, answer.status, answer.text]).toMatchObject([path, 200, expect.anything()])
  })
  const [batch_id, certificate_id, move_id] = [0, 1, 2].map(() => crypto.randomUUID())
  const of = { cohort: "wave-1", external_account_number: null }
  yield* act("comments/", { comment_id: crypto.randomUUID(), about: "comment", ...of, text: mark })
  yield* act("cohort/", { move_id, cohort: "wave-1", selection: {} })
  yield* act("certificates/", { certificate_id, cohort: null })
  yield* act("undo/", { batch_id, cohort: "wave-1", reason: mark, with_additions: false })
  yield* act("invitations/", { person: mark })
  yield* act("status/", { status: "Paused", reason: mark })
  const signOff = { import_supplier: named.supplier, accept_open: true, certificate_id: null }
  return {
    supplier,
    named: { ...named, batch: String(batch_id), certificate: String(certificate_id) },
    signOff: act("sign-off/", { ...signOff, reason: mark })
  }
})

layer(serviceWith({}), suite)("the supplier's view", (it) => {
  it.effect("names nobody of the operator, and repeats nothing that they have written", () =>
    Effect.gen(function* () {
      const { named, signOff, supplier } = yield* marked
      const reads = answering.filter((each) => isAllowed(each) && each.method === "GET")
      const telling = Effect.fnUntraced(function* (user: typeof viewer) {
        const one = yield* browserOf(user)
        const answers = yield* Effect.forEach(reads, (each) => Board.ask(one, each, named))
        return reads.flatMap(({ identifier }, index) =>
          answers[index]?.text.includes(mark) ? [identifier] : []
        )
      })
      const ofMigrations = ["listMigrations", "getMigration"]
      const own = { ...viewer, organisations: [supplier.organisation] }
      expect(yield* telling(own)).toEqual([
        ...ofMigrations,
        "getBoardBatch",
        "listBoardCertificates",
        "getBoardCertificate",
        "exportSummary",
        "getBoardAccount"
      ])
      expect(yield* telling(Board.ofSuppliers(supplier.code))).toEqual([])
      yield* signOff
      expect(yield* telling(own)).toEqual(expect.arrayContaining([...ofMigrations, "getSignOff"]))
      expect(yield* telling(Board.ofSuppliers(supplier.code))).toEqual([])
    })
  )
})
