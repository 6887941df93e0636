import { layerMemory } from "../src/ports/memory/PaymentVendor.ts"
import { paymentVendorContract } from "../testing/PaymentVendorContract.ts"

paymentVendorContract("in memory", layerMemory)
