/**
 * The map of a CSV book: which column is which field of the account, and how its cells are written.
 * It is a JSON file, described in the README.
 */
import { Effect, Schema } from "effect"
import { Refused } from "@data-import/terminal/Refused"
import { type Cell, Column, columnFault, converterOf } from "./Cell.ts"
import { readText } from "./TextFile.ts"

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

const Join = Schema.Struct({
  to: Pointer,
  columns: Schema.Array(Schema.String).check(Schema.isMinLength(1)),
  separator: Schema.optionalKey(Schema.String)
})

/** One column may fill several fields. */
const Targets = Schema.Union([Pointer, Schema.Array(Pointer).check(Schema.isMinLength(1))])

/** How the cells of a file become fields. */
const FileMap = {
  delimiter: Schema.optionalKey(Delimiter),
  encoding: Schema.optionalKey(Schema.Literals(["utf-8", "windows-1252", "utf-16le"])),
  columns: Schema.Record(
    Schema.String,
    Schema.Union([Pointer, Schema.Struct({ to: Targets, ...Column.fields })])
  ),
  joins: Schema.optionalKey(Schema.Array(Join)),
  constants: Schema.optionalKey(Schema.Record(Pointer, Schema.Json)),
  ignore: Schema.optionalKey(Schema.Array(Schema.String))
}

/** A further file of a book, whose rows are elements of a list of their account. */
const Further = Schema.Struct({
  ...FileMap,
  file: Schema.String.check(Schema.isMinLength(1)),
  /** The column with the key of the account; that of the book has the same name unless given. */
  key: Schema.optionalKey(Schema.String),
  list: Pointer
})

const MapFile = Schema.Struct({
  ...FileMap,
  key: Schema.optionalKey(Schema.String),
  files: Schema.optionalKey(Schema.Array(Further))
})
type MapFile = typeof MapFile.Type

/** A field that cells fill. */
export interface Target {
  readonly path: FieldPath
  /** The columns whose cells are joined with the separator. Empty cells are left out. */
  readonly columns: ReadonlyArray<string>
  readonly separator: string
  /** Whether the sign of its number is reversed. */
  readonly isNegated: boolean
  readonly convert: (text: string) => Cell
}

/** A value that no cell has. */
export interface Addition {
  readonly path: FieldPath
  readonly value: Schema.Json
  /**
   * The indexes of the targets of its group. It is added if one of them has a value, or if there is
   * none.
   */
  readonly group: ReadonlyArray<number>
  /** Of the default of an empty cell: the index of its target. */
  readonly insteadOf: number | null
  /** Whether rows of a further file are in its group. */
  readonly isBesideRows: boolean
}

/** A further file of a book. */
export interface FurtherFile {
  /** As the map names it. */
  readonly file: string
  /** The column with the key of the account. */
  readonly key: string
  readonly list: FieldPath
  /** Its columns; paths are inside an element of the list. */
  readonly map: ColumnMap
  /** Constants of the account that are set beside its rows. */
  readonly constants: ReadonlyArray<Pick<Addition, "path" | "value">>
}

