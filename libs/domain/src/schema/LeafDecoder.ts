/**
 * Decodes a single value by the checks and transformations of its schema, without reporting errors.
 */
import { Result, Schema, type SchemaAST, type SchemaGetter } from "effect"

/** What a decoder returns for a value that breaks its schema. */
export const invalid: unique symbol = Symbol("invalid")

/** Returns the decoded value, or `invalid`. */
export type Decoder = (input: unknown) => unknown

/** The decoder of a schema that is neither a struct nor a list. */
export const leafDecoderOf = (ast: SchemaAST.AST): Decoder => {
  if (ast.encoding !== undefined) return transformed(ast, ast.encoding) ?? bySchema(ast)
  if (hasEncodingChecks(ast)) return bySchema(ast)
  return checked(ast.checks ?? [], ast, unchecked(ast) ?? bySchema(ast))
}

const hasEncodingChecks = (ast: SchemaAST.AST): boolean =>
  "encodingChecks" in ast && ast.encodingChecks !== undefined

/** Falls back to the schema for types without a decoder here. */
const bySchema = (ast: SchemaAST.AST): Decoder => {
  const decode = Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(ast))
  return (input) => {
    const decoded = decode(input)
    return Result.isSuccess(decoded) ? decoded.success : invalid
  }
}

/** The decoder of the type alone, without its checks. */
const unchecked = (ast: SchemaAST.AST): Decoder | undefined => {
  switch (ast._tag) {
    case "String":
      return (input) => (typeof input === "string" ? input : invalid)
    case "Number":
      return (input) => (typeof input === "number" ? input : invalid)
    case "Boolean":
      return (input) => (typeof input === "boolean" ? input : invalid)
    case "Null":
      return (input) => (input === null ? null : invalid)
    case "Unknown":
      return (input) => input
    case "Union":
      return ast.options?.mode !== "oneOf" && ast.types.every(isLeaf)
        ? firstOf(decodersOf(ast.types))
        : undefined
    default:
      return undefined
  }
}

const isLeaf = (ast: SchemaAST.AST): boolean => ast._tag !== "Objects" && ast._tag !== "Arrays"

const isPlainNull = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Null" && ast.encoding === undefined

/** Null comes first unless another member accepts it, because they may take long to refuse it. */
const decodersOf = (types: ReadonlyArray<SchemaAST.AST>): ReadonlyArray<Decoder> => {
  const nulls = types.filter(isPlainNull).map(leafDecoderOf)
  const others = types.filter((type) => !isPlainNull(type)).map(leafDecoderOf)
  return others.some((decode) => decode(null) !== invalid)
    ? types.map(leafDecoderOf)
    : [...nulls, ...others]
}

const firstOf =
  (decoders: ReadonlyArray<Decoder>): Decoder =>
  (input) => {
    for (const decode of decoders) {
      const decoded = decode(input)
      if (decoded !== invalid) return decoded
    }
    return invalid
  }

const filtersOf = (check: SchemaAST.Check<never>): ReadonlyArray<SchemaAST.Filter<never>> =>
  check._tag === "Filter" ? [check] : check.checks.flatMap(filtersOf)

type Holds = (value: unknown) => boolean

/** Whether all tests hold. There are rarely more than three, and a loop costs more than they do. */
const allOf = (tests: ReadonlyArray<Holds>): Holds => {
  const [first, second, third, ...others] = tests
  if (first === undefined) return () => true
  if (second === undefined) return first
  if (third === undefined) return (value) => first(value) && second(value)
  const rest = allOf(others)
  return others.length === 0
    ? (value) => first(value) && second(value) && third(value)
    : (value) => first(value) && second(value) && third(value) && rest(value)
}

const holdsOf = (filter: SchemaAST.Filter<never>, ast: SchemaAST.AST): Holds =>
  (filter.annotations?.["holds"] as Holds | undefined) ??
  ((value) => filter.run(value as never, ast, {}) === undefined)

const checked = (
  checks: ReadonlyArray<SchemaAST.Check<never>>,
  ast: SchemaAST.AST,
  read: Decoder
): Decoder => {
  const tests = checks.flatMap(filtersOf).map((filter) => holdsOf(filter, ast))
  if (tests.length === 0) return read
  const holds = allOf(tests)
  return (input) => {
    const value = read(input)
    return value !== invalid && holds(value) ? value : invalid
  }
}

/**
 * Decodes the source and applies each transformation. The result already has the declared type, so
 * only its checks remain.
 */
const transformed = (ast: SchemaAST.AST, links: SchemaAST.Encoding): Decoder | undefined => {
  const steps = links.toReversed()
  const targets = [...steps.slice(1).map((link) => link.to), ast]
  const isSimple = targets.every(
    (target) => !hasEncodingChecks(target) && (target === ast || target.encoding === undefined)
  )
  const [first] = steps
  if (!isSimple || first === undefined) return undefined
  let read: Decoder | undefined = leafDecoderOf(first.to)
  steps.forEach(({ transformation }, index) => {
    const target = targets[index] as SchemaAST.AST
    const next = read && transformation._tag === "Transformation" && step(read, transformation)
    read = next ? checked(target.checks ?? [], target, next) : undefined
  })
  return read
}

const step = (
  read: Decoder,
  { decode }: { readonly decode: SchemaGetter.Getter<unknown, unknown, unknown> }
): Decoder | undefined => {
  if (decode._tag === "Passthrough") return read
  if (decode._tag !== "Transform") return undefined
  const { transform } = decode
  return (input) => {
    const value = read(input)
    return value === invalid ? invalid : transform(value)
  }
}
