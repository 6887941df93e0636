/**
 * The OpenAPI document: the definitions, and what applies to every operation (the request id, the
 * headers and examples of errors, the limits). `openapi.json` is this document, committed, so that
 * a review shows every change of the contract.
 * Source: docs/contract/http.md#published-documents, docs/contract/errors.md#the-envelope.
 */
import { Context, Schema } from "effect"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup, OpenApi } from "effect/http-api"
import { type RequestCode, registry } from "@data-import/domain/codes/Code"
import type { Scope } from "@data-import/domain/suppliers/Organisation"
import { Api } from "./Api.ts"
import { scopeOf } from "./Authorization.ts"
import { withDescribedDefaults } from "./DescribedDefaults.ts"
import { describeError, ErrorCode, FieldError, lineCount, totalLines } from "./ErrorBody.ts"
import { limits } from "./Limits.ts"
import { headerComponents, headersOf, reference, type Sending } from "./OpenApiHeaders.ts"
import { AlsoAnswers, Docs, keyRefusalOf, type OperationDocs } from "./Operation.ts"
import { introduction } from "./Introduction.ts"
import { isJson, type Json, withExtensibleResponses } from "./ExtensibleResponses.ts"
import type { ErrorStatus } from "./StatusOfCode.ts"
import { errorExamples } from "./RefusalExamples.ts"

type Operation = OpenApi.OpenAPISpecOperation

const only = (code: RequestCode) =>
  Schema.optionalKey(Schema.String.annotate({ description: `With \`${code}\` only.` }))

const countWith = (codes: string) => Schema.optionalKey(lineCount(`With ${codes} only.`))

/** Any error, for clients that use one type for all. */
const AnyError = Schema.Struct({
  detail: Schema.String.annotate({ description: "For humans; the wording may change." }),
  code: ErrorCode,
  errors: Schema.optionalKey(
    Schema.Array(FieldError).annotate({ description: "Every broken rule, in payload order." })
  ),
  external_account_number: only("account_import_process_already_imported"),
  kraken_account_number: only("account_import_process_already_imported"),
  request_id: only("error"),
  line: countWith("`batch_line_differs`"),
  total_lines: Schema.optionalKey(totalLines),
  lines_received: countWith("`batch_line_count_mismatch` and `batch_line_gap`"),
  state: only("batch_state_conflict")
}).annotate({
  identifier: "Error",
  description: "The envelope of every error."
})

/** `members` merged into `rest`; undefined if a keyword would occur twice. */
const merged = (rest: Json, members: ReadonlyArray<unknown>): Json | undefined => {
  const out = { ...rest }
  for (const member of members) {
    if (!isJson(member) || Object.keys(member).some((key) => Object.hasOwn(out, key)))
      return undefined
    Object.assign(out, member)
  }
  return out
}

const alternatives = (member: unknown): ReadonlyArray<unknown> =>
  isJson(member) && Array.isArray(member["anyOf"]) && Object.keys(member).length === 1
    ? (member["anyOf"] as ReadonlyArray<unknown>)
    : [member]

/** The same schema without redundant nesting. */
const tidy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidy)
  if (!isJson(value)) return value
  const out: Json = Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, tidy(part)])
  )
  const { allOf, anyOf, ...rest } = out
  if (Array.isArray(allOf))
    return merged(anyOf === undefined ? rest : { ...rest, anyOf }, allOf) ?? out
  if (!Array.isArray(anyOf)) return out
  return (
    (anyOf.length === 1 && merged(rest, anyOf)) || { ...rest, anyOf: anyOf.flatMap(alternatives) }
  )
}

/** The names of the responses that most operations share. */
const commonNames: { readonly [Status in ErrorStatus]?: string } = {
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  408: "RequestTimeout",
  409: "Conflict",
  410: "Gone",
  413: "PayloadTooLarge",
  415: "UnsupportedMediaType",
  422: "UnprocessableContent",
  431: "HeadersTooLarge",
  429: "TooManyRequests",
  500: "UnexpectedError",
  503: "ServiceUnavailable"
}

/** The codes in the schema of an envelope. Any other body is a reference. */
const codesIn = (schema: unknown): ReadonlyArray<RequestCode> => {
  if (!isJson(schema)) return []
  if (Array.isArray(schema["anyOf"])) return schema["anyOf"].flatMap(codesIn)
  const { properties } = schema
  const code = isJson(properties) ? properties["code"] : undefined
  return isJson(code) ? (code["enum"] as ReadonlyArray<RequestCode>) : []
}

