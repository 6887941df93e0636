/**
 * A cell that has not the form that its column states. It is sent as this object, which the service
 * refuses at the field of the column, whatever the type of the field is.
 */
import { isObject } from "@data-import/domain/schema/Json"

export interface WrongCell {
  readonly cell: string
  readonly must_be: string
  /** Even a free object is refused for this character. */
  readonly refused_for: "\u0000"
}

export const wrongCell = (cell: string, must_be: string): WrongCell => ({
  cell,
  must_be,
  refused_for: "\u0000"
})

export const isWrongCell = (value: unknown): value is WrongCell =>
  isObject(value) && value["refused_for"] === "\u0000" && typeof value["cell"] === "string"

const longestShown = 80

/** A value as a report shows it: as JSON, which quotes a text, and cut. */
export const shownValue = (value: unknown): string => {
  const points = Array.from(JSON.stringify(value))
  return points.length > longestShown
    ? `${points.slice(0, longestShown - 1).join("")}…`
    : points.join("")
}

export const wrongCellText = ({ cell, must_be }: WrongCell): string =>
  `${shownValue(cell)} must be ${must_be}.`
