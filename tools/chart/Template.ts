/**
 * Go's templates, as far as a chart needs them: actions with pipelines, variables, `if`, `range`,
 * `with`, `define`, and Helm's functions that are given. Anything else throws.
 * Source: https://pkg.go.dev/text/template.
 */

export type Value = unknown
export type Functions = Readonly<Record<string, (...args: ReadonlyArray<Value>) => Value>>

interface Scope {
  readonly dot: Value
  readonly variables: Map<string, Value>
}

type Node =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Output"; readonly pipeline: string }
  | { readonly _tag: "Assign"; readonly name: string; readonly pipeline: string }
  | {
      readonly _tag: "If" | "With"
      readonly pipeline: string
      readonly then: ReadonlyArray<Node>
      readonly otherwise: ReadonlyArray<Node>
    }
  | {
      readonly _tag: "Range"
      readonly names: ReadonlyArray<string>
      readonly pipeline: string
      readonly body: ReadonlyArray<Node>
    }

type Token = { readonly text: string } | { readonly action: string }

/** A dash removes the white space beside the action. */
const tokensOf = (source: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  let rest = source
  for (;;) {
    const found = /\{\{(-?)([\s\S]*?)(-?)\}\}/.exec(rest)
    if (found === null) return [...tokens, { text: rest }]
    const [whole, left, action = "", right] = found
    const before = rest.slice(0, found.index)
    tokens.push({ text: left === "-" ? before.trimEnd() : before }, { action: action.trim() })
    rest = rest.slice(found.index + whole.length)
    if (right === "-") rest = rest.trimStart()
  }
}

/** Templates by name, and the one of the file. */
interface Parsed {
  readonly main: ReadonlyArray<Node>
  readonly defined: ReadonlyMap<string, ReadonlyArray<Node>>
}

const definition = /^define "([^"]+)"$/
const assignment = /^(\$\w+) := ([\s\S]+)$/
const ranged = /^range (?:(\$\w+)(?:, (\$\w+))? := )?([\s\S]+)$/
const conditional = /^(if|with) ([\s\S]+)$/

export const parse = (source: string): Parsed => {
  const tokens = [...tokensOf(source)]
  const defined = new Map<string, ReadonlyArray<Node>>()

  /** Nodes up to the action that ends them, which is returned; "" at the end of the file. */
  const block = (): { readonly nodes: ReadonlyArray<Node>; readonly end: string } => {
    const nodes: Array<Node> = []
    for (;;) {
      const token = tokens.shift()
      if (token === undefined) return { nodes, end: "" }
      if ("text" in token) {
        nodes.push({ _tag: "Text", text: token.text })
        continue
      }
      const { action } = token
      if (action === "end" || action.startsWith("else")) return { nodes, end: action }
      const node = statement(action)
      if (node !== null) nodes.push(node)
    }
  }

  const mustEnd = (of: string, end: string): void => {
    const found = end === "" ? "the end of the file" : `{{ ${end} }}`
    if (end !== "end") throw new Error(`{{ ${of} }}: ${found} in place of {{ end }}`)
  }

  const body = (of: string): ReadonlyArray<Node> => {
    const { end, nodes } = block()
    mustEnd(of, end)
    return nodes
  }

  const branches = (kind: string, pipeline: string): Node => {
    const { end, nodes: then } = block()
    const chained = kind === "if" ? /^else (if [\s\S]+)$/.exec(end)?.[1] : undefined
    if (chained !== undefined) {
      const inner = statement(chained)
      return { _tag: "If", pipeline, then, otherwise: inner === null ? [] : [inner] }
    }
    if (end !== "else") mustEnd(kind, end)
    const otherwise = end === "else" ? body("else") : []
    return { _tag: kind === "if" ? "If" : "With", pipeline, then, otherwise }
  }

  const statement = (action: string): Node | null => {
    const [, name] = definition.exec(action) ?? []
    if (name !== undefined) {
      defined.set(name, body("define"))
      return null
    }
    const [, kind, condition] = conditional.exec(action) ?? []
    if (kind !== undefined && condition !== undefined) return branches(kind, condition)
    const [range, first, second, list = ""] = ranged.exec(action) ?? []
    if (range !== undefined) {
      const names = [first, second].filter((each) => each !== undefined)
      return { _tag: "Range", names, pipeline: list, body: body("range") }
    }
    const [, variable, value] = assignment.exec(action) ?? []
    if (variable !== undefined && value !== undefined) {
      return { _tag: "Assign", name: variable, pipeline: value }
    }
    return { _tag: "Output", pipeline: action }
  }

  const { end, nodes } = block()
  if (end !== "") throw new Error(`{{ ${end} }} ends nothing`)
  return { main: nodes, defined }
}

/** As in Go: false, 0, nil and empty values are not true. */
export const isTrue = (value: Value): boolean => {
  if (Array.isArray(value)) return value.length > 0
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0
  return Boolean(value)
}

