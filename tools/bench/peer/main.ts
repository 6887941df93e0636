/**
 * The peer as a process. Reads `PORT`, `DATABASE_URL`, `JWKS_FILE`, `DOCUMENTS_DIR`,
 * `DATABASE_POOL_SIZE` (16) and `LOG_LEVEL` (info).
 */
import { makeServer } from "./Server.ts"

const { DATABASE_POOL_SIZE, DATABASE_URL, DOCUMENTS_DIR, JWKS_FILE, LOG_LEVEL, PORT } = process.env
if (DATABASE_URL === undefined || JWKS_FILE === undefined || DOCUMENTS_DIR === undefined) {
  throw new Error("The peer needs DATABASE_URL, JWKS_FILE and DOCUMENTS_DIR")
}

const server = makeServer({
  databaseUrl: DATABASE_URL,
  jwksFile: JWKS_FILE,
  connections: Number(DATABASE_POOL_SIZE ?? 16),
  logLevel: LOG_LEVEL ?? "info",
  documents: DOCUMENTS_DIR
})
process.once("SIGTERM", () => void server.close())
await server.listen({ host: "127.0.0.1", port: Number(PORT ?? 0) })
