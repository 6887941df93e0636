/** The document store on the object store of compose.yaml fulfils the contract. */
import { randomBytes } from "node:crypto"
import { fill, signAs, storeAt } from "@data-import/documents/testing/Bucket"
import { documentsContract } from "@data-import/domain/testing/DocumentsContract"
import { Effect, Layer } from "effect"
import { GenericContainer, Network, Wait } from "testcontainers"
import { afterAll, beforeAll, describe } from "vitest"
import { imageOf } from "../images.ts"

const port = 7070
const key = "test"
const secret = randomBytes(16).toString("hex")

describe("in a container", () => {
  let endpoint: string
  let stop = () => Promise.resolve()

  beforeAll(async () => {
    const network = await new Network().start()
    const server = await new GenericContainer(imageOf("object-store"))
      .withNetwork(network)
      .withCommand(["posix", "/tmp/vgw"])
      .withEnvironment({
        ROOT_ACCESS_KEY_ID: key,
        ROOT_SECRET_ACCESS_KEY: secret,
        VGW_HEALTH: "/health",
        VGW_PORT: `:${port}`
      })
      .withExposedPorts(port)
      .withWaitStrategy(Wait.forHttp("/health", port))
      .start()
    stop = async () => {
      await server.stop()
      await network.stop()
    }
    endpoint = `http://${server.getHost()}:${server.getMappedPort(port)}`
    signAs(key, secret)
    await fill(endpoint)
  })
  afterAll(() => stop())

  documentsContract("the object store", Layer.unwrap(Effect.sync(() => storeAt(endpoint))), {
    isChecked: false
  })
})
