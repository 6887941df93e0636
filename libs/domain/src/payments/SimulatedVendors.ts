/**
 * Simulated payment vendors: the words in a reference determine the answer, as in the vendor
 * simulator of the tools, so that a reference has the same meaning in test mode, in every test and
 * in the local run.
 * Source: docs/contract/sandbox.md#simulated-vendors.
 */
import { Effect } from "effect"
import type { InstructionDetails, PaymentInstruction } from "../accounts/PaymentInstruction.ts"
import { VendorRejected, VendorUnavailable, VendorUnreachable } from "./PaymentVendor.ts"

type VendorFailure = VendorRejected | VendorUnreachable | VendorUnavailable

const rejected = (reason: VendorRejected["reason"]) => () => new VendorRejected({ reason })
const unavailable = () => new VendorUnavailable({})
const unreachable = () => new VendorUnreachable({})

/** The first matching word decides. */
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

/** The types of each vendor, and the details of an active instruction. */
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

/** Whether the simulated vendor gives no answer in time. `simulate` does not wait. */
export const isSlow = ({ reference }: PaymentInstruction): boolean =>
  failures.find(([word]) => reference.includes(word))?.[0] === "slow"

/** The answer of STRIPE or GOCARDLESS. Every other vendor counts as not configured. */
export const simulate = ({ reference, type, vendor: code }: PaymentInstruction) =>
  Effect.suspend((): Effect.Effect<InstructionDetails, VendorFailure> => {
    const vendor = vendors.get(code)
    if (vendor === undefined) return Effect.fail(unreachable())
    if (type !== vendor.type) return Effect.fail(rejected("wrong_type")())
    const failure = failures.find(([word]) => reference.includes(word))
    return failure === undefined ? Effect.succeed(vendor.details) : Effect.fail(failure[1]())
  })
