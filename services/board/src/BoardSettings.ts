/** The settings of the board. */
import { Config, Duration } from "effect"
import type { SessionTimes } from "@data-import/domain/auth/BoardAccess"
import * as Settings from "@data-import/domain/support/Settings"

const isLoopback = ({ hostname }: URL): boolean =>
  ["localhost", "127.0.0.1", "[::1]"].includes(hostname)

/** An origin alone. Without https, cookies could be read on the way. */
const isOrigin = (url: URL): boolean =>
  (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))) &&
  url.href === `${url.origin}/`

/** The address at which people come to the board. */
export const publicUrl = Settings.setting("BOARD_PUBLIC_URL", {
  allowed: "https://host, without a path; or http:// on this machine",
  parse: (text) => {
    const url = URL.parse(text)
    return url !== null && isOrigin(url) ? url : undefined
  },
  show: (text) => text.replace(/^.*@/s, "…@")
})

export const sessionTimes: Config.Config<SessionTimes> = Config.all({
  idle: Settings.duration("BOARD_SESSION_IDLE", { minimum: "1 minute", maximum: "24 hours" }).or(
    Duration.minutes(30)
  ),
  absolute: Settings.duration("BOARD_SESSION_LENGTH", {
    minimum: "1 minute",
    maximum: "7 days"
  }).or(Duration.hours(12))
})
