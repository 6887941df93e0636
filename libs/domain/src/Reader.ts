/**
 * Reads sound input: one pass over it by the checks and transformations of its schema, with nothing
 * kept of what is wrong. Input that is unsound, or that documents nothing of some member, is left
 * to the schema, which has the last word.
 */
import { Result, Schema, type SchemaAST } from "effect"
import { listElements } from "./Field.ts"

/** What a reader answers for input that it leaves to the schema. */
export const unsound: unique symbol = Symbol("unsound")

/** The decoded value, or `unsound`. */
export type Reader = (input: unknown) => unknown

/** The reader of what the schema decodes. */
export const readerOf = (schema: Schema.Codec<unknown, unknown>): Reader => readerOfAst(schema.ast)

const readerOfAst = (ast: SchemaAST.AST): Reader => {
  if (ast.encoding !== undefined) return transformed(ast, ast.encoding) ?? decoder(ast)
  if (hasEncodingChecks(ast)) return decoder(ast)
  return checked(ast.checks ?? [], ast, bare(ast) ?? decoder(ast))
}

const hasEncodingChecks = (ast: SchemaAST.AST): boolean =>
  "encodingChecks" in ast && ast.encodingChecks !== undefined

/** The schema itself, for what is not known here. */
const decoder = (ast: SchemaAST.AST): Reader => {
  const decode = Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(ast))
  return (input) => {
    const decoded = decode(input)
    return Result.isSuccess(decoded) ? decoded.success : unsound
  }
}

/** The reader of the type alone, without its checks. */
const bare = (ast: SchemaAST.AST): Reader | undefined => {
  switch (ast._tag) {
    case "String":
      return (input) => (typeof input === "string" ? input : unsound)
    case "Number":
      return (input) => (typeof input === "number" ? input : unsound)
    case "Boolean":
      return (input) => (typeof input === "boolean" ? input : unsound)
    case "Null":
      return (input) => (input === null ? null : unsound)
    case "Unknown":
      return (input) => input
    case "Objects":
      return ast.indexSignatures.length === 0 ? struct(ast.propertySignatures) : undefined
    case "Arrays": {
      const [element] = ast.rest
      return ast.elements.length === 0 && ast.rest.length === 1 && element !== undefined
        ? list(readerOfAst(element))
        : undefined
    }
    default:
      return undefined
  }
}

const struct = (signatures: ReadonlyArray<SchemaAST.PropertySignature>): Reader => {
  const fields = signatures.map(({ name, type }) => ({
    name: name as string,
    read: readerOfAst(type),
    optional: type.context?.isOptional === true
  }))
  return (input) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return unsound
    const output: Record<string, unknown> = {}
    let sent = 0
    for (const { name, optional, read } of fields) {
      const value = (input as Record<string, unknown>)[name]
      if (value !== undefined) {
        const decoded = read(value)
        if (decoded === unsound) return unsound
        output[name] = decoded
        sent++
      } else if (!optional || name in input) {
        return unsound
      }
    }
    // More members than were read are not documented.
    return Object.keys(input).length === sent ? output : unsound
  }
}

const list =
  (read: Reader): Reader =>
  (input) => {
    if (!Array.isArray(input) || input.length > listElements) return unsound
    const output: Array<unknown> = []
    for (let index = 0; index < input.length; index++) {
      const decoded = read(input[index])
      if (decoded === unsound) return unsound
      output.push(decoded)
    }
    return output
  }

const filtersOf = (check: SchemaAST.Check<never>): ReadonlyArray<SchemaAST.Filter<never>> =>
  check._tag === "Filter" ? [check] : check.checks.flatMap(filtersOf)

const checked = (
  checks: ReadonlyArray<SchemaAST.Check<never>>,
  ast: SchemaAST.AST,
  read: Reader
): Reader => {
  const filters = checks.flatMap(filtersOf)
  if (filters.length === 0) return read
  return (input) => {
    const value = read(input)
    if (value === unsound) return unsound
    for (const filter of filters) {
      if (filter.run(value as never, ast, {}) !== undefined) return unsound
    }
    return value
  }
}

/** What a transformation makes is of the type that it says, so that only checks are left. */
const transformed = (ast: SchemaAST.AST, links: SchemaAST.Encoding): Reader | undefined => {
  let read: Reader | undefined
  for (let index = links.length - 1; index >= 0; index--) {
    const link = links[index] as SchemaAST.Link
    if (link.to.encoding !== undefined || hasEncodingChecks(link.to)) return undefined
    const { transformation } = link
    if (transformation._tag !== "Transformation") return undefined
    const getter = transformation.decode
    const target = index === 0 ? ast : (links[index - 1] as SchemaAST.Link).to
    const source: Reader = read ?? readerOfAst(link.to)
    if (getter._tag === "Transform") {
      const { transform } = getter as { readonly transform: (value: unknown) => unknown }
      read = checked(target.checks ?? [], target, (input) => {
        const value = source(input)
        return value === unsound ? unsound : transform(value)
      })
    } else if (getter._tag === "Passthrough") {
      read = checked(target.checks ?? [], target, source)
    } else {
      return undefined
    }
  }
  return read
}
