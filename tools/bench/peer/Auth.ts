/**
 * Authentication: verifies the token with the published keys, and checks that its API key is still
 * active. The caller of a header is cached for half a minute.
 */
import { readFileSync } from "node:fs"
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose"
import { Refusal } from "./Refusal.ts"

export interface Caller {
  readonly organisation: string
  readonly apiKey: string
  readonly scopes: ReadonlyArray<string>
}

const rememberedMillis = 30_000
const capacity = 10_000

const failed = () => new Refusal(401, "authentication_failed")

export const makeAuthorize = (jwksFile: string, isActive: (apiKey: string) => Promise<boolean>) => {
  const keys = createLocalJWKSet(JSON.parse(readFileSync(jwksFile, "utf8")) as JSONWebKeySet)
  const known = new Map<string, { readonly caller: Caller; readonly until: number }>()

  const verify = async (header: string) => {
    const token = /^(?:token|bearer) +([A-Za-z0-9._~+/=-]+) *$/i.exec(header)?.[1]
    if (token === undefined) throw failed()
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ["EdDSA"],
      typ: "at+jwt",
      issuer: "data-import",
      requiredClaims: ["exp", "sub", "jti"]
    }).catch(() => {
      throw failed()
    })
    const { exp = 0, jti = "", scope, sub = "" } = payload
    const apiKey = jti.slice(0, jti.lastIndexOf("."))
    if (!(await isActive(apiKey))) throw failed()
    const scopes = typeof scope === "string" ? scope.split(" ") : []
    const caller: Caller = { organisation: sub, apiKey, scopes }
    if (known.size >= capacity) known.clear()
    known.set(header, { caller, until: Math.min(exp * 1_000, Date.now() + rememberedMillis) })
    return caller
  }

  const permitted = (caller: Caller, scope: string): Caller => {
    if (!caller.scopes.includes(scope)) throw new Refusal(403, "permission_denied")
    return caller
  }

  /** A cached caller is returned synchronously, which costs no turn of the event loop. */
  return (header: string | undefined, scope: string): Caller | Promise<Caller> => {
    if (header === undefined) throw new Refusal(401, "not_authenticated")
    const entry = known.get(header)
    if (entry !== undefined && entry.until > Date.now()) return permitted(entry.caller, scope)
    return verify(header).then((caller) => permitted(caller, scope))
  }
}
