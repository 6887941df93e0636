/**
 * A schema as a tree of structs, lists, free objects and leaves. Only this module walks a schema.
 * Decoding, encoding, searching and the order of errors follow the tree.
 */
import { type Result, Schema, type SchemaAST, type SchemaIssue } from "effect"
import { isListWithinLimit, isObject, type Path } from "./Json.ts"
import { insideOf } from "./JsonObject.ts"
import { type Decoder, invalid, leafDecoderOf } from "./LeafDecoder.ts"

export type SchemaTree = StructNode | ListNode | FreeNode | LeafNode

/** A struct. Without fields, it is an object without members. */
export interface StructNode {
  readonly _tag: "Struct"
  readonly fields: ReadonlyMap<string, StructField>
}

interface StructField {
  readonly node: SchemaTree
  readonly optional: boolean
}

export interface ListNode {
  readonly _tag: "List"
  readonly element: SchemaTree
}

/** An object of any content. */
export interface FreeNode {
  readonly _tag: "Free"
  readonly nullable: boolean
}

export interface LeafNode {
  readonly _tag: "Leaf"
  readonly schema: Schema.Constraint
  readonly read: Decoder
  /** Fallback to the schema: the value, or every issue of the input. */
  readonly decode: (input: unknown) => Result.Result<unknown, { readonly issue: SchemaIssue.Issue }>
}

type Wrapped = Schema.Constraint & {
  readonly fields?: Record<string, Schema.Constraint>
  readonly value?: Schema.Constraint
  readonly schema?: Schema.Constraint
}

/**
 * The tree of a schema made of `Schema.Struct`, `Schema.Array`, `Schema.optionalKey` and leaves.
 */
export const schemaTreeOf = (schema: Schema.Constraint): SchemaTree => {
  const { ast, fields, value } = schema as Wrapped
  if (ast.encoding !== undefined || ast.checks !== undefined) {
    return objectOf(ast) ?? leafOf(schema as Schema.Codec<unknown>)
  }
  if (ast._tag === "Objects" && fields !== undefined) {
    return {
      _tag: "Struct",
      fields: new Map(
        Object.entries(fields).map(([name, field]) => {
          const inner =
            field.ast.context?.isOptional === true ? (field as Wrapped).schema : undefined
          return [name, { node: schemaTreeOf(inner ?? field), optional: inner !== undefined }]
        })
      )
    }
  }
  if (ast._tag === "Arrays" && value !== undefined) {
    return { _tag: "List", element: schemaTreeOf(value) }
  }
  return objectOf(ast) ?? leafOf(schema as Schema.Codec<unknown>)
}

const objectOf = (ast: SchemaAST.AST): SchemaTree | undefined => {
  const inside = insideOf(ast)
  if (inside === "nothing") return { _tag: "Struct", fields: new Map() }
  if (inside === "anything") return { _tag: "Free", nullable: false }
  if (ast._tag !== "Union") return undefined
  const others = ast.types.filter(({ _tag }) => _tag !== "Null")
  const isFree = others.length === 1 && others.every((type) => insideOf(type) === "anything")
  return isFree ? { _tag: "Free", nullable: others.length < ast.types.length } : undefined
}

const leafOf = (schema: Schema.Codec<unknown>): LeafNode => ({
  _tag: "Leaf",
  schema,
  read: leafDecoderOf(schema.ast),
  decode: Schema.decodeUnknownResult(schema, { errors: "all" })
})

/** The node at a path of the tree. */
export const nodeAt = (tree: SchemaTree, path: Path): SchemaTree | undefined => {
  let current: SchemaTree | undefined = tree
  for (const segment of path) {
    if (current?._tag === "Struct") current = current.fields.get(String(segment))?.node
    else if (current?._tag === "List") current = current.element
    else return undefined
  }
  return current
}

/** The parts of the tree that lead to leaves of the schema, if any. */
const leadingTo = (schema: Schema.Constraint, tree: SchemaTree): SchemaTree | undefined => {
  switch (tree._tag) {
    case "Leaf":
      return tree.schema === schema ? tree : undefined
    case "List": {
      const element = leadingTo(schema, tree.element)
      return element && { ...tree, element }
    }
    case "Struct": {
      const fields = new Map<string, StructField>()
      for (const [name, field] of tree.fields) {
        const node = leadingTo(schema, field.node)
        if (node !== undefined) fields.set(name, { ...field, node })
      }
      return fields.size > 0 ? { ...tree, fields } : undefined
    }
    case "Free":
      return undefined
  }
}

/**
 * Makes the search for all values of one leaf schema in a body, valid or not. Lists that are too
 * long are skipped. The search may pause when it yields undefined.
 */
export const leavesOf = <A>(tree: SchemaTree, schema: Schema.Codec<A, unknown>) => {
  const leading = leadingTo(schema, tree)
  return function* (body: unknown): Generator<A | undefined, void> {
    const open: Array<{ readonly part: SchemaTree; readonly input: unknown }> = []
    const enter = (part: SchemaTree, input: unknown) => void open.push({ part, input })
    if (leading !== undefined) enter(leading, body)
    for (let next = open.pop(), visited = 1; next !== undefined; next = open.pop(), visited++) {
      const { input, part } = next
      if (visited % 64 === 0) yield undefined
      if (part._tag === "Leaf") {
        const value = part.read(input)
        if (value !== invalid) yield value as A
      } else if (part._tag === "Struct" && isObject(input)) {
        for (const [name, { node: field }] of part.fields) {
          if (Object.hasOwn(input, name)) enter(field, input[name])
        }
      } else if (part._tag === "List" && isListWithinLimit(input)) {
        for (const element of input) enter(part.element, element)
      }
    }
  }
}

/** The Levenshtein distance of the words. */
const editDistance = (from: string, to: string): number => {
  const distances = Uint8Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    let diagonal = row - 1
    distances[0] = row
    for (let column = 1; column <= to.length; column++) {
      const above = distances[column] as number
      const same = from.charCodeAt(row - 1) === to.charCodeAt(column - 1)
      const replaced = diagonal + (same ? 0 : 1)
      distances[column] = Math.min(above + 1, (distances[column - 1] as number) + 1, replaced)
      diagonal = above
    }
  }
  return distances[to.length] as number
}

const longestName = 64

/** The name with the smallest edit distance to `name`; undefined if there are no names. */
export const nearestOf = (names: Iterable<string>, name: string): string | undefined => {
  const wanted = name.slice(0, longestName).toLowerCase()
  let nearest: string | undefined
  let shortest = Infinity
  for (const candidate of names) {
    // The distance is at least the difference in length.
    if (Math.abs(candidate.length - wanted.length) >= shortest) continue
    const distance = editDistance(wanted, candidate)
    if (distance < shortest) {
      nearest = candidate
      shortest = distance
    }
  }
  return nearest
}
