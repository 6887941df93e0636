/**
 * The peer as a process. Reads `PORT`, `DATABASE_URL`, `JWKS_FILE`, `DATABASE_POOL_SIZE` (10) and
 * `LOG_LEVEL` (info), as the services do.
 */
import { makeServer } from "./Server.ts"

const { DATABASE_POOL_SIZE, DATABASE_URL, JWKS_FILE, LOG_LEVEL, PORT } = process.env
if (DATABASE_URL === undefined || JWKS_FILE === undefined) {
  throw new Error("The peer needs DATABASE_URL and JWKS_FILE")
}

const server = makeServer({
  databaseUrl: DATABASE_URL,
  jwksFile: JWKS_FILE,
  connections: Number(DATABASE_POOL_SIZE ?? 10),
  logLevel: LOG_LEVEL ?? "info"
})
process.once("SIGTERM", () => void server.close())
await server.listen({ host: "127.0.0.1", port: Number(PORT ?? 0) })
