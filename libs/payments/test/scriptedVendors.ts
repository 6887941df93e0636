/**
 * The adapters on a scripted HTTP client: no sockets, no waiting, and every request counted. Real
 * connections are tested against the simulator, which is a tool.
 */
import { ConfigProvider, Effect, Layer, Result } from "effect"
import {
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse
} from "effect/http"
import { PaymentVendor } from "@data-import/domain/payments/PaymentVendor"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { PaymentInstruction } from "@data-import/domain/accounts/PaymentInstruction"
import * as PaymentVendors from "../src/PaymentVendors.ts"

export const stripeKey = "sk_live_canary"
export const goCardlessKey = "live_canary"

export const settings: Readonly<Record<string, string>> = {
  PAYMENT_STRIPE_URL: "https://stripe.test",
  PAYMENT_STRIPE_KEY: stripeKey,
  PAYMENT_GOCARDLESS_URL: "https://gocardless.test/prefix/",
  PAYMENT_GOCARDLESS_KEY: goCardlessKey
}

/** A failing effect is the cause of a failed connection. */
export type Script = (
  url: URL,
  request: HttpClientRequest.HttpClientRequest
) => Effect.Effect<Response, unknown>

export const layerOf = (script: Script, values: Readonly<Record<string, string>> = settings) => {
  const client = HttpClient.make((request, url) =>
    script(url, request).pipe(
      Effect.map((response) => HttpClientResponse.fromWeb(request, response)),
      Effect.mapError((cause) => {
        const reason = new HttpClientError.TransportError({ request, cause })
        return new HttpClientError.HttpClientError({ reason })
      })
    )
  )
  return PaymentVendors.layer.pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, client)),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(values)))
  )
}

export const json = (body: unknown, status = 200): Response => Response.json(body, { status })

export const status = (code: number): Response => new Response(null, { status: code })

export const card = { brand: "visa", last4: "4242", exp_month: 12, exp_year: 2099 }
export const cardMethod = { id: "pm_1", type: "card", customer: "cus_1", card }

export const mandate = {
  id: "MD1",
  scheme: "bacs",
  status: "active",
  links: { customer_bank_account: "BA1" }
}
export const bankAccount = { id: "BA1", bank_name: "EXAMPLE BANK PLC" }

/** The answer of a working vendor, for any vendor. */
export const wellAnswer = (url: URL): Response => {
  if (url.host === "stripe.test") return json(cardMethod)
  return url.pathname.includes("mandates")
    ? json({ mandates: mandate })
    : json({ customer_bank_accounts: bankAccount })
}

export const byCard: PaymentInstruction = { vendor: "STRIPE", type: "CARD", reference: "pm_1" }
export const byMandate: PaymentInstruction = {
  vendor: "GOCARDLESS",
  type: "DIRECT_DEBIT",
  reference: "MD1"
}

export const acme = OrganisationName.make("acme")

/** The details, or the failure. */
export const verified = (instruction: PaymentInstruction, organisation = acme) =>
  Effect.flatMap(PaymentVendor, (vendor) =>
    Effect.map(Effect.result(vendor.verify(instruction, organisation, "live")), Result.merge)
  )
