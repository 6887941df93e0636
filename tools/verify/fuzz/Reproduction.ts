/** Shell commands that send the requests of a failed case to another local run. */
import { mkdirSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Case, Request, Who } from "./Case.ts"
import { isOneRequest } from "./Oracle.ts"
import { bytesOf, headersOf, type Target } from "./Wire.ts"

const folder = join(tmpdir(), "data-import-fuzz-cases")

/** Bodies up to this length stay on the command line; longer ones go into files. */
const shortest = 2_000

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const isPlain = (text: string): boolean => /^[\x20-\x7e\n]*$/.test(text)

const saved = (name: string, bytes: Uint8Array): string => {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, name)
  writeFileSync(file, bytes)
  return file
}

const bodyOption = (body: string | Uint8Array, name: string): string => {
  const text = Buffer.from(body as string).toString("utf8")
  return text.length <= shortest && isPlain(text)
    ? `--data-binary ${quoted(text)}`
    : `--data-binary @${saved(name, Buffer.from(body as string))}`
}

/** Whose token it is, as a variable of the shell. */
const variableOf = (who: Who): string => `$${who.toUpperCase()}`

const address = { host: "127.0.0.1", port: 8080 }

const named: Target = {
  port: address.port,
  tokenOf: (who) => (who === "nobody" ? null : variableOf(who))
}

const asCurl = (request: Request, name: string): string => {
  const { body, method, path } = request
  const headers = headersOf(request, named)
    .filter(([header]) => header !== "host" && header !== "content-length")
    .map(([header, value]) =>
      value.startsWith("Token $")
        ? `-H "${header}: ${value}"`
        : `-H ${quoted(`${header}: ${value}`)}`
    )
  const parts = [
    `curl -i --path-as-is -X ${quoted(method)} ${quoted(`http://127.0.0.1:8080${path}`)}`,
    ...headers,
    ...(body === undefined ? [] : [bodyOption(body, name)])
  ]
  return parts.join(" \\\n  ")
}

/** Comments on what a client does besides sending and reading. */
const mannersOf = ({
  bytesPerRead,
  halfClosed,
  smuggled,
  split
}: Request): ReadonlyArray<string> => [
  ...(smuggled === undefined ? [] : ["lengths hang on the token"]),
  ...(split === true ? ["the head, the empty line and the body apart"] : []),
  ...(halfClosed === true ? ["close the sending side"] : []),
  ...(bytesPerRead === undefined ? [] : [`read ${bytesPerRead} bytes at a time`])
]

/** Whether a command-line client would send it unchanged. */
const isOrdinary = (request: Request) => {
  const { framing = "length", headers, malformed, method, path } = request
  return (
    isOneRequest(request) &&
    malformed !== true &&
    mannersOf(request).length === 0 &&
    (framing === "length" || typeof framing === "object") &&
    isPlain(`${method}${path}${headers.flat().join("")}`)
  )
}

const asBytes = (request: Request, name: string): string => {
  const file = saved(name, bytesOf(request, named))
  const comments = ["write the token in place of its variable", ...mannersOf(request)]
  return `nc ${address.host} ${address.port} < ${file}   # ${comments.join("; ")}`
}

/** The commands that send the requests of a case, one after the other. */
export const commandsOf = ({ steps }: Case, name: string): ReadonlyArray<string> =>
  steps.map(({ request, times = 1 }, index) => {
    const file = `${name}-${index}`
    const command = isOrdinary(request) ? asCurl(request, file) : asBytes(request, file)
    return times === 1 ? command : `${command}   # ${times} times at once`
  })
