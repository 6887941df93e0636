/**
 * The system of docker/compose.yaml, optionally with simulated vendors and further files, with a
 * fresh project name and fresh passwords. Only ports that the files publish can be reached from
 * outside, on free ports. Everything else happens within a container.
 */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  DockerComposeEnvironment,
  getContainerRuntimeClient,
  type StartedDockerComposeEnvironment
} from "testcontainers"
import { composeFolder } from "./images.ts"

const files = ["compose.yaml", "compose.simulated.yaml"]
const releaseScript = join(import.meta.dirname, "..", "release.ts")
const parts = [
  "POSTGRES",
  "OBJECT_STORE",
  "ACCOUNT_IMPORT",
  "POST_IMPORT",
  "QUERY",
  "BATCHES",
  "BATCH_WORKER",
  "EVENTS",
  "BOARD",
  "AUTH",
  "OPERATOR"
]

/** The standard output of a program; rejects when it fails. */
const output = (
  program: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string | undefined>>,
  input = ""
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: composeFolder, env, stdio: "pipe" })
    const written = { stdout: "", stderr: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => (written.stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (written.stderr += text))
    child.once("error", reject)
    child.once("close", (code) => {
      if (code === 0) return resolve(written.stdout)
      const end = (written.stderr + written.stdout).trim().split("\n").slice(-20).join("\n")
      reject(new Error(`${program} ${args.join(" ")} ended with ${code}:\n${end}`))
    })
    child.stdin.end(input)
  })

/** The parts of the engine's description of a container that the tests use. */
export interface Inspected {
  readonly name: string
  readonly image: string
  readonly user: string
  readonly environment: ReadonlyArray<string>
  readonly readOnly: boolean
  readonly restartPolicy: string
  readonly restarts: number
  readonly health: string | undefined
  /** The published ports of this machine, as `address:port`. */
  readonly published: ReadonlyArray<string>
}

export class Composition {
  readonly #files: ReadonlyArray<string>
  readonly #settings: Readonly<Record<string, string>>
  readonly #name: string
  #running: StartedDockerComposeEnvironment | undefined
  readonly passwords: ReadonlyArray<string>

