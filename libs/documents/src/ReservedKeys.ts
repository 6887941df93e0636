/** Keys of the bucket that the service itself writes, and no link of a supplier leads to. */

const prefix = ".data-import/"

/** The key of the heads of audit chains under this name. */
export const auditHeads = `${prefix}audit-heads/`

export const isReserved = (key: string): boolean => key.replace(/^\/+/, "").startsWith(prefix)