export interface ColumnMap {
  readonly delimiter: string
  readonly encoding: string
  readonly targets: ReadonlyArray<Target>
  readonly additions: ReadonlyArray<Addition>
  readonly ignored: ReadonlySet<string>
  /** The column with the key of a row; null if there are no further files. */
  readonly key: string | null
  readonly files: ReadonlyArray<FurtherFile>
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
export const attrOf = (path: FieldPath): string => path.join(".")

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

type ColumnFile = (typeof MapFile.Type)["columns"][string]

const describedColumns = (name: string, column: ColumnFile) => {
  const { to, ...how } = typeof column === "string" ? { to: column } : column
  const fault = columnFault(how)
  if (fault !== null) throw new Error(`the column "${name}": ${fault}`)
  const pointers = typeof to === "string" ? [to] : to
  return pointers.map((pointer) => ({ to: pointer, how, name: name.trim() }))
}

/** The targets inside the innermost object around the path that has any besides `self`. */
const groupOf = (path: FieldPath, targets: ReadonlyArray<Target>, self: number | null) => {
  for (let depth = path.length - 1; depth > 0; depth--) {
    const inside = targets.flatMap(({ path: other }, index) =>
      index !== self && path.slice(0, depth).every((segment, at) => other[at] === segment)
        ? [index]
        : []
    )
    if (inside.length > 0) return inside
  }
  return []
}

const isPrefix = (start: FieldPath, path: FieldPath): boolean =>
  start.every((segment, at) => path[at] === segment)

/** The columns of one file. `lists` are those that rows of further files fill. */
const compileFile = (
  file: Omit<MapFile, "files">,
  lists: ReadonlyArray<string> = []
): Omit<ColumnMap, "files"> => {
  const { constants = {}, delimiter = ",", encoding = "utf-8", ignore = [], joins = [] } = file
  const described = Object.entries(file.columns).flatMap(([name, column]) =>
    describedColumns(name, column)
  )
  const pointers = [...described, ...joins].map(({ to }) => to)
  const all = [...pointers, ...Object.keys(constants)]
  refuseOverlaps([...all, ...lists])
  const listPaths = lists.map(pathOf)
  refuseMixtures([...all.map(pathOf), ...listPaths.map((path) => [...path, 0])])
  const targets: ReadonlyArray<Target> = [
    ...described.map(({ how, name, to }) => ({
      path: pathOf(to),
      columns: [name],
      separator: "",
      isNegated: how.negate === true,
      convert: converterOf(how)
    })),
    ...joins.map(({ columns, separator = " ", to }) => ({
      path: pathOf(to),
      columns: columns.map((name) => name.trim()),
      separator,
      isNegated: false,
      convert: (text: string) => text
    }))
  ]
  const constantAdditions = Object.entries(constants).map(([to, value]): Addition => {
    const path = pathOf(to)
    const parent = path.slice(0, -1)
    const isBesideRows = parent.length > 0 && listPaths.some((list) => isPrefix(parent, list))
    return { path, value, group: groupOf(path, targets, null), insteadOf: null, isBesideRows }
  })
  const defaults = described.flatMap(({ how, to }, index): ReadonlyArray<Addition> => {
    const path = pathOf(to)
    const group = groupOf(path, targets, index)
    const addition = { path, group, insteadOf: index, isBesideRows: false }
    return how.default === undefined ? [] : [{ ...addition, value: how.default }]
  })
  return {
    delimiter,
    encoding,
    targets,
    additions: [...constantAdditions, ...defaults],
    ignored: new Set([...ignore.map((name) => name.trim()), ...reportColumns]),
    key: file.key?.trim() ?? null
  }
}

const compile = ({ files = [], ...file }: MapFile): ColumnMap => {
  const lists = files.map(({ list }) => list)
  const own = compileFile(file, lists)
  if (files.length === 0) return { ...own, key: null, files: [] }
  if (own.key === null) throw new Error(`"files" needs "key": the column that names the account`)
  if (lists.some((list) => list.split("/").includes("__proto__"))) {
    throw new Error("__proto__ is no list")
  }
  const { additions, key } = own
  return {
    ...own,
    files: files.map(({ file: name, key: ownKey = key, list, ...columns }): FurtherFile => {
      const path = pathOf(list)
      const map = { ...compileFile({ ...columns, key: ownKey }), files: [] }
      const constants = additions.filter(
        (each) => each.isBesideRows && isPrefix(each.path.slice(0, -1), path)
      )
      return { file: name, key: ownKey.trim(), list: path, map, constants }
    })
  }
}

/** Columns that a report adds to the rows of a book. They are ignored when the rows are read. */
export const originColumn = "data_import_row"
export const errorsColumn = "data_import_errors"
export const reportColumns: ReadonlyArray<string> = [originColumn, errorsColumn]

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(MapFile), {
  onExcessProperty: "error"
})

export const readColumnMap = (file: string): Effect.Effect<ColumnMap, Refused> =>
  Effect.try({
    try: () => compile(decode(readText(file))),
    catch: (error) =>
      new Refused({
        why: `Cannot use the map ${file}: ${error instanceof Error ? error.message : ""}`
      })
  })

/** The columns that fill each field, by its `attr`. */
export type ColumnsByAttr = Readonly<Record<string, ReadonlyArray<string>>>

export const columnsByAttr = ({ targets }: ColumnMap): ColumnsByAttr =>
  Object.fromEntries(targets.map(({ columns, path }) => [attrOf(path), columns]))
