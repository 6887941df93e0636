/** Renders the chart with its values, as `helm template` does. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Ajv } from "ajv"
import { parse as parseYaml, parseAllDocuments, stringify } from "yaml"
import { execute, type Functions, isTrue, parse, printed, type Value } from "./Template.ts"

const folder = join(import.meta.dirname, "..", "..", "docker", "helm")

type Members = Readonly<Record<string, Value>>

export const valuesOf = (text: string): Members => parseYaml(text) as Members

export const defaults: Members = valuesOf(readFileSync(join(folder, "values.yaml"), "utf8"))

const isMap = (value: Value): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Merges maps and replaces everything else, like Helm. */
const merged = (values: Members, over: Members): Members =>
  Object.fromEntries(
    [...new Set([...Object.keys(values), ...Object.keys(over)])].map((name) => {
      const [one, other] = [values[name], over[name]]
      if (!(name in over)) return [name, one]
      return [name, isMap(one) && isMap(other) ? merged(one, other) : other]
    })
  )

const indent = (by: Value, text: Value): string =>
  String(text)
    .split("\n")
    .map((line) => " ".repeat(Number(by)) + line)
    .join("\n")

const pairs = (args: ReadonlyArray<Value>): Members =>
  Object.fromEntries(
    args.flatMap((name, index) => (index % 2 === 0 ? [[String(name), args[index + 1]]] : []))
  )

/** The map without empty values, which must not replace those of another map. */
const withoutEmpty = (map: Members): Members =>
  Object.fromEntries(Object.entries(map).filter(([, value]) => isTrue(value)))

/** The functions of Go and Helm that the chart uses. */
const functions: Functions = {
  add: (...numbers) => numbers.reduce<number>((sum, each) => sum + Number(each), 0),
  and: (...values) => values.at(values.findIndex((each) => !isTrue(each))),
  default: (fallback, value) => (isTrue(value) ? value : fallback),
  dict: (...args) => pairs(args),
  merge: (...maps) =>
    Object.assign({}, ...maps.toReversed().map((map) => withoutEmpty(map as Members))) as Members,
  index: (value, ...names) => names.reduce((each, name) => (each as Members)[String(name)], value),
  nindent: (by, text) => `\n${indent(by, text)}`,
  or: (...values) => values.find(isTrue) ?? values.at(-1),
  printf: (format, ...args) => {
    const left = [...args]
    return String(format).replaceAll("%s", () => String(left.shift()))
  },
  quote: (value) => JSON.stringify(value === undefined || value === null ? "" : printed(value)),
  replace: (from, to, text) => String(text).replaceAll(String(from), String(to)),
  toYaml: (value) =>
    stringify(value, { sortMapEntries: true, lineWidth: 0, indentSeq: false }).trimEnd(),
  upper: (text) => String(text).toUpperCase()
}

interface Release {
  readonly name: string
  readonly values?: Members
}

const schema = JSON.parse(readFileSync(join(folder, "values.schema.json"), "utf8")) as object

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true })
const fits = ajv.compile(schema)

/**
 * The text of each template with output, by its file.
 * @throws if the values do not fit the schema of the chart.
 */
export const render = ({ name, values = {} }: Release): ReadonlyMap<string, string> => {
  const files = readdirSync(join(folder, "templates")).toSorted()
  const parsed = files.map(
    (file) => [file, parse(readFileSync(join(folder, "templates", file), "utf8"))] as const
  )
  const defined = new Map(parsed.flatMap(([, template]) => [...template.defined]))
  const { appVersion } = valuesOf(readFileSync(join(folder, "Chart.yaml"), "utf8"))
  const given = merged(defaults, values)
  if (!fits(given)) throw new Error(ajv.errorsText(fits.errors, { dataVar: "values" }))
  const root = { Release: { Name: name }, Chart: { AppVersion: appVersion }, Values: given }
  const including: Functions = {
    ...functions,
    include: (template, dot) => {
      const body = defined.get(String(template))
      if (body === undefined) throw new Error(`There is no template ${String(template)}`)
      return execute(body, { dot, variables: new Map([["$", dot]]) }, including)
    }
  }
  const scope = () => ({ dot: root, variables: new Map<string, Value>([["$", root]]) })
  return new Map(
    parsed.flatMap(([file, { main }]) => {
      const text = execute(main, scope(), including)
      return text.trim() === "" ? [] : [[file, `${text.trim()}\n`]]
    })
  )
}

export interface Resource {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: { readonly name: string } & Members
  readonly spec: Members
}

/** The resources of a rendering. @throws if a text is not YAML. */
export const resourcesOf = (rendering: ReadonlyMap<string, string>): ReadonlyArray<Resource> =>
  [...rendering.values()].flatMap((text) =>
    parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
      const [error] = document.errors
      if (error !== undefined) throw error
      return document.contents === null ? [] : [document.toJS() as Resource]
    })
  )
