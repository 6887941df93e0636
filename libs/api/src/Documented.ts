/**
 * Gives a schema of the domain its name and its descriptions in the document, in the wire form. The
 * domain's schemas contain no prose. A field without a description does not compile.
 */
import { Schema } from "effect"

/**
 * The description of a field, alone or with JSON Schema keywords and examples. `wire` replaces the
 * schema of a value that the domain parses itself.
 */
export type FieldWords =
  | string
  | {
      readonly description: string
      readonly wire?: Schema.Top
      readonly [keyword: string]: unknown
    }

/** A schema and whatever `optionalKey`, `NullOr`, `Array` or `Struct` wraps. */
type Wrapping = Schema.Top & {
  readonly schema?: Schema.Top
  readonly members?: ReadonlyArray<Schema.Top>
  readonly value?: Schema.Top
  readonly fields?: Schema.Struct.Fields
}

const isOptional = ({ ast }: Schema.Top): boolean => ast.context?.isOptional === true

/** The wire side of a field, with `part` in place of the struct or the opaque value inside it. */
const wireOf = (field: Wrapping, part: Schema.Top | undefined): Schema.Top => {
  const { ast, members, value } = field
  if (ast._tag === "Arrays" && value !== undefined) {
    const maxItems = ast.annotations?.["maxItems"]
    const list = Schema.Array(wireOf(value, part))
    return maxItems === undefined ? list : list.annotate({ maxItems })
  }
  if (ast._tag === "Union" && members !== undefined) {
    return Schema.Union(members.map((member) => wireOf(member, part)))
  }
  if (ast._tag === "Null") return field
  if (part !== undefined) return part
  // A plain number would be described with the texts NaN and Infinity, which are not JSON.
  return ast._tag === "Number" && ast.checks !== undefined
    ? Schema.Finite.check(...ast.checks)
    : Schema.toEncoded(field)
}

/** Describes the key and not the schema if the schema has its own name and description. */
const describe = (schema: Schema.Top, words: Schema.Annotations.Annotations): Schema.Top =>
  schema.ast.annotations?.["identifier"] === undefined
    ? schema.annotate(words)
    : schema.annotateKey(words)

const spoken = (description: string): Exclude<FieldWords, string> => ({ description })

/**
 * The wire form of `schema` under a name. `fields` describes every field. `parts` has the
 * documented form of the inner structs, which may be in a list, nullable or optional.
 */
export const documented = <Fields extends Schema.Struct.Fields>(
  identifier: string,
  description: string,
  schema: Schema.Struct<Fields>,
  fields: { readonly [Name in keyof Fields]: FieldWords },
  parts: { readonly [Name in keyof Fields]?: Schema.Top } = {}
) => {
  const entries: ReadonlyArray<readonly [string, Wrapping]> = Object.entries<Schema.Top>(
    schema.fields as Schema.Struct.Fields as Record<string, Schema.Top>
  )
  const wire = entries.map(([name, field]) => {
    const given: FieldWords = fields[name as keyof Fields]
    const { wire: replacement, ...words } = typeof given === "string" ? spoken(given) : given
    const inner = isOptional(field) ? (field.schema ?? field) : field
    const described = describe(wireOf(inner, replacement ?? parts[name as keyof Fields]), words)
    return [name, isOptional(field) ? Schema.optionalKey(described) : described]
  })
  const wireFields = Object.fromEntries(wire) as {
    readonly [Name in keyof Fields]: Schema.toEncoded<Fields[Name]>
  }
  return Schema.Struct(wireFields).annotate({ identifier, description })
}
