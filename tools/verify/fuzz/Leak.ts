/**
 * What no answer may reveal: how the service is built, paths of its files, its SQL, and secrets. An
 * answer may repeat what was sent.
 */
import { isWire } from "@data-import/domain/testing/wire"

/** Each part is of a limited length, because an answer may repeat a text that is very long. */
const leakPatterns: Readonly<Record<string, RegExp>> = {
  "a stack": /\n\s{1,40}at\s\S|\bat \S{1,80} \(\S{1,200}:\d+:\d+\)|node:internal/,
  "a source file": /(?:file:\/\/|\/)[\w./-]{1,100}\.(?:m?[jt]s|node)\b/,
  "a path": /\/(?:tmp|work|home|root|usr|var|etc|proc)\/[\w.-]/,
  "a module": /node_modules|@effect\/|effect\/|undici|graphql-js/,
  SQL: /\b(?:select|insert|update|delete)\b[^.]{0,80}\b(?:from|into|set|where)\b|\bSQLSTATE\b/i,
  "a database error":
    /\b(?:relation|column|constraint|syntax error at)\b.{0,40}"|\bpg_\w|PostgreSQL|PostgresError|SqlError/,
  "an internal tag": /"_tag"|\b_tag\b|FiberFailure|Cause\(|\[object Object\]|undefined$/
}

const secretForms: Readonly<Record<string, RegExp>> = {
  "an API key": /\bsk_[\w-]{20}/,
  "a refresh token": /\brt_[\w-]{20}/,
  "an access token": /\beyJ[\w-]{10,400}\.[\w-]{10,400}\.[\w-]{10}/,
  "a database address": /\bpostgres(?:ql)?:\/\//
}

const all = Object.entries({ ...leakPatterns, ...secretForms })

/** Every text of a JSON value, names of members included. */
const textsOf = (value: unknown, texts: Array<string> = []): ReadonlyArray<string> => {
  if (typeof value === "string") texts.push(value)
  else if (Array.isArray(value)) for (const element of value) textsOf(element, texts)
  else if (isWire(value)) {
    for (const [name, member] of Object.entries(value)) {
      texts.push(name)
      textsOf(member, texts)
    }
  }
  return texts
}

/** The tokens in the answer to a token request are not a leak. */
const withoutTokens = (value: unknown): unknown => {
  if (!isWire(value) || !isWire(value["data"])) return value
  const obtained = Object.values(value["data"]).filter(isWire)
  return obtained.some((it) => Object.hasOwn(it, "refreshToken")) ? null : value
}

interface Exposed {
  /** The body of the answer, parsed if it is JSON, otherwise its text. */
  readonly answer: unknown
  /**
   * Everything that was sent: the bytes and, if the body is JSON, its texts. Computed only if an
   * answer matches a pattern, because a large body has many texts.
   */
  readonly sent: () => ReadonlyArray<string>
  readonly secrets: ReadonlyArray<string>
}

/** What an answer reveals and should not. */
export const leaks = ({ answer, secrets, sent }: Exposed): ReadonlyArray<string> =>
  textsOf(withoutTokens(answer)).flatMap((text) => {
    const secret = secrets.some((it) => text.includes(it)) ? ["the answer reveals a secret"] : []
    const found = all.flatMap(([name, form]) => {
      const [match] = form.exec(text) ?? []
      if (match === undefined || sent().some((it) => it.includes(match))) return []
      return [`the answer reveals ${name}: ${match.slice(0, 120)}`]
    })
    return [...secret, ...found]
  })

/** What was sent, for `leaks`. */
export const sentTexts = (
  target: string,
  body: string | Uint8Array | undefined
): ReadonlyArray<string> => {
  const text = body === undefined ? "" : Buffer.from(body as string).toString("utf8")
  try {
    return textsOf(JSON.parse(text), [target, text])
  } catch {
    return [target, text]
  }
}
