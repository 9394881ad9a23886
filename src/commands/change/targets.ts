import { createHash } from 'node:crypto'
import { readStream } from '../../ops/read-stream.ts'
import type { EventStore } from '../../store/store.ts'
import { encodeCommandId } from '../../stream/texts.ts'
import { missingProblem, NO_SUCH_EVENT } from '../outcome-problem.ts'
import { type Problem, problem } from '../problem.ts'

/** One change of a batch: a stream, or one event of it. */
export interface Target {
  readonly stream: string
  readonly event: string | undefined
}

/** Every stream with every event, or as a whole. */
export function targetsOf(streams: readonly string[], events: readonly string[]): Target[] {
  const unique = [...new Set(streams)]
  if (events.length === 0) return unique.map(stream => ({ stream, event: undefined }))
  return unique.flatMap(stream => events.map(event => ({ stream, event })))
}

/** Which targets there are, and a problem for each stream that is missing or lacks an event. */
export interface LookUp {
  readonly found: readonly Target[]
  readonly missing: readonly Problem[]
}

/** Looks up all names, before anything is changed. */
export async function lookUp(store: EventStore, targets: readonly Target[], signal: AbortSignal): Promise<LookUp> {
  const found: Target[] = []
  const missing: Problem[] = []
  for (const stream of new Set(targets.map(target => target.stream))) {
    signal.throwIfAborted()
    const own = targets.filter(target => target.stream === stream)
    const events = own.flatMap(({ event }) => (event === undefined ? [] : [event]))
    const problem = await missingIn(store, stream, events, signal)
    if (problem === undefined) found.push(...own)
    else missing.push(problem)
  }
  return { found, missing }
}

/** What is missing, as the problem of the whole command; `undefined` if nothing is. */
export function missingProblemOf(missing: readonly Problem[], many: boolean): Problem | undefined {
  const [first, ...others] = missing
  if (first === undefined || !many) return first
  const facts = others.map(({ message }) => ['also', message] as const)
  return { ...first, facts, hint: 'Nothing was changed, in no stream. --skip-missing goes on with the others.' }
}

async function missingIn(
  store: EventStore,
  stream: string,
  events: readonly string[],
  signal: AbortSignal,
): Promise<Problem | undefined> {
  if (events.length === 0) return (await store.read(stream, signal)) === undefined ? missingProblem(stream) : undefined
  const view = await readStream(store, stream, signal)
  if (view === undefined) return missingProblem(stream)
  const event = events.find(id => view.stream.find(id) === undefined)
  return event === undefined
    ? undefined
    : problem('event-not-found', `${stream} has no event ${event}`, { stream, event, hint: NO_SUCH_EVENT })
}

/** Each change of a batch has an id of its own, made from the command's: so repeating the batch is safe too. */
export function targetCommandId(commandId: string, { stream, event }: Target, batch: boolean): string {
  if (!batch) return commandId
  const id = `${commandId}/${event === undefined ? stream : `${stream}:${event}`}`
  try {
    return encodeCommandId(id)
  } catch {
    return `${commandId.slice(0, 160)}/${createHash('sha256').update(id).digest('hex').slice(0, 32)}`
  }
}
