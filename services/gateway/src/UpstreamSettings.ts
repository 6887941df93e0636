/** The settings of the gateway about the services behind it. */
import * as Settings from "@data-import/domain/support/Settings"

const isPlainHttp = (url: URL): boolean =>
  url.protocol === "http:" &&
  [url.username, url.password, url.search, url.hash].every((part) => part === "") &&
  url.pathname === "/"

/**
 * The addresses of the instances of a service. Only `http` is accepted: the gateway does not speak
 * TLS to services, and an `https` address must not be used unencrypted.
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
 * The timeout for the answer of a service, in seconds. It is shorter than the idle timeout of the
 * client's connection, on which nothing is sent meanwhile.
 */
export const answerSeconds = Settings.integer("UPSTREAM_TIMEOUT_SECONDS", {
  minimum: 1,
  maximum: 55
})

/** The most requests in progress of one client address. */
export const requestsPerAddress = Settings.integer("MAX_REQUESTS_PER_ADDRESS", {
  minimum: 1,
  maximum: 100_000
})
