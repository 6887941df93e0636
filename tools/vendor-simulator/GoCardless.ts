/**
 * GoCardless, as far as direct debits go: its mandates and their bank accounts, in its own format.
 */
import type { Answer, SimulatedVendor } from "./Resource.ts"

const refusal = (status: number): Answer => ({
  status,
  body: {
    error: { type: "invalid_api_usage", code: status, message: "Simulated: this is refused." }
  }
})

const mandate = (id: string): Answer => {
  if (id.includes("missing")) return refusal(404)
  return {
    status: 200,
    body: {
      mandates: {
        id,
        created_at: "2025-01-01T12:00:00.000Z",
        reference: "SIMULATED-001",
        scheme: id.includes("fault_wrongtype") ? "faster_payments" : "bacs",
        status: id.includes("inactive") ? "cancelled" : "active",
        links: { customer_bank_account: "BA0001", creditor: "CR0001", customer: "CU0001" }
      }
    }
  }
}

const bankAccount = (id: string): Answer => ({
  status: 200,
  body: {
    customer_bank_accounts: {
      id,
      account_holder_name: "ADA LOVELACE",
      account_number_ending: "11",
      bank_name: "EXAMPLE BANK PLC",
      country_code: "GB",
      currency: "GBP",
      enabled: true,
      links: { customer: "CU0001" }
    }
  }
})

const collections = new Map([
  ["mandates", mandate],
  ["customer_bank_accounts", bankAccount]
])

export const goCardless: SimulatedVendor = {
  refusal,
  get: ([collection = "", id, ...more], headers) => {
    const find = collections.get(collection)
    if (find === undefined || id === undefined || more.length > 0) return undefined
    if (!/^Bearer .+$/.test(String(headers["authorization"]))) return refusal(401)
    return headers["gocardless-version"] === "2015-07-06" ? find(id) : refusal(400)
  }
}
