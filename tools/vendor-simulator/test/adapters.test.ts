/** The payment adapters against the simulator, over real connections. */
import { Layer, ConfigProvider, Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { paymentVendorContract } from "@data-import/domain/testing/PaymentVendorContract"
import * as PaymentVendors from "@data-import/payments/PaymentVendors"
import * as VendorSimulator from "../VendorSimulator.ts"

const adapters = Layer.unwrap(
  Effect.map(VendorSimulator.VendorSimulator, ({ url }) =>
    PaymentVendors.layer.pipe(
      Layer.provide(
        ConfigProvider.layer(ConfigProvider.fromUnknown(VendorSimulator.settingsFor(url)))
      )
    )
  )
).pipe(Layer.provide([VendorSimulator.layer, FetchHttpClient.layer]))

paymentVendorContract("over HTTP", adapters)
