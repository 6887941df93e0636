/**
 * The map of a CSV book: which column is which field of the account, and how its cells are written.
 * It is a JSON file, described in the README.
 */
import { readFileSync } from "node:fs"
import { Effect, Schema } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import { type Cell, Column, converterOf } from "./Cell.ts"

/** Field names and list indexes. */
export type FieldPath = ReadonlyArray<string | number>

const Pointer = Schema.String.check(
  Schema.isPattern(/^(\/([^/~]|~[01])+)+$/, {
    expected: "a JSON Pointer to a field, like /customers/0/email"
  })
)

const Delimiter = Schema.String.check(
  Schema.isPattern(/^[^"\r\n]$/, { expected: "one character between two cells" })
)

const MapFile = Schema.Struct({
  delimiter: Schema.optionalKey(Delimiter),
  encoding: Schema.optionalKey(Schema.Literals(["utf-8", "windows-1252", "utf-16le"])),
  columns: Schema.Record(
    Schema.String,
    Schema.Union([Pointer, Schema.Struct({ to: Pointer, ...Column.fields })])
  ),
  constants: Schema.optionalKey(Schema.Record(Pointer, Schema.Json)),
  ignore: Schema.optionalKey(Schema.Array(Schema.String))
})

interface MappedColumn {
  readonly path: FieldPath
  readonly convert: (text: string) => Cell
}

export interface ColumnMap {
  readonly delimiter: string
  readonly encoding: string
  /** By the name in the header. */
  readonly columns: ReadonlyMap<string, MappedColumn>
  readonly constants: ReadonlyArray<readonly [path: FieldPath, value: Schema.Json]>
  readonly ignored: ReadonlySet<string>
}

/** Lists of accounts are short; a larger index is a mistake that would fill the memory. */
const largestIndex = 999

const pathOf = (pointer: string): FieldPath =>
  pointer
    .slice(1)
    .split("/")
    .map((segment) => {
      const name = segment.replaceAll("~1", "/").replaceAll("~0", "~")
      if (!/^(0|[1-9]\d*)$/.test(name)) return name
      if (Number(name) > largestIndex) {
        throw new Error(`${pointer} has an index greater than ${largestIndex}`)
      }
      return Number(name)
    })

/** The path as an `attr` of the contract. */
const attrOf = (path: FieldPath): string => path.join(".")

/** A field can be filled once, and not both as a whole and in part. */
const refuseOverlaps = (pointers: ReadonlyArray<string>): void => {
  const sorted = pointers.map((pointer) => `${pointer}/`).toSorted()
  for (const [index, pointer] of sorted.entries()) {
    const next = sorted[index + 1]
    if (next?.startsWith(pointer) === true) {
      throw new Error(`${pointer.slice(0, -1)} and ${next.slice(0, -1)} fill the same field`)
    }
  }
}

/** Refuses paths that make a value both an object and a list. */
const refuseMixtures = (paths: ReadonlyArray<FieldPath>): void => {
  const kinds = new Map<string, string>()
  for (const path of paths) {
    for (const [depth, segment] of path.entries()) {
      const within = JSON.stringify(path.slice(0, depth))
      const kind = kinds.get(within) ?? typeof segment
      if (kind !== typeof segment)
        throw new Error(`${attrOf(path.slice(0, depth))} is a list or an object`)
      kinds.set(within, kind)
    }
  }
}

const compile = (file: typeof MapFile.Type): ColumnMap => {
  const { columns, constants = {}, delimiter = ",", encoding = "utf-8", ignore = [] } = file
  const described = Object.entries(columns).map(
    ([name, column]) => [name, typeof column === "string" ? { to: column } : column] as const
  )
  const pointers = [...described.map(([, { to }]) => to), ...Object.keys(constants)]
  refuseOverlaps(pointers)
  refuseMixtures(pointers.map(pathOf))
  return {
    delimiter,
    encoding,
    columns: new Map(
      described.map(([name, { to, ...column }]) => [
        name,
        { path: pathOf(to), convert: converterOf(column) }
      ])
    ),
    constants: Object.entries(constants).map(([to, value]) => [pathOf(to), value]),
    ignored: new Set(ignore)
  }
}

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(MapFile), {
  onExcessProperty: "error"
})

export const readColumnMap = (file: string): Effect.Effect<ColumnMap, Refused> =>
  Effect.try({
    try: () => compile(decode(readFileSync(file, "utf8"))),
    catch: (error) =>
      new Refused({
        why: `Cannot use the map ${file}: ${error instanceof Error ? error.message : ""}`
      })
  })

/** The column that fills each field, by its `attr`. */
export const columnsByAttr = ({ columns }: ColumnMap): Readonly<Record<string, string>> =>
  Object.fromEntries([...columns].map(([name, { path }]) => [attrOf(path), name]))