const member = (value: Value, name: string): Value => {
  if (value === undefined || value === null) throw new Error(`nothing has no .${name}`)
  return (value as Readonly<Record<string, Value>>)[name]
}

const words = /"(?:[^"\\]|\\.)*"|\|=?|[()]|[^\s()|]+/g

/** Evaluates a pipeline: the value of each command is the last argument of the next. */
const evaluate = (pipeline: string, scope: Scope, functions: Functions): Value => {
  const left = [...(pipeline.match(words) ?? [])]

  const path = (word: string): Value => {
    const [head = "", ...names] = word.split(".")
    if (head !== "" && !scope.variables.has(head)) throw new Error(`${head} is not known`)
    const start = head === "" ? scope.dot : scope.variables.get(head)
    return names.filter((name) => name !== "").reduce(member, start)
  }

  const literal = (word: string): Value => {
    if (word.startsWith('"')) return JSON.parse(word)
    if (/^-?\d+$/.test(word)) return Number(word)
    if (word === "true" || word === "false") return word === "true"
    return path(word)
  }

  /** A term, with the members after a parenthesis. */
  const term = (word: string): Value => {
    if (word !== "(") return literal(word)
    const value = pipe()
    if (left.shift() !== ")") throw new Error(`${pipeline}: a parenthesis is open`)
    return left[0]?.startsWith(".") === true
      ? (left.shift() ?? "").split(".").slice(1).reduce(member, value)
      : value
  }

  const command = (piped: ReadonlyArray<Value>): Value => {
    const word = left.shift() ?? ""
    const args: Array<Value> = []
    const isFunction = /^[a-zA-Z]+$/.test(word) && word !== "true" && word !== "false"
    const run = isFunction ? functions[word] : undefined
    if (isFunction && run === undefined) throw new Error(`${word} is no function here`)
    const value = run === undefined ? term(word) : undefined
    while (left.length > 0 && left[0] !== ")" && left[0] !== "|")
      args.push(term(left.shift() ?? ""))
    if (run !== undefined) return run(...args, ...piped)
    if (args.length + piped.length > 0) throw new Error(`${pipeline}: ${word} is no function`)
    return value
  }

  const pipe = (): Value => {
    let value = command([])
    while (left[0] === "|") {
      left.shift()
      value = command([value])
    }
    return value
  }

  const value = pipe()
  if (left.length > 0) throw new Error(`${pipeline}: ${left.join(" ")} is left`)
  return value
}

const entriesOf = (list: Value): ReadonlyArray<readonly [Value, Value]> => {
  if (Array.isArray(list)) return list.map((each, index) => [index, each])
  if (typeof list !== "object" || list === null) return []
  // Go walks a map in the order of its keys.
  return Object.entries(list).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/**
 * The output of a value. Only text, booleans and small whole numbers are supported. Helm reads
 * other numbers as floats, and writes 1000000 as 1e+06.
 */
export const printed = (value: Value): string => {
  if (value === undefined || value === null) throw new Error("nothing would be written")
  if (typeof value === "object") throw new Error("an object would be written")
  if (typeof value === "number" && !(Number.isInteger(value) && Math.abs(value) < 1e6))
    throw new Error(`${value} would be written as a float: put it in quotes`)
  return `${value as string | number | boolean}`
}

export const execute = (nodes: ReadonlyArray<Node>, scope: Scope, functions: Functions): string => {
  const inner = (
    body: ReadonlyArray<Node>,
    dot: Value,
    more: ReadonlyArray<[string, Value]> = []
  ) => execute(body, { dot, variables: new Map([...scope.variables, ...more]) }, functions)
  const valueOf = (pipeline: string) => evaluate(pipeline, scope, functions)
  return nodes
    .map((node) => {
      switch (node._tag) {
        case "Text":
          return node.text
        case "Output":
          return node.pipeline.startsWith("/*") ? "" : printed(valueOf(node.pipeline))
        case "Assign":
          scope.variables.set(node.name, valueOf(node.pipeline))
          return ""
        case "If":
          return inner(isTrue(valueOf(node.pipeline)) ? node.then : node.otherwise, scope.dot)
        case "With": {
          const dot = valueOf(node.pipeline)
          return isTrue(dot) ? inner(node.then, dot) : inner(node.otherwise, scope.dot)
        }
        case "Range":
          return entriesOf(valueOf(node.pipeline))
            .map(([key, value]) => {
              const [first, second] = node.names
              const named: ReadonlyArray<[string, Value]> =
                first === undefined
                  ? []
                  : second === undefined
                    ? [[first, value]]
                    : [
                        [first, key],
                        [second, value]
                      ]
              return inner(node.body, value, named)
            })
            .join("")
      }
    })
    .join("")
}
