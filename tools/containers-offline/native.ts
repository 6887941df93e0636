/**
 * Prints the folder of the embedded PostgreSQL's binaries, with their links restored, for a script
 * that copies them. Takes the path of a data directory, which is not created.
 */
import { prepareFolder } from "@data-import/postgres/testing/PostgresFolder"

console.log(prepareFolder(process.argv[2] ?? "").native)
