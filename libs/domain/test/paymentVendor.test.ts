import { layerMemory } from "../ports/memory/PaymentVendor.ts"
import { paymentVendorContract } from "../testing/PaymentVendorContract.ts"

paymentVendorContract("in memory", layerMemory)
