/**
 * Reads the bodies of answers. Numbers stay exact, as in the service. Fields and values that a
 * newer service adds are accepted and kept; a missing field or one of another type is an error.
 * Source: docs/contract/README.md#versioning.
 */
import { Result, Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiSchema } from "effect/http-api"
import { parse } from "@data-import/domain/schema/Json"

/** A type that a newer service may extend: each list of values is open. */
export type Open<T> = T extends string
  ? string extends T
    ? T
    : T | (string & {})
  : T extends number | boolean | null | undefined
    ? T
    : T extends ReadonlyArray<infer Element>
      ? ReadonlyArray<Open<Element>>
      : T extends object
        ? { readonly [Key in keyof T]: Open<T[Key]> }
        : T

/** Text that may contain a number that a double cannot represent, inside a string or outside. */
const mayBeInexact = /[0-9.]{16}|[0-9][eE][+-]?[0-9]{3}/

/**
 * Text that may contain a key with an escape, which the platform's parser may confuse with another
 * key (https://github.com/nodejs/node/issues/63785).
 */
const mayHaveEscapedKey = /\\[^][^"\\]*"\s*:/

const unbounded = { depth: Infinity, elements: Infinity }

/**
 * JSON without loss; undefined if the text is not JSON. A number that a double cannot represent
 * keeps its spelling.
 */
export const parseExactly = (text: string): unknown => {
  if (mayBeInexact.test(text) || mayHaveEscapedKey.test(text)) {
    return Result.getOrUndefined(parse(text, unbounded))
  }
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const plain = (literal: SchemaAST.LiteralValue, context: SchemaAST.Context | undefined) => {
  const nothing = [undefined, undefined, undefined, context] as const
  switch (typeof literal) {
    case "string":
      return new SchemaAST.String(...nothing)
    case "boolean":
      return new SchemaAST.Boolean(...nothing)
    default:
      return new SchemaAST.Number(...nothing)
  }
}

/** The schema without checks and lists of values. */
const opened = (ast: SchemaAST.AST): SchemaAST.AST => {
  const nothing = [undefined, undefined, undefined, ast.context] as const
  switch (ast._tag) {
    case "Literal":
      return plain(ast.literal, ast.context)
    case "String":
      return new SchemaAST.String(...nothing)
    case "Number":
      return new SchemaAST.Number(...nothing)
    case "Union":
      return new SchemaAST.Union(ast.types.map(opened), undefined, ...nothing)
    case "Arrays":
      return new SchemaAST.Arrays(false, ast.elements.map(opened), ast.rest.map(opened), ...nothing)
    case "Objects":
      return new SchemaAST.Objects(
        ast.propertySignatures.map(
          ({ name, type }) => new SchemaAST.PropertySignature(name, opened(type))
        ),
        ast.indexSignatures.map(
          ({ parameter, type }) => new SchemaAST.IndexSignature(parameter, opened(type))
        ),
        ...nothing
      )
    default:
      return ast
  }
}

/** The value of a text, or what is wrong with it. */
export type Reader = (text: string) => Result.Result<unknown, string>

/**
 * Reads JSON of this schema in its open form. The value is what was sent, because the schemas of
 * answers describe the wire and transform nothing.
 */
const readerOf = ({ ast }: Schema.Top): Reader => {
  const check = Schema.decodeUnknownResult(
    Schema.make<Schema.Codec<unknown>>(opened(SchemaAST.toEncoded(ast)))
  )
  return (text) => {
    const value = parseExactly(text)
    if (value === undefined) return Result.fail("the body is not JSON")
    return Result.mapBoth(check(value), {
      onSuccess: () => value,
      // The message of a schema error names the path, and quotes no values.
      onFailure: ({ message }) => `the body is not as documented: ${message}`
    })
  }
}

/** How a success of an endpoint is read. */
export type Success =
  | { readonly _tag: "Empty" }
  | { readonly _tag: "Json"; readonly read: Reader }
  | { readonly _tag: "Lines"; readonly read: Reader }

const isLines = (schema: Schema.Top): schema is HttpApiSchema.StreamNdjson<Schema.Top> =>
  (schema as { readonly _tag?: unknown })._tag === "StreamNdjson"

const successOf = (schema: Schema.Top): Success =>
  SchemaAST.isVoid(SchemaAST.toType(schema.ast))
    ? { _tag: "Empty" }
    : { _tag: "Json", read: readerOf(schema) }

/** The successes of the endpoints of an API, by the endpoint's name and by status. */
export const successesOf = (
  api: HttpApi.Top
): ReadonlyMap<string, ReadonlyMap<number, Success>> => {
  const all = new Map<string, ReadonlyMap<number, Success>>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, successes }) => {
      const streams = [...endpoint.success].filter(isLines)
      all.set(
        endpoint.identifier,
        new Map([
          ...[...successes].map(([status, [schema]]) => [status, successOf(schema)] as const),
          ...streams.map(
            ({ schema }) => [200, { _tag: "Lines", read: readerOf(schema) } as const] as const
          )
        ])
      )
    }
  })
  return all
}
