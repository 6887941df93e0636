/** A thread that makes the entries of accounts, one block of lines after the other. */
import { workerData } from "node:worker_threads"
import { answerBlocks } from "../check/WorkerThread.ts"
import { blockCertification } from "./BlockCertification.ts"
import type { CertifySettings } from "./CertifiedBlock.ts"

answerBlocks(blockCertification(workerData as CertifySettings), ({ bytes, leaves }) => [
  leaves.buffer,
  bytes.buffer
])