  /** `settings` are added to those that compose.yaml requires; `added` are further files. */
  constructor(settings: Readonly<Record<string, string>> = {}, ...added: ReadonlyArray<string>) {
    this.#files = [...files, ...added]
    const drawn = parts.map((part) => ({ part, password: randomBytes(24).toString("hex") }))
    this.passwords = drawn.map(({ password }) => password)
    this.#settings = {
      ...Object.fromEntries(drawn.map(({ part, password }) => [`${part}_PASSWORD`, password])),
      PORT: "0",
      ...settings
    }
    this.#name = `data-import-${randomBytes(4).toString("hex")}`
  }

  /**
   * Starts all services except those named.
   * @throws Error where a container does not start, or is not healthy in time
   */
  async start(without: ReadonlyArray<string> = []): Promise<void> {
    await this.build()
    const services = await this.#lines("config", "--services")
    await this.#up(
      this.#files,
      services.filter((service) => !without.includes(service))
    )
  }

  /** Starts the services of the file of `release`. */
  async startRelease(release: string): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), "data-import-release-"))
    const file = join(folder, "release.yaml")
    writeFileSync(file, release)
    try {
      await this.#up([...this.#files, file])
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  async #up(composed: ReadonlyArray<string>, services?: ReadonlyArray<string>): Promise<void> {
    this.#running = await new DockerComposeEnvironment(composeFolder, [...composed])
      .withProjectName(this.#name)
      .withEnvironment(this.#settings)
      .withStartupTimeout(300_000)
      .up(services && [...services])
  }

  async build(): Promise<void> {
    await this.#compose(["--profile", "operator", "build"])
  }

  /** Pushes the images of the release to its registry, and pulls third-party images from theirs. */
  async push(): Promise<void> {
    await this.#compose(["pull", "--quiet", "--ignore-buildable"])
    await this.#compose(["--profile", "operator", "push", "--quiet"])
  }

  /** The output of `npm run release`; rejects with its message if an image has no digest. */
  async release(...options: ReadonlyArray<string>): Promise<string> {
    const composed = await this.#compose(["--profile", "operator", "config", "--format", "json"])
    return output(process.execPath, [releaseScript, ...options], process.env, composed)
  }

  async stop(): Promise<void> {
    await this.#running?.down()
  }

  get gatewayUrl(): string {
    return this.published("gateway-1", 8080)
  }

  /** The URL of a port that compose publishes to this machine. */
  published(name: string, port: number): string {
    const container = this.#container(name)
    return `http://${container.getHost()}:${container.getMappedPort(port)}`
  }

  /** The services whose image the engine neither has nor can pull. */
  async unavailable(services: ReadonlyArray<string>): Promise<ReadonlyArray<string>> {
    const pulled = await Promise.allSettled(
      services.map((service) => this.#compose(["pull", "--quiet", "--policy", "missing", service]))
    )
    return services.filter((_, index) => pulled[index]?.status === "rejected")
  }

  /** Stops the container of a service. Nothing restarts it. */
  async stopService(service: string): Promise<void> {
    await this.#compose(["stop", "--timeout", "5", service])
  }

  #container(name: string) {
    if (this.#running === undefined) throw new Error("The system does not run")
    return this.#running.getContainer(name)
  }

  #compose(args: ReadonlyArray<string>, input?: string): Promise<string> {
    const named = this.#files.flatMap((file) => ["--file", file])
    return output(
      "docker",
      ["compose", "--project-name", this.#name, ...named, ...args],
      { ...process.env, ...this.#settings },
      input
    )
  }

  /** Runs a command in a new container of the service, and returns its output. */
  run(service: string, options: ReadonlyArray<string>, args: ReadonlyArray<string>, input = "") {
    return this.#compose(["run", "--rm", "--no-deps", "-T", ...options, service, ...args], input)
  }

  /** The images of all containers, including stopped ones, as they were named. */
  images(): Promise<ReadonlyArray<string>> {
    return this.#lines("ps", "--all", "--format", "{{.Image}}")
  }

  async #lines(...args: ReadonlyArray<string>): Promise<ReadonlyArray<string>> {
    return (await this.#compose(args)).trim().split("\n")
  }

  /** Removes all images of the engine whose names begin with the prefix. */
  async forget(prefix: string): Promise<void> {
    const { container } = await getContainerRuntimeClient()
    const all = await container.dockerode.listImages()
    const own = all.filter(({ RepoTags }) => RepoTags?.some((tag) => tag.startsWith(prefix)))
    for (const { Id } of own) await container.dockerode.getImage(Id).remove({ force: true })
  }

  /** The logs of all containers. */
  logs(): Promise<string> {
    return this.#compose(["logs", "--no-color"])
  }

  /**
   * Evaluates JavaScript in the container as the user of its process, and returns the result as
   * text.
   */
  async evaluate(container: string, expression: string): Promise<string> {
    const { exitCode, output } = await this.#container(container).exec(["node", "-p", expression])
    if (exitCode !== 0) throw new Error(`${expression} in ${container}: ${output}`)
    return output.trim()
  }

  async inspect(container: string): Promise<Inspected> {
    const { container: client } = await getContainerRuntimeClient()
    const found = await client.inspect(client.getById(this.#container(container).getId()))
    const { Config, HostConfig, NetworkSettings, RestartCount, State } = found
    const bindings = Object.values(NetworkSettings.Ports).flatMap(
      (each: ReadonlyArray<{ HostIp: string; HostPort: string }> | null) => each ?? []
    )
    return {
      name: container,
      image: Config.Image,
      user: Config.User,
      environment: Config.Env,
      readOnly: HostConfig.ReadonlyRootfs === true,
      restartPolicy: HostConfig.RestartPolicy?.Name ?? "",
      restarts: RestartCount,
      health: State.Health?.Status,
      published: bindings.map(({ HostIp, HostPort }) => `${HostIp}:${HostPort}`)
    }
  }

  /** The recipe of a container's image: its settings, and each step of its history. */
  async recipe(container: string): Promise<string> {
    const { image } = await this.inspect(container)
    const { container: client } = await getContainerRuntimeClient()
    const found = client.dockerode.getImage(image)
    return JSON.stringify([await found.inspect(), await found.history()])
  }
}
