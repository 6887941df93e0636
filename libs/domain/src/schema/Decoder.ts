/**
 * Reads sound input: one pass over it by the checks and transformations of its schema, with nothing
 * kept of what is wrong. Input that is unsound is left to those who find out what is wrong with it,
 * and so is input that is too large to be read without a pause.
 */
import { Result, Schema, type SchemaAST, type SchemaGetter } from "effect"
import { isObject, isListWithinLimit } from "./Json.ts"
import { insideOf, isValidInside, type Room } from "./JsonObject.ts"

/** What a reader answers for input that it does not take. */
export const invalid: unique symbol = Symbol("unsound")

/** The decoded value, or `unsound`. */
export type Decoder = (input: unknown) => unknown

/** Elements of lists, and members of free objects, that take a millisecond or two. */
const readAtOnce = 4_000

/** The reader of what the schema decodes. */
export const decoderOf = (schema: Schema.Codec<unknown, unknown>): Decoder => {
  const room: Room = { left: 0 }
  const read = decoderOfAst(schema.ast, room)
  return (input) => {
    room.left = readAtOnce
    return read(input)
  }
}

const decoderOfAst = (ast: SchemaAST.AST, room: Room): Decoder => {
  if (ast.encoding !== undefined) return transformed(ast, ast.encoding, room) ?? decoder(ast)
  if (hasEncodingChecks(ast)) return decoder(ast)
  if (insideOf(ast) === "anything") {
    return (input) => (isObject(input) && isValidInside(input, room) ? input : invalid)
  }
  return checked(ast.checks ?? [], ast, bare(ast, room) ?? decoder(ast))
}

const hasEncodingChecks = (ast: SchemaAST.AST): boolean =>
  "encodingChecks" in ast && ast.encodingChecks !== undefined

/** The schema itself, for what is not known here. */
const decoder = (ast: SchemaAST.AST): Decoder => {
  const decode = Schema.decodeUnknownResult(Schema.make<Schema.Codec<unknown>>(ast))
  return (input) => {
    const decoded = decode(input)
    return Result.isSuccess(decoded) ? decoded.success : invalid
  }
}

/** The reader of the type alone, without its checks. */
const bare = (ast: SchemaAST.AST, room: Room): Decoder | undefined => {
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
    case "Objects":
      return ast.indexSignatures.length === 0 ? struct(ast.propertySignatures, room) : undefined
    case "Arrays": {
      const [element] = ast.rest
      return ast.elements.length === 0 && ast.rest.length === 1 && element !== undefined
        ? list(decoderOfAst(element, room), room)
        : undefined
    }
    case "Union":
      return ast.options?.mode !== "oneOf" && ast.types.every(isLeaf)
        ? firstOf(ast.types.map((type) => decoderOfAst(type, room)))
        : undefined
    default:
      return undefined
  }
}

const isLeaf = (ast: SchemaAST.AST): boolean => ast._tag !== "Objects" && ast._tag !== "Arrays"

const firstOf =
  (readers: ReadonlyArray<Decoder>): Decoder =>
  (input) => {
    for (const read of readers) {
      const decoded = read(input)
      if (decoded !== invalid) return decoded
    }
    return invalid
  }

interface Field {
  readonly name: string
  readonly read: Decoder
  readonly optional: boolean
}

const struct = (signatures: ReadonlyArray<SchemaAST.PropertySignature>, room: Room): Decoder => {
  const fields: ReadonlyArray<Field> = signatures.map(({ name, type }) => ({
    name: name as string,
    read: decoderOfAst(type, room),
    optional: type.context?.isOptional === true
  }))
  return (input) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return invalid
    const output: Record<string, unknown> = {}
    let sent = 0
    for (let index = 0; index < fields.length; index++) {
      const { name, optional, read } = fields[index] as Field
      const value = (input as Record<string, unknown>)[name]
      if (value !== undefined) {
        const decoded = read(value)
        if (decoded === invalid) return invalid
        output[name] = decoded
        sent++
      } else if (!optional || name in input) {
        return invalid
      }
    }
    // More members than were read are not documented.
    return Object.keys(input).length === sent ? output : invalid
  }
}

const list =
  (read: Decoder, room: Room): Decoder =>
  (input) => {
    if (!isListWithinLimit(input)) return invalid
    room.left -= input.length
    if (room.left < 0) return invalid
    const output: Array<unknown> = []
    for (let index = 0; index < input.length; index++) {
      const decoded = read(input[index])
      if (decoded === invalid) return invalid
      output.push(decoded)
    }
    return output
  }

const filtersOf = (check: SchemaAST.Check<never>): ReadonlyArray<SchemaAST.Filter<never>> =>
  check._tag === "Filter" ? [check] : check.checks.flatMap(filtersOf)

type Holds = (value: unknown) => boolean

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
  return (input) => {
    const value = read(input)
    if (value === invalid) return invalid
    for (let index = 0; index < tests.length; index++) {
      if (tests[index]?.(value) !== true) return invalid
    }
    return value
  }
}

/**
 * The source read, then transformed step by step. What a transformation makes is of the type that
 * it says, so that only the checks on it are left.
 */
const transformed = (
  ast: SchemaAST.AST,
  links: SchemaAST.Encoding,
  room: Room
): Decoder | undefined => {
  const steps = links.toReversed()
  const targets = [...steps.slice(1).map((link) => link.to), ast]
  const isSimple = targets.every(
    (target) => !hasEncodingChecks(target) && (target === ast || target.encoding === undefined)
  )
  const [first] = steps
  if (!isSimple || first === undefined) return undefined
  let read: Decoder | undefined = decoderOfAst(first.to, room)
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
