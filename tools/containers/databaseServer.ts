/**
 * A PostgreSQL in a container in place of the embedded one, for a test run. It has its own network,
 * because an engine may have no default network.
 */
import setUpDatabases from "@data-import/postgres/testing/globalSetup"
import { PostgreSqlContainer } from "@testcontainers/postgresql"
import { Network } from "testcontainers"
import type { TestProject } from "vitest/node"
import { imageOf } from "./images.ts"

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const network = await new Network().start()
  const server = await new PostgreSqlContainer(imageOf("postgres"))
    .withNetwork(network)
    // No data outlives the container, and the contracts do not test durability.
    .withCommand(["postgres", "-c", "fsync=off"])
    .start()
  const stop = async () => {
    await server.stop()
    await network.stop()
  }
  // The engine runs on this machine, although its address may differ.
  process.env["DATABASE_URL"] = `${server.getConnectionUri()}?sslmode=disable`
  try {
    const drop = await setUpDatabases(project)
    return async () => {
      await drop()
      await stop()
    }
  } catch (cause) {
    await stop()
    throw cause
  }
}
