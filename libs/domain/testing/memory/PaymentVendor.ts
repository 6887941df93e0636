/** Payment vendors in memory: the simulated ones of test mode, for both modes. */
import { Layer } from "effect"
import { PaymentVendor } from "../../src/payments/PaymentVendor.ts"
import { simulate } from "../../src/payments/SimulatedVendors.ts"

export const layerMemory: Layer.Layer<PaymentVendor> = Layer.succeed(PaymentVendor, {
  verify: simulate
})
