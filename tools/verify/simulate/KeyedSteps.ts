/**
 * The effect of a storage step on the idempotency key of its request: whether the step is still
 * allowed, and what it stores under the key.
 */
import type { DateTime } from "effect"
import type { Keep, Reservation } from "@data-import/domain/requests/IdempotencyKey"
import type { Accounts } from "@data-import/domain/ports/Accounts"
import type { Batches } from "@data-import/domain/ports/Batches"
import type { Command, Operation } from "./ImportModel.ts"
import * as KeyModel from "./KeyModel.ts"
import type { Answer } from "./Request.ts"

type ChangeCommand = Parameters<Accounts["Service"]["change"]>[0]
type CreateBatch = Parameters<Batches["Service"]["create"]>[0]
type Write = Command<Operation> | ChangeCommand | CreateBatch

/** The reservation of a write; null if its request has no key, or it keeps no answer. */
const reservationOf = (command: Write): Reservation | null => {
  const keep: Keep<never> | null | undefined = "keep" in command ? command.keep : null
  return keep ? keep.reservation : null
}

/** Whether the write has a reservation that is no longer its own. */
export const isLost = (rows: KeyModel.KeyRows, command: Write): boolean => {
  const reservation = reservationOf(command)
  return reservation !== null && !KeyModel.isHeld(rows, reservation)
}

/** Keeps the answer of a write that has stored something. */
export const keepAnswer = (
  rows: KeyModel.KeyRows,
  command: Write,
  message: string,
  at: DateTime.Utc
): void => {
  const reservation = reservationOf(command)
  if (reservation !== null) KeyModel.keep(rows, reservation, message, at)
}

/** After a change was decided: keeps its answer if it adds something, otherwise frees its key. */
export const learnOfChange = (
  rows: KeyModel.KeyRows,
  command: ChangeCommand,
  answer: Answer,
  adds: boolean
): void => {
  const reservation = reservationOf(command)
  if (reservation === null || answer.code !== "ok") return
  if (adds) keepAnswer(rows, command, answer.message, command.at)
  else KeyModel.release(rows, reservation)
}
