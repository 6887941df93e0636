/**
 * Runs before every test file: schemas are compiled, as they are in the services, but for the tests
 * of the domain, which other teams use as it is.
 */
import { expect } from "vitest"

const { testPath } = expect.getState()
if (testPath === undefined) throw new Error("The test file has no path")
if (!testPath.includes("/libs/domain/")) await import("effect/schema/SchemaJITCompiler/enable")
