/**
 * The load generator, in a separate process: it takes an order from its parent, sends requests on
 * the order's connections as fast as they are answered, checks the status of each answer, and
 * reports the results. Further orders may follow.
 */
import { Client } from "undici"
import { quantile } from "@data-import/testbed/Quantile"
import type { LoadRequest, LoadResult } from "./Load.ts"
import { type Request, type Workload, workloads } from "./Workloads.ts"

interface Run {
  readonly order: LoadRequest
  readonly workload: Workload
  readonly began: number
  readonly latencies: Array<number>
  sent: number
  wrong: string | null
}

const shownOfWrong = 400

const isOver = ({ began, order, sent, wrong }: Run): boolean =>
  wrong !== null ||
  sent >= (order.requests ?? Infinity) ||
  performance.now() - began >= order.seconds * 1_000

const requestOf = ({ order, workload }: Run, index: number): Request =>
  workload.request(order.supplier, order.first + index)

/** One request; settles when its answer is whole. */
const exchange = (run: Run, client: Client, index: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const { body, method, path } = requestOf(run, index)
    const headers = {
      authorization: `Token ${run.order.token}`,
      ...(body !== null && { "content-type": "application/json" })
    }
    const began = performance.now()
    let status = 0
    let text = ""
    client.dispatch(
      { body, headers, method, path },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, statusCode) => {
          status = statusCode
        },
        onResponseData: (_controller, chunk) => {
          if (status !== run.workload.expected) text += chunk.toString("utf8")
        },
        onResponseEnd: () => {
          run.latencies.push(performance.now() - began)
          if (status !== run.workload.expected) {
            run.wrong ??= `${method} ${path} → ${status} ${text.slice(0, shownOfWrong)}`
          }
          resolve()
        },
        onResponseError: (_controller, error) => reject(error)
      }
    )
  })

const onConnection = async (run: Run): Promise<void> => {
  const client = new Client(run.order.url, { pipelining: 1 })
  try {
    while (!isOver(run)) {
      const index = run.sent++
      await exchange(run, client, index)
    }
  } catch (cause) {
    run.wrong ??= `A request failed: ${String(cause)}`
  } finally {
    await client.destroy()
  }
}

const generate = async (order: LoadRequest): Promise<LoadResult> => {
  const run: Run = {
    order,
    workload: workloads[order.workload],
    began: performance.now(),
    latencies: [],
    sent: 0,
    wrong: null
  }
  await Promise.all(Array.from({ length: order.connections }, () => onConnection(run)))
  return {
    requests: run.latencies.length,
    seconds: (performance.now() - run.began) / 1_000,
    p50: quantile(run.latencies, 0.5),
    p99: quantile(run.latencies, 0.99),
    wrong: run.wrong
  }
}

process.on("message", (order: LoadRequest) => {
  void generate(order).then((outcome) => process.send?.(outcome))
})