type Examples = Readonly<Record<string, unknown>>

/** By media type. */
type Content = Readonly<Record<string, { readonly schema?: unknown }>>

/** The content of a body; of NDJSON, schema and examples are those of one line. */
const body = (content: Content, examples: Examples) => ({
  content: Object.fromEntries(
    Object.entries(content).map(([type, { schema }]) => [type, { schema, examples }])
  )
})

const errorAnswer = (
  status: ErrorStatus,
  codes: ReadonlyArray<RequestCode>,
  schema: unknown,
  sending: Sending,
  own: Examples = {}
) => {
  const examples = Object.fromEntries(codes.map((code) => [code, reference("examples", code)]))
  return {
    description: describeError(status, codes),
    headers: headersOf(status, codes, sending),
    ...body({ "application/json": { schema } }, { ...examples, ...own })
  }
}

const isError = (status: number): status is ErrorStatus => status >= 400

/** The contents of text that a success may have instead, by their media types. */
const textContents = (endpoint: HttpApiEndpoint.Top): Examples =>
  Object.fromEntries(
    Object.entries(Context.get(endpoint.annotations, AlsoAnswers)).map(([type, example]) => [
      type,
      { schema: { type: "string" }, example }
    ])
  )

/** The responses of an operation. `common` collects those that are referred to by name. */
const answersOf = (
  operation: Operation,
  docs: OperationDocs & { readonly also: Examples },
  sending: Sending,
  common: Map<string, unknown>
) =>
  Object.fromEntries(
    Object.entries(operation.responses).map(([key, answer]): readonly [string, unknown] => {
      const status = Number(key)
      const own = docs.answers?.[status]
      if (!isError(status)) {
        const { content, description } = answer
        const headers = headersOf(status, [], sending, docs.headers?.[status])
        const sent = content && body(tidy(content) as Content, own ?? {})
        const all = sent && { content: { ...sent.content, ...docs.also } }
        return [key, { description, headers, ...all }]
      }
      const schema = tidy(answer.content?.["application/json"]?.schema)
      const error = errorAnswer(status, codesIn(schema), schema, sending, own)
      const name = commonNames[status]
      if (name === undefined) return [key, error]
      if (!common.has(name)) common.set(name, error)
      const isCommon = JSON.stringify(common.get(name)) === JSON.stringify(error)
      return [key, isCommon ? reference("responses", name) : error]
    })
  )

const parametersOf = (operation: Operation, docs: OperationDocs, takesKey: boolean) => [
  ...operation.parameters.map((parameter) => ({
    ...parameter,
    ...docs.parameters?.[parameter.name]
  })),
  ...Object.entries(docs.requestHeaders ?? {}).map(([name, header]) => ({
    name,
    in: "header",
    required: false,
    ...header
  })),
  ...(takesKey ? [reference("parameters", "IdempotencyKey")] : []),
  reference("parameters", "RequestId")
]

const scopeWords = (scope: Scope) => `Needs the scope \`${scope}\`.`

const describeOperation = (
  operation: Operation,
  endpoint: HttpApiEndpoint.Top,
  common: Map<string, unknown>
): Json => {
  const docs = Context.get(endpoint.annotations, Docs)
  const { description = "", operationId, requestBody, responses: _, summary, tags } = operation
  const scope = scopeOf(endpoint)
  const takesKey = keyRefusalOf(endpoint) !== null
  const words = [description, ...(scope === null ? [] : [scopeWords(scope)])]
  return {
    tags,
    operationId,
    summary,
    description: words.join("\n\n"),
    security: scope === null ? [] : [{ token: [scope] }, { bearer: [scope] }],
    parameters: parametersOf(operation, docs, takesKey),
    ...(requestBody && {
      requestBody: {
        required: true,
        ...body(requestBody.content, docs.requests ?? {})
      }
    }),
    responses: answersOf(
      operation,
      { ...docs, also: textContents(endpoint) },
      { takesKey, isCounted: scope !== null },
      common
    )
  }
}

type Definition<Groups extends HttpApiGroup.Constraint> = HttpApi.HttpApi<string, Groups>

