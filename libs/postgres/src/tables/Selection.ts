/** Lists of columns for a `select`, made from the fields of the schema that decodes its rows. */
import { String } from "effect"

interface Fields {
  readonly [name: string]: unknown
}

/**
 * The columns of these fields, each under the name of its field; a column has its name in snake
 * case. `of` is the table or alias of the columns.
 */
export const columnsOf = (fields: Fields, of?: string): string =>
  Object.keys(fields)
    .map((field) => {
      const column = String.camelToSnake(field)
      return `${of === undefined ? "" : `${of}.`}${column} as "${field}"`
    })
    .join(", ")
