/** Account numbers with characters that have a meaning in paths, through the whole system. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "@data-import/api/testing/Client"
import { freshSupplier, minimalAccount } from "@data-import/domain/testing/freshNames"
import { get as valueAt } from "@data-import/domain/testing/wire"
import { persistently } from "@data-import/server/testing/RunningService"
import { healthyWorld } from "./healthyWorld.ts"
import { tokenFor, wholeSystem, WholeSystem } from "./wholeSystem.ts"

const base = "/v1/data-import"
const numbers = ["~a/b", "~a%2Fb", "~ü \u{1F600}?#&+"]

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "an odd account number",
  (it) => {
    it.effect("is the same in bodies, paths and links", () =>
      Effect.gen(function* () {
        const { gatewayUrl } = yield* WholeSystem
        const { caller, keyOf, supplier } = yield* freshSupplier
        const token = yield* tokenFor(caller.organisation)
        const headers = { authorization: `Token ${token}`, "content-type": "application/json" }
        const get = (path: string) => send(gatewayUrl, { path, headers })
        for (const number of numbers) {
          const body = JSON.stringify({ payload: minimalAccount(keyOf(number)) })
          const path = `${base}/account-import-process/create-or-update/`
          const staged = yield* persistently(send(gatewayUrl, { path, headers, body }))
          expect(staged.status).toBe(201)
          const named = `${supplier.code}/${encodeURIComponent(number)}`
          const { json } = yield* get(`${base}/account-transfer-status/${named}/`)
          expect(json, number).toMatchObject({ status: "UNKNOWN" })
        }
        const listed: Array<unknown> = []
        const first = `${base}/pending-account-import-processes/${supplier.code}/?limit=1`
        for (let path = first; path !== "";) {
          const page = yield* get(path)
          listed.push(valueAt(page.json, [0, "external_account_number"]))
          path = /^<(.*)>/.exec(page.headers["link"] ?? "")?.[1] ?? ""
        }
        expect(listed.toSorted()).toEqual(numbers.toSorted())
      })
    )
  }
)
