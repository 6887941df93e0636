/**
 * The peer as a process. Reads `PORT`, `DATABASE_URL`, `JWKS_FILE`, `DATABASE_POOL_SIZE` (16),
 * `LOG_LEVEL` (info), and either `DOCUMENTS_DIR` or `S3_BUCKET` and `S3_ENDPOINT`.
 */
import type { Store } from "./Documents.ts"
import { makeServer } from "./Server.ts"

const { DATABASE_POOL_SIZE, DATABASE_URL, JWKS_FILE, LOG_LEVEL, PORT } = process.env
const { DOCUMENTS_DIR, S3_BUCKET, S3_ENDPOINT } = process.env
if (DATABASE_URL === undefined || JWKS_FILE === undefined) {
  throw new Error("The peer needs DATABASE_URL and JWKS_FILE")
}

const storeOf = (): Store => {
  if (DOCUMENTS_DIR !== undefined) return { folder: DOCUMENTS_DIR }
  if (S3_BUCKET !== undefined && S3_ENDPOINT !== undefined) {
    return { bucket: S3_BUCKET, endpoint: S3_ENDPOINT, region: "us-east-1" }
  }
  throw new Error("The peer needs DOCUMENTS_DIR, or S3_BUCKET and S3_ENDPOINT")
}

const server = makeServer({
  databaseUrl: DATABASE_URL,
  jwksFile: JWKS_FILE,
  connections: Number(DATABASE_POOL_SIZE ?? 16),
  logLevel: LOG_LEVEL ?? "info",
  documents: storeOf()
})
process.once("SIGTERM", () => void server.close())
await server.listen({ host: "127.0.0.1", port: Number(PORT ?? 0) })
