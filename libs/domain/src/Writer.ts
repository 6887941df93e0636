/**
 * Writes values as JSON: one pass over a value by the transformations of its schema. The value is
 * of the schema's type, which nothing but reading or the compiler has made it; so unlike the schema
 * itself, which examines every value anew, a writer checks nothing.
 */
import { Schema, type SchemaAST } from "effect"

type Write = (value: unknown) => unknown

/** The writer of what the schema encodes; its text is the same. */
export const writerOf = <A, I>(schema: Schema.Codec<A, I>): ((value: A) => I) => {
  const write = writerOfAst(schema.ast)
  return (value) => (write === null ? value : write(value)) as I
}

/** Null where a value is written as it is. */
const writerOfAst = (ast: SchemaAST.AST): Write | null => {
  if (ast.encoding !== undefined) return transformed(ast, ast.encoding)
  switch (ast._tag) {
    case "String":
    case "Number":
    case "Boolean":
    case "Null":
    case "Literal":
    case "Unknown":
      return null
    case "Objects":
      return ast.indexSignatures.length === 0 ? struct(ast.propertySignatures) : encoder(ast)
    case "Arrays": {
      const [element] = ast.rest
      return ast.elements.length === 0 && ast.rest.length === 1 && element !== undefined
        ? list(writerOfAst(element))
        : encoder(ast)
    }
    case "Union":
      return ast.types.every(isPlain) ? null : encoder(ast)
    default:
      return encoder(ast)
  }
}

const isPlain = (ast: SchemaAST.AST): boolean =>
  ast.encoding === undefined && ast._tag !== "Objects" && ast._tag !== "Arrays"

/** The schema itself, for what is not known here. */
const encoder = (ast: SchemaAST.AST): Write =>
  Schema.encodeUnknownSync(Schema.make<Schema.Codec<unknown>>(ast))

const struct = (signatures: ReadonlyArray<SchemaAST.PropertySignature>): Write => {
  const fields = signatures.map(({ name, type }) => ({
    name: name as string,
    write: writerOfAst(type)
  }))
  return (value) => {
    const written: Record<string, unknown> = {}
    for (const { name, write } of fields) {
      const member = (value as Record<string, unknown>)[name]
      if (member !== undefined) written[name] = write === null ? member : write(member)
    }
    return written
  }
}

const list = (write: Write | null): Write | null =>
  write === null
    ? null
    : (value) => (value as ReadonlyArray<unknown>).map((element) => write(element))

/** Step by step, from the type to what it is written as. */
const transformed = (ast: SchemaAST.AST, links: SchemaAST.Encoding): Write | null => {
  const writes: Array<Write> = []
  for (const { to, transformation } of links) {
    if (transformation._tag !== "Transformation") return encoder(ast)
    const { encode } = transformation
    if (encode._tag === "Transform") writes.push(encode.transform)
    else if (encode._tag !== "Passthrough") return encoder(ast)
    const further = writerOfAst(to)
    if (further !== null) writes.push(further)
  }
  const [first, ...others] = writes
  if (first === undefined) return null
  return others.length === 0
    ? first
    : (value) => writes.reduce((given, write) => write(given), value)
}
