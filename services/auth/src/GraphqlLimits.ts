/**
 * How much a GraphQL document may ask for. It runs synchronously, so no other request is served
 * while a large answer is made. The number of tokens bounds the text, and the rules here bound its
 * result. The schema is small and nests nothing, so only introspection can multiply. Without
 * aliases its answer is bounded by the schema.
 */
import {
  type DocumentNode,
  GraphQLError,
  parse as parseDocument,
  type SelectionSetNode,
  specifiedRules,
  type ValidationRule
} from "graphql"

/** Five times as many as the longest usual document has, the introspection query. */
const maxTokens = 1000

/** Each error counts the lines up to its location. */
const maxLines = 1000

/** The longest introspection query has 232; validation compares fields pair by pair. */
const maxFields = 300

/**
 * The fields of the operations, with each fragment counted at every spread, and those of fragments
 * that no operation reaches, because they are validated too. Each fragment is counted once and the
 * sum stops above the limit, so that counting is linear in the text. A recursive spread counts
 * nothing: validation refuses it.
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

const countLines = (text: string): number => text.split(/\r\n|[\n\r]/).length

/**
 * Parses a document. A document that is too large is refused here, because validation takes long
 * for many fields.
 * @throws GraphQLError
 */
export const parse = (query: string): DocumentNode => {
  if (countLines(query) > maxLines) {
    throw new GraphQLError(`A document may have ${maxLines} lines.`)
  }
  const document = parseDocument(query, { maxTokens })
  if (countFields(document) > maxFields) {
    throw new GraphQLError(`A document may have ${maxFields} fields, fragments expanded.`)
  }
  return document
}

/** Counts over the whole document, including fragments, so that the rule cannot be circumvented. */
const obtainOnce: ValidationRule = (context) => {
  let found = 0
  return {
    Field: (node) => {
      const isMutation = context.getParentType() === context.getSchema().getMutationType()
      if (!isMutation || node.name.value !== "obtainServiceToken") return
      found += 1
      if (found === 2) {
        context.reportError(
          new GraphQLError("A request may ask for obtainServiceToken once.", { nodes: node })
        )
      }
    }
  }
}

/** Without an alias each field is answered once, however often it is selected. */
const introspectWithoutAliases: ValidationRule = (context) => {
  const isIntrospection = (name: string) =>
    name === "__schema" || name === "__type" || context.getParentType()?.name.startsWith("__")
  return {
    Field: (node) => {
      if (node.alias === undefined || !isIntrospection(node.name.value)) return
      context.reportError(
        new GraphQLError("Introspection takes no aliases.", { nodes: node.alias })
      )
    }
  }
}

/** The rules of the specification, and those of this interface. */
export const rules: ReadonlyArray<ValidationRule> = [
  ...specifiedRules,
  obtainOnce,
  introspectWithoutAliases
]

/** An error about a variable quotes its whole value. */
const maxValues = 100

/** Errors in one answer. */
export const maxErrors = 10

const countValues = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((count, member) => count + countValues(member), 1)
    : 1

/** Refuses variables that hold too many values. */
export const refusalOfVariables = (variables: unknown): GraphQLError | undefined =>
  countValues(variables) <= maxValues
    ? undefined
    : new GraphQLError(`The variables may have ${maxValues} values.`)
