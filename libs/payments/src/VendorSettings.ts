/**
 * What the operator says of one vendor. Settings, by the vendor's code: PAYMENT_<CODE>_URL (the
 * vendor's public address), PAYMENT_<CODE>_KEY (unset or empty: the vendor is not configured) and
 * PAYMENT_<CODE>_TIMEOUT (5 seconds), the time that one verification may take, however many
 * requests it needs.
 */
import { Config, Duration, Option, Redacted, Schema } from "effect"
import type { Vendor } from "./Vendor.ts"

export interface VendorSettings {
  /** Without a slash at its end. */
  readonly url: string
  readonly key: Option.Option<Redacted.Redacted>
  readonly timeout: Duration.Duration
}

const Address = Schema.URLFromString.check(
  Schema.makeFilter(
    ({ hash, password, protocol, search, username }) =>
      (protocol === "https:" || protocol === "http:") &&
      [hash, password, search, username].every((part) => part === ""),
    { expected: "the address of an HTTP API, without credentials, query or fragment" }
  )
)

/** As a header takes it. The text of a key that breaks this is not in the error. */
const Key = Schema.RedactedFromValue(
  Schema.String.check(Schema.isPattern(/^[\x21-\x7e]*$/, { expected: "visible ASCII" }))
)

/** The gateway gives up after 30 seconds, and the client is to learn what happened. */
const longest = Duration.seconds(20)

const Timeout = Schema.DurationFromString.check(
  Schema.makeFilter(
    (timeout) =>
      Duration.isGreaterThan(timeout, Duration.zero) &&
      Duration.isLessThanOrEqualTo(timeout, longest),
    { expected: "more than 0 and at most 20 seconds" }
  )
)

/** The settings of this vendor. */
export const vendorSettings = ({ code, url }: Vendor): Config.Config<VendorSettings> =>
  Config.all({
    url: Config.map(
      Config.withDefault(Config.schema(Address, `PAYMENT_${code}_URL`), new URL(url)),
      ({ href }) => href.replace(/\/+$/, "")
    ),
    key: Config.map(
      Config.option(Config.schema(Key, `PAYMENT_${code}_KEY`)),
      Option.filter((key) => Redacted.value(key) !== "")
    ),
    timeout: Config.withDefault(
      Config.schema(Timeout, `PAYMENT_${code}_TIMEOUT`),
      Duration.seconds(5)
    )
  })
