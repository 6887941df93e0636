/**
 * Request metrics. Routes are templates, so that paths neither multiply the series nor expose
 * account numbers. A bounded number of organisations have separate series.
 */
import { type Context, Metric } from "effect"
import type { RequestFacts } from "@data-import/domain/requests/RequestFacts"
import type { Access } from "./Log.ts"

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const durationOf = (method: string, { route, status }: Access) =>
  Metric.histogram("http_server_request_duration_seconds", {
    description: "Time from the request's headers to the end of its answer.",
    boundaries: seconds,
    attributes: {
      http_request_method: method,
      http_route: route,
      http_response_status_code: String(status)
    }
  })

const refusalsOf = (code: string) =>
  Metric.counter("data_import_refusals_total", {
    description: "Requests that were refused, by the code of the answer.",
    incremental: true,
    attributes: { code }
  })

const requestsOf = (organisation: string) =>
  Metric.counter("data_import_organisation_requests_total", {
    description: "Requests with a valid token, by organisation.",
    incremental: true,
    attributes: { organisation }
  })

const throttledOf = (limit: string, organisation: string) =>
  Metric.counter("data_import_throttled_requests_total", {
    description: "Requests that were refused by a limit.",
    incremental: true,
    attributes: { limit, organisation }
  })

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** The maximum number of organisations with separate series; the others share one. */
export const mostOrganisations = 200

/** The label of all further organisations. An organisation of this name shares it. */
const others = "other"

/** The label of a request without a valid token. */
const nobody = "none"

/** Makes each series once. */
const remembered = <A>(make: (key: string) => A) => {
  const known = new Map<string, A>()
  return (key: string): A => {
    let found = known.get(key)
    if (found === undefined) known.set(key, (found = make(key)))
    return found
  }
}

/** Makes the function that counts an answered request. */
export const make = (
  registry: Context.Context<never>
): ((access: Access, facts: Readonly<RequestFacts>) => void) => {
  const durations = new Map<string, ReturnType<typeof durationOf>>()
  const organisations = new Map<string, ReturnType<typeof requestsOf>>()
  const rest = requestsOf(others)
  const refusals = remembered(refusalsOf)

  const ofOrganisation = (name: string) => {
    const known = organisations.get(name)
    if (known !== undefined || organisations.size >= mostOrganisations) return known ?? rest
    const made = requestsOf(name)
    organisations.set(name, made)
    return made
  }

  return (access, { code, limit, organisation }) => {
    const method = knownMethods.has(access.method) ? access.method : "_OTHER"
    const key = `${method} ${access.route} ${access.status}`
    let duration = durations.get(key)
    if (duration === undefined) durations.set(key, (duration = durationOf(method, access)))
    duration.updateUnsafe(access.duration_ms / 1000, registry)
    if (organisation !== undefined) ofOrganisation(organisation).updateUnsafe(1, registry)
    if (code !== undefined) refusals(code).updateUnsafe(1, registry)
    if (limit !== undefined) {
      const isKnown = organisation === undefined || organisations.has(organisation)
      throttledOf(limit, isKnown ? (organisation ?? nobody) : others).updateUnsafe(1, registry)
    }
  }
}
