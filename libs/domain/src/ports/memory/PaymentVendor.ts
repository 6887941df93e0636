/**
 * Payment vendors in memory, which answer by words in the reference. The simulator of a vendor
 * (tools) goes by the same words, so that a reference means the same in every test and in the local
 * run.
 */
import { Effect, Layer } from "effect"
import type { InstructionDetails, PaymentInstruction } from "../../account/PaymentInstruction.ts"
import {
  PaymentVendor,
  VendorRejected,
  VendorUnavailable,
  VendorUnreachable
} from "../PaymentVendor.ts"

type VendorFailure = VendorRejected | VendorUnreachable | VendorUnavailable

const rejected = (reason: VendorRejected["reason"]) => () => new VendorRejected({ reason })
const unavailable = () => new VendorUnavailable({})
const unreachable = () => new VendorUnreachable({})

/** The first word that the reference contains says what happens. */
const failures: ReadonlyArray<readonly [word: string, make: () => VendorFailure]> = [
  ["missing", rejected("unknown")],
  ["inactive", rejected("inactive")],
  ["down", unavailable],
  ["slow", unavailable],
  ["fault_wrongtype", rejected("wrong_type")],
  ["fault_unauthorized", rejected("credentials")],
  ["fault_forbidden", rejected("credentials")],
  ["fault_refused", rejected("refused")],
  ["fault_redirect", unreachable],
  ["fault_429", unavailable],
  ["fault_500", unavailable],
  ["fault_reset", unavailable],
  ["fault_garbage", unavailable],
  ["fault_unexpected", unavailable],
  ["fault_cut", unavailable],
  ["fault_truncated", unavailable],
  ["fault_huge", unavailable]
]

/** What each vendor offers, and answers of an active instruction. */
const vendors: ReadonlyMap<
  string,
  { readonly type: PaymentInstruction["type"]; readonly details: InstructionDetails }
> = new Map([
  [
    "STRIPE",
    {
      type: "CARD",
      details: {
        _tag: "Card",
        brand: "visa",
        lastFour: "4242",
        expiryMonth: 12,
        expiryYear: 2099
      }
    }
  ],
  [
    "GOCARDLESS",
    {
      type: "DIRECT_DEBIT",
      details: { _tag: "DirectDebit", bankName: "Example Bank", status: "active" }
    }
  ]
])

/** STRIPE and GOCARDLESS; every other vendor is one that nobody has configured. */
export const layerMemory: Layer.Layer<PaymentVendor> = Layer.succeed(PaymentVendor, {
  verify: ({ reference, type, vendor: code }) =>
    Effect.suspend((): Effect.Effect<InstructionDetails, VendorFailure> => {
      const vendor = vendors.get(code)
      if (vendor === undefined) return Effect.fail(unreachable())
      if (type !== vendor.type) return Effect.fail(rejected("wrong_type")())
      const failure = failures.find(([word]) => reference.includes(word))
      return failure === undefined ? Effect.succeed(vendor.details) : Effect.fail(failure[1]())
    })
})
