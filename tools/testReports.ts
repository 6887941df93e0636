/** The files in which each project's test run leaves its results for the whole run. */
import { join } from "node:path"

export const reportsFolder = join(import.meta.dirname, "../.reports")

export const reportFolder = (project: string): string =>
  join(reportsFolder, project === "." ? "workspace" : project)

/** The report of Vitest's JSON reporter. */
export const reportFile = (project: string): string => join(reportFolder(project), "report.json")

/** The answers that the tests saw; see libs/api/testing/ContractCoverage.ts. */
export const answersFolder = (project: string): string => join(reportFolder(project), "answers")
