/**
 * Prints where the binaries of the embedded PostgreSQL are, with their links restored, for a script
 * that copies them. Takes the path of a data directory, which is not made.
 */
import { prepareFolder } from "@data-import/postgres/testing/PostgresFolder"

console.log(prepareFolder(process.argv[2] ?? "").native)
