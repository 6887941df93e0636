/** Keys of the bucket that only the service writes. No link of a supplier leads to them. */

const prefix = ".data-import/"

/** The key of the export of the audit log under this name. */
export const auditHeads = `${prefix}audit-heads/`

export const isReserved = (key: string): boolean => key.replace(/^\/+/, "").startsWith(prefix)
