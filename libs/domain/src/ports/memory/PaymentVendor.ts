/** Payment vendors in memory: the simulated ones of test mode, for both modes. */
import { Layer } from "effect"
import { PaymentVendor } from "../../payments/PaymentVendor.ts"
import { simulate } from "../../payments/SimulatedVendors.ts"

export const layerMemory: Layer.Layer<PaymentVendor> = Layer.succeed(PaymentVendor, {
  verify: simulate
})
