/**
 * Turns the client for Effect into plain functions: effects into promises, streams into async
 * iterables, and sources of lines and dates into the values of Effect. The types are derived, so
 * that no operation is declared twice.
 */
import { Cause, DateTime, Effect, Exit, Stream } from "effect"
import type { Source } from "./BatchParts.ts"
import { framesAbove, withFrames } from "./CallerFrames.ts"
import type { Answered, CallOptions } from "./Calls.ts"
import type { Operation } from "./Operations.ts"

/** Lines of a batch: a list, a generator, a file as a stream of bytes. */
export type LineSource = Iterable<Source> | AsyncIterable<Source>

/** Options of a call that can be aborted. */
export interface AbortableOptions extends CallOptions {
  /** Ends the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal
}

/** A result as a plain value. */
type Plain<A> =
  A extends Stream.Stream<infer Element, infer _E, infer _R>
    ? AsyncIterable<Element>
    : A extends Answered<infer Value>
      ? Answered<Plain<Value>>
      : A

type PlainQuery<Query> = {
  readonly [Name in keyof Query]: Query[Name] extends DateTime.Utc | undefined
    ? Date | Extract<Query[Name], undefined>
    : Query[Name]
}

type PlainRequest<Request> = {
  readonly [Part in keyof Request]: Part extends "query"
    ? PlainQuery<Request[Part]>
    : Exclude<Request[Part], Stream.Stream<Uint8Array, unknown>>
}

type Arguments<Request> = {} extends Request
  ? [request?: PlainRequest<Request>, options?: AbortableOptions]
  : [request: PlainRequest<Request>, options?: AbortableOptions]

type PlainArguments<Values extends ReadonlyArray<unknown>> = {
  [Index in keyof Values]: Values[Index] extends Stream.Stream<Source, infer _E>
    ? LineSource
    : Values[Index] extends { readonly staged_after?: DateTime.Utc } | undefined
      ? PlainQuery<Values[Index]>
      : Values[Index]
}

/** An operation as a function of promises. */
export interface PromisedOperation<Request, Answer> {
  (...call: Arguments<Request>): Promise<Plain<Exclude<Answer, undefined>>>
  /** The answer with its status and headers. Its value is undefined for a 304. */
  readonly withResponse: (...call: Arguments<Request>) => Promise<Answered<Plain<Answer>>>
}

type PromisedFunction<F> =
  F extends Operation<infer Request, infer Answer, infer _E>
    ? PromisedOperation<Request, Answer>
    : F extends (...call: infer Values) => Effect.Effect<infer A, infer _E>
      ? (...call: PlainArguments<Values>) => Promise<A>
      : F extends (...call: infer Values) => Stream.Stream<infer A, infer _E>
        ? (...call: PlainArguments<Values>) => AsyncIterable<A>
        : never

/** Groups of functions that return effects and streams, as plain functions. */
export type Promised<Groups> = {
  readonly [Name in keyof Groups]: {
    readonly [Id in keyof Groups[Name]]: PromisedFunction<Groups[Name][Id]>
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

const hasMember = (value: unknown, key: symbol): boolean =>
  typeof value === "object" && value !== null && key in value

const instantOf = (value: unknown): unknown =>
  value instanceof Date ? DateTime.fromDateUnsafe(value) : value

const mapped = (record: Readonly<Record<string, unknown>>, change: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))

/** An argument as the functions for Effect take it. */
const argumentOf = (value: unknown): unknown => {
  if (isRecord(value)) {
    const { query } = value
    return mapped(
      { ...value, ...(isRecord(query) && { query: mapped(query, instantOf) }) },
      instantOf
    )
  }
  if (value instanceof Uint8Array) return Stream.make(value)
  if (hasMember(value, Symbol.asyncIterator)) {
    return Stream.fromAsyncIterable(value as AsyncIterable<unknown>, (error) => error)
  }
  return hasMember(value, Symbol.iterator) ? Stream.fromIterable(value as Iterable<unknown>) : value
}

/** Never succeeds. Dies with the reason of the signal. */
const aborted = (signal: AbortSignal): Effect.Effect<never> =>
  Effect.callback<never>((resume) => {
    const abort = () => resume(Effect.die(signal.reason))
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", abort))
  })

/** Of a call: what ends it, and the frames of its caller. */
interface Call {
  readonly signal: AbortSignal | undefined
  readonly frames: string
}

const plainOf = (value: unknown, call: Call): unknown => {
  if (Stream.isStream(value)) return iterable(value as Stream.Stream<unknown, unknown>, call)
  return isRecord(value) && Stream.isStream(value["value"])
    ? { ...value, value: plainOf(value["value"], call) }
    : value
}

const iterable = <A, E>(stream: Stream.Stream<A, E>, { frames, signal }: Call) => {
  const framed = Stream.mapError(stream, (error) => withFrames(error, frames))
  return Stream.toAsyncIterable(
    signal === undefined ? framed : Stream.interruptWhen(framed, aborted(signal))
  )
}

/** The promise of an effect. It rejects with the error itself, or the reason of the signal. */
const promiseOf = async (effect: Effect.Effect<unknown, unknown>, call: Call): Promise<unknown> => {
  const { frames, signal } = call
  const exit = await Effect.runPromiseExit(
    signal === undefined ? effect : Effect.raceFirst(effect, aborted(signal))
  )
  if (Exit.isSuccess(exit)) return plainOf(exit.value, call)
  throw withFrames(Cause.squash(exit.cause), frames)
}

type Returning = (...call: ReadonlyArray<unknown>) => unknown

/**
 * The signal among the arguments of a call. A source of lines is a separate argument; bytes in a
 * request are its body.
 */
const signalIn = (values: ReadonlyArray<unknown>): AbortSignal | undefined =>
  values
    .flatMap((value) => (isRecord(value) ? [value["signal"]] : []))
    .find((signal) => signal instanceof AbortSignal)

const promisedFunction = (call: Returning, bound: AbortSignal | undefined): Returning => {
  const promised: Returning = (...values) => {
    const made: Call = { signal: signalIn(values) ?? bound, frames: framesAbove(promised) }
    const result = call(...values.map(argumentOf))
    return Stream.isStream(result)
      ? iterable(result as Stream.Stream<unknown, unknown>, made)
      : promiseOf(result as Effect.Effect<unknown, unknown>, made)
  }
  const { withResponse } = call as { readonly withResponse?: Returning }
  return withResponse === undefined
    ? promised
    : Object.assign(promised, { withResponse: promisedFunction(withResponse, bound) })
}

/** The groups as plain functions, which all end with this signal. */
export const promised = <Groups extends object>(
  groups: Groups,
  signal?: AbortSignal
): Promised<Groups> =>
  mapped(groups as Readonly<Record<string, unknown>>, (group) =>
    mapped(group as Readonly<Record<string, unknown>>, (call) =>
      promisedFunction(call as Returning, signal)
    )
  ) as Promised<Groups>
