/** A thread that checks blocks of lines, one after the other. */
import { workerData } from "node:worker_threads"
import { blockCheck } from "./BlockCheck.ts"
import type { WorkerSettings } from "./CheckedBlock.ts"
import { answerBlocks } from "./WorkerThread.ts"

answerBlocks(blockCheck(workerData as WorkerSettings))
