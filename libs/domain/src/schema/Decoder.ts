/**
 * Decodes valid input in one pass, by the tree of its schema, without reporting errors. Input that
 * is invalid or too large is decoded by `PartialDecoding`.
 */
import type { Schema } from "effect"
import { isListWithinLimit, isObject } from "./Json.ts"
import { isValidInside, type ElementBudget } from "./JsonObject.ts"
import { type Decoder, invalid } from "./LeafDecoder.ts"
import { type SchemaTree, schemaTreeOf, type StructNode } from "./SchemaTree.ts"

/** The list elements and free-object members that are decoded in a millisecond or two. */
const decodedAtOnce = 4_000

export const decoderOf = (schema: Schema.Constraint): Decoder => decoderOfTree(schemaTreeOf(schema))

export const decoderOfTree = (tree: SchemaTree): Decoder => {
  const room: ElementBudget = { left: 0 }
  const decode = decoderIn(room, tree)
  return (input) => {
    room.left = decodedAtOnce
    return decode(input)
  }
}

const decoderIn = (room: ElementBudget, tree: SchemaTree): Decoder => {
  switch (tree._tag) {
    case "Leaf":
      return tree.read
    case "Struct":
      return struct(room, tree)
    case "List":
      return list(room, decoderIn(room, tree.element))
    case "Free":
      return (input) => {
        if (input === null && tree.nullable) return null
        return isObject(input) && isValidInside(input, room) ? input : invalid
      }
  }
}

interface FieldDecoder {
  readonly name: string
  readonly optional: boolean
  readonly decode: Decoder
}

const struct = (room: ElementBudget, tree: StructNode): Decoder => {
  const fields: ReadonlyArray<FieldDecoder> = [...tree.fields].map(
    ([name, { optional, node }]) => ({
      name,
      optional,
      decode: decoderIn(room, node)
    })
  )
  return (input) => {
    if (!isObject(input)) return invalid
    const output: Record<string, unknown> = {}
    let sent = 0
    for (let index = 0; index < fields.length; index++) {
      const { decode, name, optional } = fields[index] as FieldDecoder
      const value = input[name]
      if (value !== undefined) {
        const decoded = decode(value)
        if (decoded === invalid) return invalid
        output[name] = decoded
        sent++
      } else if (!optional) return invalid
    }
    // Any other member is undocumented, or has no value.
    return Object.keys(input).length === sent ? output : invalid
  }
}

const list =
  (room: ElementBudget, decode: Decoder): Decoder =>
  (input) => {
    if (!isListWithinLimit(input)) return invalid
    room.left -= input.length
    if (room.left < 0) return invalid
    const output: Array<unknown> = []
    for (let index = 0; index < input.length; index++) {
      const decoded = decode(input[index])
      if (decoded === invalid) return invalid
      output.push(decoded)
    }
    return output
  }
