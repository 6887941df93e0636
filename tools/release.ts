/**
 * The images of a release by digest, so that what is deployed is what was built and tested:
 * docker compose -f docker/compose.yaml config --format json | npm run -s release >release.yaml
 * Compose reads the file beside the others. With `--chart` it prints values for the chart. Digests
 * are those that the engine knows since it pushed or pulled the images. If images have none, it
 * fails and names them. `config --resolve-image-digests` is not suitable: Compose 2.26 silently
 * kept tags, and its output has the passwords.
 */
import { spawnSync } from "node:child_process"
import { text } from "node:stream/consumers"

interface Service {
  readonly image?: string
  readonly build?: object
}

/** What `docker compose config` prints, as far as it is read here. */
export interface Composition {
  readonly services: Readonly<Record<string, Service>>
}

/** The names by digest that the engine knows of an image, `repository@sha256:…`. */
export type Digests = (image: string) => ReadonlyArray<string>

/** An image by its digest, of a service that is built here or not. */
interface Pinned {
  readonly name: string
  readonly image: string
  readonly isBuilt: boolean
}

/** The name without its tag, which follows the last colon if no folder comes after it. */
const repositoryOf = (image: string): string => image.replace(/@.*$/, "").replace(/:[^/:]+$/, "")

/** @throws Error where an image has no digest */
const pin = ({ services }: Composition, digests: Digests): ReadonlyArray<Pinned> => {
  const found = Object.entries(services).map(([name, { build, image = "" }]) => {
    const prefix = `${repositoryOf(image)}@sha256:`
    const byDigest = digests(image).find((each) => each.startsWith(prefix))
    return { name, asked: image, image: byDigest, isBuilt: build !== undefined }
  })
  const without = found.filter(({ image }) => image === undefined)
  if (without.length === 0) return found.map((each) => ({ ...each, image: each.image ?? "" }))
  const names = without.map(({ asked, name }) => `${name}: ${asked}`)
  throw new Error(
    ["Images without a digest. Push those that are built, and pull the others:", ...names].join(
      "\n"
    )
  )
}

/** A file for Compose, with which it builds none of these images. */
export const release = (composition: Composition, digests: Digests): string => {
  const services = pin(composition, digests).flatMap(({ image, isBuilt, name }) => [
    `  ${name}:`,
    `    image: "${image}"`,
    "    pull_policy: missing",
    ...(isBuilt ? ["    build: !reset null"] : [])
  ])
  return ["services:", ...services, ""].join("\n")
}

/**
 * Values of the chart, which takes its images from one registry.
 * @throws Error where they are in several
 */
export const chartValues = (composition: Composition, digests: Digests): string => {
  const built = pin(composition, digests).filter(({ isBuilt }) => isBuilt)
  const parts = built.map(({ image }) => {
    const [repository = "", digest] = image.split("@")
    const end = repository.lastIndexOf("/")
    const name = repository.slice(end + 1)
    return { registry: repository.slice(0, end), name, digest }
  })
  const registries = [...new Set(parts.map(({ registry }) => registry))]
  if (registries.length !== 1) {
    throw new Error(`The images are to be in one registry, not in: ${registries.join(", ")}`)
  }
  const [registry] = registries
  const { operator, ...services } = Object.fromEntries(
    parts.map(({ digest, name }) => [name, { digest }] as const)
  )
  return `${JSON.stringify({ image: { registry }, services, operator }, null, 2)}\n`
}

/**
 * The digests that the engine knows; none for an image that it does not have.
 * @throws Error where the engine does not answer
 */
const knownToEngine: Digests = (image) => {
  const args = ["image", "inspect", "--format", "{{json .RepoDigests}}", image]
  const { error, status, stderr, stdout } = spawnSync("docker", args, { encoding: "utf8" })
  if (error) throw error
  if (status === 0) return JSON.parse(stdout) as ReadonlyArray<string>
  if (/no such image/i.test(stderr)) return []
  throw new Error(stderr.trim())
}

if (import.meta.main) {
  const composition = JSON.parse(await text(process.stdin)) as Composition
  const print = process.argv.includes("--chart") ? chartValues : release
  try {
    process.stdout.write(print(composition, knownToEngine))
  } catch (cause) {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`)
    process.exitCode = 1
  }
}
