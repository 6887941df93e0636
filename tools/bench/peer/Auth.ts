/**
 * Authentication: verifies the token with the published keys, and asks whether its API key is still
 * active. Both answers are cached for half a minute.
 */
import { readFileSync } from "node:fs"
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose"
import { Refusal } from "./Refusal.ts"

export interface Caller {
  readonly organisation: string
  readonly apiKey: string
  readonly scopes: ReadonlyArray<string>
}

const cacheMillis = 30_000
const capacity = 10_000

/** Keeps what was found for a while; a failure is not kept. */
const cached = <A>(find: (key: string) => Promise<A>) => {
  const entries = new Map<string, { readonly value: A; readonly until: number }>()
  return async (key: string): Promise<A> => {
    const known = entries.get(key)
    if (known !== undefined && known.until > Date.now()) return known.value
    const value = await find(key)
    if (entries.size >= capacity) entries.clear()
    entries.set(key, { value, until: Date.now() + cacheMillis })
    return value
  }
}

const failed = () => new Refusal(401, "authentication_failed")

export const makeAuthorize = (jwksFile: string, isActive: (apiKey: string) => Promise<boolean>) => {
  const keys = createLocalJWKSet(JSON.parse(readFileSync(jwksFile, "utf8")) as JSONWebKeySet)
  const isActiveKey = cached(isActive)

  const verify = cached(async (token: string) => {
    const verified = await jwtVerify(token, keys, {
      algorithms: ["EdDSA"],
      typ: "at+jwt",
      issuer: "data-import",
      requiredClaims: ["exp", "sub", "jti"]
    }).catch(() => {
      throw failed()
    })
    const { exp = 0, jti = "", scope, sub = "" } = verified.payload
    return {
      organisation: sub,
      apiKey: jti.slice(0, jti.lastIndexOf(".")),
      scopes: typeof scope === "string" ? scope.split(" ") : [],
      expiresAt: exp * 1000
    }
  })

  /** @throws Refusal */
  return async (header: string | undefined, scope: string): Promise<Caller> => {
    if (header === undefined) throw new Refusal(401, "not_authenticated")
    const token = /^(?:token|bearer) +([A-Za-z0-9._~+/=-]+) *$/i.exec(header)?.[1]
    if (token === undefined) throw failed()
    const caller = await verify(token)
    if (caller.expiresAt <= Date.now()) throw failed()
    if (!(await isActiveKey(caller.apiKey))) throw failed()
    if (!caller.scopes.includes(scope)) throw new Refusal(403, "permission_denied")
    return caller
  }
}
