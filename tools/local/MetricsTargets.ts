/**
 * Writes the addresses of the local run's metrics to `DATA_DIR/metrics.json`, in the format of
 * Prometheus' `file_sd_configs`. The ports are free ones, so they differ from run to run, and that
 * of the batch worker changes at each restart.
 */
import { writeFileSync } from "node:fs"
import type { ServiceName } from "@data-import/testbed/Wiring"

/** Makes the function that notes the port of a service, if it serves metrics. */
export const make = (file: string) => {
  const ports = new Map<ServiceName, number>()
  return (service: ServiceName, port: number | null): void => {
    if (port === null) ports.delete(service)
    else ports.set(service, port)
    const targets = [...ports].map(([name, at]) => ({
      targets: [`127.0.0.1:${at}`],
      labels: { service: name }
    }))
    writeFileSync(file, `${JSON.stringify(targets, null, 2)}\n`)
  }
}
