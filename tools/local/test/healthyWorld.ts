/** A world in which the vendors and the object store find everything. */
import type { World } from "./wholeSystem.ts"

const card = { brand: "visa", last4: "4242", exp_month: 12, exp_year: 2099 }

/** The object store has nothing while `isStored` is false. */
export const healthyWorld = (
  settings: World["settings"] = {},
  isStored: () => boolean = () => true
): World => ({
  vendor: (_incoming, response) => {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ type: "card", customer: "cus_1", card }))
  },
  store: (_incoming, response) => {
    if (isStored()) response.writeHead(200, { "content-length": "7", etag: '"e"' }).end()
    else response.writeHead(404).end()
  },
  storeCredentials: ["id", "secret"],
  settings: { PAYMENT_STRIPE_KEY: "sk_vendor", ...settings }
})
