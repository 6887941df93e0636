/**
 * Samples for every operation of the reference, in curl, TypeScript and Python, made from the
 * examples of the document. They need only the standard tools of each language, and take the
 * address and the token from the environment, like the samples of the guide.
 */
import type { Json } from "@data-import/api/ExtensibleResponses"

interface Request {
  readonly method: string
  /** With the example values of its parameters. */
  readonly path: string
  readonly needsToken: boolean
  /** The media type and the text of the body. */
  readonly body: readonly [type: string, text: string] | null
}

interface Sample {
  readonly lang: string
  readonly label: string
  readonly source: string
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const indented = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`)

const curl = ({ body, method, needsToken, path }: Request): string => {
  const isUsual = method === (body === null ? "GET" : "POST")
  const parts = [
    `curl ${isUsual ? "" : `-X ${method} `}"$DATA_IMPORT_URL${path}"`,
    ...(needsToken ? ['-H "Authorization: Token $TOKEN"'] : []),
    ...(body === null ? [] : [`-H 'Content-Type: ${body[0]}'`, `--data-binary ${quoted(body[1])}`])
  ]
  return parts.join(" \\\n  ")
}

const typescript = ({ body, method, needsToken, path }: Request): string => {
  const headers = [
    ...(needsToken ? ["    Authorization: `Token ${process.env.TOKEN}`"] : []),
    ...(body === null ? [] : [`    "Content-Type": "${body[0]}"`])
  ]
  const isJson = body?.[0] === "application/json"
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}"`]),
    ...(headers.length > 0 ? [`  headers: {\n${headers.join(",\n")}\n  }`] : []),
    ...(body === null
      ? []
      : [
          isJson
            ? `  body: JSON.stringify(${indented(body[1], "  ")})`
            : `  body: ${JSON.stringify(body[1])}`
        ])
  ]
  const init = options.length > 0 ? `, {\n${options.join(",\n")}\n}` : ""
  return [
    `const url = \`\${process.env.DATA_IMPORT_URL}${path}\``,
    `const response = await fetch(url${init})`,
    "console.log(response.status, await response.text())"
  ].join("\n")
}

/** JSON as a literal of Python. */
const pythonLiteral = (json: string): string =>
  json.replaceAll(/"(?:\\.|[^"\\])*"|\b(?:true|false|null)\b/g, (token) =>
    token === "true" ? "True" : token === "false" ? "False" : token === "null" ? "None" : token
  )

const python = ({ body, method, needsToken, path }: Request): string => {
  const isJson = body?.[0] === "application/json"
  const headers = [
    ...(needsToken ? [`        "Authorization": f"Token {os.environ['TOKEN']}"`] : []),
    ...(body === null ? [] : [`        "Content-Type": "${body[0]}"`])
  ]
  const data =
    body && (isJson ? "json.dumps(body).encode()" : `${JSON.stringify(body[1])}.encode()`)
  const named = [
    `    os.environ["DATA_IMPORT_URL"] + ${JSON.stringify(path)}`,
    ...(method === "GET" ? [] : [`    method="${method}"`]),
    ...(headers.length > 0 ? [`    headers={\n${headers.join(",\n")}\n    }`] : []),
    ...(data === null ? [] : [`    data=${data}`])
  ]
  return [
    ...(isJson ? ["import json"] : []),
    "import os",
    "import urllib.error",
    "import urllib.request",
    "",
    ...(isJson && body !== null ? [`body = ${pythonLiteral(body[1])}`] : []),
    `request = urllib.request.Request(\n${named.join(",\n")}\n)`,
    "try:",
    "    response = urllib.request.urlopen(request)",
    "except urllib.error.HTTPError as refused:",
    "    response = refused",
    "print(response.status, response.read().decode())"
  ].join("\n")
}

const samplesOf = (request: Request): ReadonlyArray<Sample> => [
  { lang: "shell", label: "curl", source: curl(request) },
  { lang: "typescript", label: "TypeScript", source: typescript(request) },
  { lang: "python", label: "Python", source: python(request) }
]

interface Parameter {
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
  readonly example?: unknown
}

interface Operation {
  readonly security?: ReadonlyArray<unknown>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }>
    >
  }
}

const filled = (path: string, parameters: ReadonlyArray<Parameter>): string => {
  const valueOf = ({ example }: Parameter) => encodeURIComponent(String(example))
  const inPath = new Map(parameters.map((parameter) => [parameter.name, valueOf(parameter)]))
  const query = parameters.filter((it) => it.in === "query" && it.required === true)
  const search = query.map((parameter) => `${parameter.name}=${valueOf(parameter)}`).join("&")
  const target = path.replaceAll(/\{(\w+)\}/g, (all, name: string) => inPath.get(name) ?? all)
  return search === "" ? target : `${target}?${search}`
}

const bodyOf = ({ requestBody }: Operation): Request["body"] => {
  const [first] = Object.entries(requestBody?.content ?? {})
  const [example] = Object.values(first?.[1].examples ?? {})
  if (first === undefined || example === undefined) return null
  const [type] = first
  const isJson = type === "application/json"
  return [type, isJson ? JSON.stringify(example.value, null, 2) : JSON.stringify(example.value)]
}

const withSamples = (path: string, method: string, operation: Operation) => ({
  ...operation,
  "x-codeSamples": samplesOf({
    method: method.toUpperCase(),
    path: filled(path, operation.parameters ?? []),
    needsToken: (operation.security ?? []).length > 0,
    body: bodyOf(operation)
  })
})

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

/** The document with samples in each operation. */
export const withCodeSamples = (document: Json): Json => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(document["paths"] as Paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [
          method,
          withSamples(path, method, operation)
        ])
      )
    ])
  )
})
