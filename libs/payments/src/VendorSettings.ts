/**
 * The settings of one vendor, by the vendor's code: PAYMENT_<CODE>_URL (the
 * vendor's public address), PAYMENT_<CODE>_KEY (unset or empty: the vendor is not configured) and
 * PAYMENT_<CODE>_TIMEOUT (5 seconds), the time that one verification may take for all of its
 * requests.
 */
import { Config, Duration, type Option, type Redacted } from "effect"
import * as Settings from "@data-import/domain/support/Settings"
import type { VendorDefinition } from "./VendorDefinition.ts"

export interface VendorSettings {
  /** Without a slash at its end. */
  readonly url: string
  readonly key: Option.Option<Redacted.Redacted>
  readonly timeout: Duration.Duration
}

/** Whether a header can contain the key. */
const isKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/** The gateway gives up after 30 seconds, and the client must get an answer before that. */
const timeouts = { minimum: "1 millis", maximum: "20 seconds" } as const

/** The settings of this vendor. */
export const vendorSettings = ({ code, url }: VendorDefinition): Config.Config<VendorSettings> =>
  Config.all({
    url: Config.map(
      Settings.url(`PAYMENT_${code}_URL`, ["https:", "http:"]).or(new URL(url)),
      ({ href }) => href.replace(/\/+$/, "")
    ),
    key: Settings.secret(`PAYMENT_${code}_KEY`, "visible ASCII characters", isKey).optional,
    timeout: Settings.duration(`PAYMENT_${code}_TIMEOUT`, timeouts).or(Duration.seconds(5))
  })
