/** How pages and documents name who acted. The audit log itself has the exact text. */

const prefix = /^(board|operator):(.*)$/s

/** Whether the audit log has the name of a person there, and not the id of an API key. */
export const isPerson = (who: string): boolean => prefix.test(who)

/** A user of the board by name alone, somebody who used the operator command with that role. */
export const personName = (who: string): string => {
  const [, on, name = who] = prefix.exec(who) ?? []
  return on === "operator" ? `${name} (operator)` : name
}
