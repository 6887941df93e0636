/**
 * How the settings of a gateway name the services behind it. They stand here because a gateway
 * depends on this library and on no other that knows what a setting is.
 */
import * as Settings from "@data-import/domain/support/Settings"

const isPlainHttp = (url: URL): boolean =>
  url.protocol === "http:" &&
  [url.username, url.password, url.search, url.hash].every((part) => part === "") &&
  url.pathname === "/"

/**
 * The addresses of the instances of a service: `http` alone, since nothing here speaks TLS to a
 * service, and what is not supported must not go unencrypted to another port.
 */
export const upstreamUrls = (name: string): Settings.Setting<ReadonlyArray<URL>> =>
  Settings.setting(name, {
    allowed: "http://host:port, or several of these with commas between",
    parse: (text) => {
      const urls = text.split(",").map((one) => URL.parse(one.trim()))
      const allowed = urls.filter((url) => url !== null && isPlainHttp(url))
      return allowed.length === urls.length ? (allowed as ReadonlyArray<URL>) : undefined
    },
    show: (text) => text.replace(/^.*@/s, "…@")
  })

/**
 * After how many seconds a service that does not answer is given up: before the listener ends the
 * connection to the client, on which nothing moves meanwhile.
 */
export const answerSeconds = Settings.integer("UPSTREAM_TIMEOUT_SECONDS", {
  minimum: 1,
  maximum: 55
})

/** How many requests of one client address are worked on at once. */
export const requestsPerAddress = Settings.integer("MAX_REQUESTS_PER_ADDRESS", {
  minimum: 1,
  maximum: 100_000
})
