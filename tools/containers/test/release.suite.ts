/** A release by digest: its images are pushed to a registry, and started from it. */
import { GenericContainer, Network, Wait } from "testcontainers"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Composition } from "../Composition.ts"
import { registryImage } from "../images.ts"

const port = 5000
const byDigest = /@sha256:[0-9a-f]{64}$/

describe("a release", () => {
  let registry: string
  let system: Composition
  let stopRegistry = () => Promise.resolve()

  beforeAll(async () => {
    const network = await new Network().start()
    const server = await new GenericContainer(registryImage)
      .withNetwork(network)
      .withExposedPorts(port)
      .withWaitStrategy(Wait.forHttp("/v2/", port))
      .start()
    stopRegistry = async () => {
      await server.stop()
      await network.stop()
    }
    // The address as the engine sees it. It accepts a registry without TLS only on its own machine.
    registry = `127.0.0.1:${server.getMappedPort(port)}/data-import`
    system = new Composition({ IMAGE_REGISTRY: registry, IMAGE_TAG: "tested" })
    await system.build()
  })
  afterAll(async () => {
    await system.stop()
    await stopRegistry()
  })

  it("is refused before its images are in the registry", async () => {
    await expect(system.release()).rejects.toThrow(`gateway: ${registry}/gateway:tested`)
  })

  it("runs the images of the registry, each by its digest", { timeout: 600_000 }, async () => {
    await system.push()
    const release = await system.release()
    expect(system.passwords.filter((password) => release.includes(password))).toEqual([])
    await system.forget(registry)
    await system.startRelease(release)
    const images = await system.images()
    expect(images.filter((image) => !byDigest.test(image))).toEqual([])
    expect(images.length).toBeGreaterThan(12)
    expect((await fetch(`${system.gatewayUrl}/health/ready`)).status).toBe(200)
    for (const image of images) expect(release).toContain(`image: "${image}"`)
  })
})
