/**
 * How much a GraphQL document may ask for. It is run in one go, so while a large answer is made
 * nobody else is served: the number of tokens bounds the text, and the rules here bound what comes
 * of it. The schema is small and nests nothing, so only introspection can multiply; without aliases
 * its answer is bounded by the schema. Stands alone since it knows documents, not requests.
 */
import type { DocumentNode, parse, SelectionSetNode, ValidationRule } from "graphql"
import { createGraphQLError, type Plugin } from "graphql-yoga"

/** Five times what the longest usual document, the introspection query, has. */
const maxTokens = 1000

/** Each error counts lines up to where it stands. */
const maxLines = 1000

/** The longest introspection query has 232; validation compares fields pair by pair. */
const maxFields = 300

/**
 * The fields of the operations, with each fragment counted wherever it is spread, and those of the
 * fragments that no operation reaches, since they are validated too. Each fragment is counted once
 * and the sum stops above the limit, so that counting is linear in the text. A fragment within
 * itself counts nothing: validation refuses it.
 */
const countFields = ({ definitions }: DocumentNode): number => {
  const operations = definitions.filter((it) => it.kind === "OperationDefinition")
  const fragments = new Map(
    definitions
      .filter((it) => it.kind === "FragmentDefinition")
      .map(({ name, selectionSet }) => [name.value, selectionSet])
  )
  const counted = new Map<string, number>()

  const countFragment = (name: string): number => {
    const known = counted.get(name)
    if (known !== undefined) return known
    counted.set(name, 0)
    const count = countSelections(fragments.get(name))
    counted.set(name, count)
    return count
  }

  const countSelections = (set: SelectionSetNode | undefined): number => {
    let count = 0
    for (const selection of set?.selections ?? []) {
      if (selection.kind === "FragmentSpread") count += countFragment(selection.name.value)
      else count += countSelections(selection.selectionSet)
      if (selection.kind === "Field") count += 1
      if (count > maxFields) return count
    }
    return count
  }

  let count = 0
  for (const { selectionSet } of operations) count += countSelections(selectionSet)
  for (const name of fragments.keys()) if (!counted.has(name)) count += countFragment(name)
  return count
}

type Parse = typeof parse

const countLines = (text: string): number => text.split(/\r\n|[\n\r]/).length

/** Refuses before validation, which takes long for many fields. */
const parseWithin =
  (parse: Parse): Parse =>
  (source, options) => {
    if (countLines(typeof source === "string" ? source : source.body) > maxLines) {
      throw createGraphQLError(`A document may have ${maxLines} lines.`)
    }
    const document = parse(source, { ...options, maxTokens })
    if (countFields(document) > maxFields) {
      throw createGraphQLError(`A document may have ${maxFields} fields, fragments expanded.`)
    }
    return document
  }

/** Counted over the whole document, fragments included, so that no spelling gets around it. */
const obtainOnce: ValidationRule = (context) => {
  let found = 0
  return {
    Field: (node) => {
      const isMutation = context.getParentType() === context.getSchema().getMutationType()
      if (!isMutation || node.name.value !== "obtainServiceToken") return
      found += 1
      if (found === 2) {
        context.reportError(
          createGraphQLError("A request may ask for obtainServiceToken once.", { nodes: node })
        )
      }
    }
  }
}

/** Without an alias each field is answered once, however often it is asked for. */
const introspectWithoutAliases: ValidationRule = (context) => {
  const isIntrospection = (name: string) =>
    name === "__schema" || name === "__type" || context.getParentType()?.name.startsWith("__")
  return {
    Field: (node) => {
      if (node.alias === undefined || !isIntrospection(node.name.value)) return
      context.reportError(
        createGraphQLError("Introspection takes no aliases.", { nodes: node.alias })
      )
    }
  }
}

/** Every error about a variable quotes it whole. */
const maxValues = 100
const maxErrors = 10

const countValues = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((count, member) => count + countValues(member), 1)
    : 1

/** The limits, for the server. */
export const limits: Plugin = {
  onParse: ({ parseFn, setParseFn }) => setParseFn(parseWithin(parseFn as Parse)),
  onValidate: ({ addValidationRule }) => {
    addValidationRule(obtainOnce)
    addValidationRule(introspectWithoutAliases)
  },
  onExecute: ({ args, setResultAndStopExecution }) => {
    if (countValues(args.variableValues) <= maxValues) return
    const error = createGraphQLError(`The variables may have ${maxValues} values.`)
    setResultAndStopExecution({ errors: [error] })
  },
  onResultProcess: ({ result, setResult }) => {
    if (!("errors" in result) || result.errors === undefined) return
    setResult({ ...result, errors: result.errors.slice(0, maxErrors) })
  }
}