const endpointsById = <Groups extends HttpApiGroup.Constraint>(
  api: Definition<Groups>
): ReadonlyMap<string, HttpApiEndpoint.Top> => {
  const endpoints = new Map<string, HttpApiEndpoint.Top>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      endpoints.set(endpoint.identifier, endpoint)
    }
  })
  return endpoints
}

const pathsOf = (
  spec: OpenApi.OpenAPISpec,
  endpoints: ReadonlyMap<string, HttpApiEndpoint.Top>,
  common: Map<string, unknown>
) => {
  return Object.fromEntries(
    Object.entries(spec.paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, operation]) => {
          const { operationId } = operation as Operation
          const endpoint = endpoints.get(operationId)
          if (endpoint === undefined) throw new Error(`No endpoint is called ${operationId}.`)
          return [method, describeOperation(operation as Operation, endpoint, common)]
        })
      )
    ])
  )
}

/** Schema keywords that annotations pass on unchanged. */
const keywords = new Set(["minItems", "maxItems", "pattern", "x-codes"])

const examplesOfErrors = Object.fromEntries(
  errorExamples.map((value) => {
    const { meaning, remedy } = registry[value.code]
    return [value.code, { summary: meaning, description: remedy, value }]
  })
)

/**
 * No operation has this response, because it is about an undefined method. It is listed for
 * clients.
 */
const methodNotAllowed = errorAnswer(405, ["method_not_allowed"], reference("schemas", "Error"), {
  takesKey: false,
  isCounted: false
})

const requestIdParameter = {
  name: "X-Request-Id",
  in: "header",
  required: false,
  description:
    "An id of your own for the request: 1 to 128 letters, digits, `-`, `_` and `.`. Another one is " +
    "replaced. It is in the answer, and the operator finds the request by it.",
  schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
  example: "0f9c1d52-wave-3"
}

const idempotencyKeyParameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "A key of your own for the request, so that it takes effect once however often it is sent: 1 " +
    "to 255 printable ASCII characters, as they are (without spaces, commas, quotes and " +
    "backslashes) or in double quotes. The same request under the same key is answered as the " +
    "first time, for 24 hours, and does nothing. A request that stored nothing runs anew. Keys of " +
    "other organisations do not matter.",
  schema: { type: "string" },
  example: "5f1c1f0a-7c1e-4a53-9f43-2f0f6a1f2b77"
}

/**
 * The first is an API key in the `Authorization` header, because OpenAPI has no `http` scheme named
 * `Token`.
 */
const securitySchemes = {
  token: {
    description:
      "`Token <ACCESS_TOKEN>`, with a token from the mutation `obtainServiceToken` of " +
      "`POST /v1/graphql/`; `Bearer <ACCESS_TOKEN>` is accepted as well. A token lives 60 minutes.",
    type: "apiKey",
    name: "Authorization",
    in: "header"
  },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "The same token as `Bearer <ACCESS_TOKEN>`."
  }
}

/** The document of a definition, as plain JSON. It is deterministic. */
export const documentOf = <Groups extends HttpApiGroup.Constraint>(
  api: Definition<Groups>
): Json => {
  const spec = OpenApi.fromApi(api.annotate(HttpApi.AdditionalSchemas, [AnyError]), {
    includeAnnotationKey: (key) => keywords.has(key)
  })
  const common = new Map<string, unknown>([["MethodNotAllowed", methodNotAllowed]])
  const { paths, responses, schemas } = withExtensibleResponses({
    paths: pathsOf(spec, endpointsById(api), common),
    responses: Object.fromEntries(common),
    schemas: withDescribedDefaults(tidy(spec.components.schemas) as Json)
  })
  return {
    openapi: spec.openapi,
    info: {
      title: "Data Import",
      version: "1.0.0",
      summary:
        "Moves customer accounts from an external supplier onto a customer-accounts platform.",
      description: introduction,
      license: { name: "MIT", identifier: "MIT" }
    },
    servers: [{ url: "/", description: "Where this document is served." }],
    "x-limits": limits,
    tags: spec.tags,
    paths,
    components: {
      schemas,
      responses,
      parameters: { IdempotencyKey: idempotencyKeyParameter, RequestId: requestIdParameter },
      headers: headerComponents,
      examples: examplesOfErrors,
      securitySchemes
    }
  }
}

/** The published document. */
export const document = (): Json => documentOf(Api)
