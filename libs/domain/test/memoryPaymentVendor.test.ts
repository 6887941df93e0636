import { layerMemory } from "../testing/memory/PaymentVendor.ts"
import { paymentVendorContract } from "../testing/PaymentVendorContract.ts"

paymentVendorContract("in memory", layerMemory)
