/** Stripe, as far as saved cards go: its payment methods and setup intents, in its own format. */
import type { Answer, SimulatedVendor } from "./Resource.ts"

const refusal = (status: number): Answer => ({
  status,
  body: { error: { type: "invalid_request_error", message: "Simulated: this is refused." } }
})

const card = {
  brand: "visa",
  checks: { address_line1_check: null, cvc_check: "pass" },
  country: "GB",
  exp_month: 12,
  exp_year: 2099,
  fingerprint: "Xt5EWLLDS7FJjR1c",
  funding: "credit",
  last4: "4242"
}

const usBankAccount = { account_type: "checking", bank_name: "EXAMPLE BANK", last4: "6789" }

const paymentMethod = (id: string): Answer => {
  if (id.includes("missing")) return refusal(404)
  const body = {
    id,
    object: "payment_method",
    billing_details: { email: "ada@example.com", name: "Ada Lovelace", phone: null },
    created: 1_700_000_000,
    customer: id.includes("inactive") ? null : "cus_simulated",
    livemode: false
  }
  return {
    status: 200,
    body: id.includes("fault_wrongtype")
      ? { ...body, type: "us_bank_account", us_bank_account: usBankAccount }
      : { ...body, type: "card", card }
  }
}

const setupIntent = (id: string): Answer => {
  if (id.includes("missing")) return refusal(404)
  const isInactive = id.includes("inactive")
  const method = id.includes("fault_wrongtype") ? "pm_fault_wrongtype" : "pm_simulated"
  return {
    status: 200,
    body: {
      id,
      object: "setup_intent",
      client_secret: `${id}_secret_simulated`,
      customer: "cus_simulated",
      payment_method: isInactive ? null : method,
      status: isInactive ? "requires_payment_method" : "succeeded",
      usage: "off_session"
    }
  }
}

const collections = new Map([
  ["payment_methods", paymentMethod],
  ["setup_intents", setupIntent]
])

export const stripe: SimulatedVendor = {
  refusal,
  get: ([version, collection = "", id, ...more], { authorization }) => {
    const find = collections.get(collection)
    const isElsewhere = version !== "v1" || more.length > 0
    if (find === undefined || id === undefined || isElsewhere) return undefined
    return /^Bearer .+$/.test(String(authorization)) ? find(id) : refusal(401)
  }
}
