/**
 * The cookies of the board. Over https their names begin with `__Host-`, so that no other host can
 * set them, nor for one path only. Browsers accept such cookies over https only, so on this machine
 * the names are plain.
 */
import { Duration } from "effect"
import { HttpServerResponse } from "effect/http"
import type { PublicOrigin } from "./PublicOrigin.ts"

export type Name = "board" | "board-sign-in"

const nameAt = (name: Name, { isSecure }: PublicOrigin): string =>
  isSecure ? `__Host-${name}` : name

/** The value of the cookie, if the browser has sent it exactly once. */
export const valueOf = (
  header: string | undefined,
  name: Name,
  place: PublicOrigin
): string | undefined => {
  const wanted = `${nameAt(name, place)}=`
  const sent = (header ?? "").split(";").map((pair) => pair.trim())
  const values = sent.filter((pair) => pair.startsWith(wanted))
  return values.length === 1 ? values[0]?.slice(wanted.length) : undefined
}

/** The response with a cookie that ends with the browser, or after `maxAge`. */
export const set = <R extends HttpServerResponse.HttpServerResponse>(
  response: R,
  name: Name,
  value: string,
  place: PublicOrigin,
  maxAge?: Duration.Duration
): R =>
  HttpServerResponse.setCookieUnsafe(response, nameAt(name, place), value, {
    httpOnly: true,
    path: "/",
    sameSite: "lax",
    secure: place.isSecure,
    maxAge
  }) as R

/** The response that deletes the cookie. */
export const clear = <R extends HttpServerResponse.HttpServerResponse>(
  response: R,
  name: Name,
  place: PublicOrigin
): R => set(response, name, "", place, Duration.zero)
