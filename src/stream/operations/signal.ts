import { isGated, isSuperseded } from '../event.ts'
import { sortedById } from '../event-id.ts'
import { progressOf } from '../gate.ts'
import { type KeptSignal, MAX_KEPT_SIGNALS, signalMark } from '../signal.ts'
import { checkOpen, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import { conditionsOf, keepClosed } from './gates.ts'
import type { Operation, Refusal } from './operation.ts'

type Signal = Extract<Operation, { op: 'signal' }>

/**
 * Gives a signal to the event with the lowest id that waits for it, or to every one; keeps it if none does. Settling
 * opens the gates.
 */
export function signal(draft: Draft, { name, data, every = false }: Signal, by: string): Refusal | undefined {
  const root = draft.at(0)
  const ended = checkOpen(root)
  if (ended !== undefined) return ended
  const waiting = waitingFor(draft, name)
  const came = { name, at: draft.now, by, commandId: draft.commandId, ...(data === undefined ? {} : { data }) }
  if (waiting.length === 0 && draft.signals.length >= MAX_KEPT_SIGNALS) {
    return refuse(
      'signals-full',
      root,
      `${MAX_KEPT_SIGNALS} signals are kept already, and no event waits for ${name}; add one that does, then send it again`,
    )
  }
  draft.changes.push({ event: root.id, from: root.status, to: root.status, how: 'target', attr: signalMark(name) })
  if (waiting.length === 0) draft.signals = [...draft.signals, came]
  for (const at of every ? waiting : waiting.slice(0, 1)) receive(draft, at, came)
  return undefined
}

/** Positions of the events that wait for a signal, lowest id first. */
function waitingFor({ stream }: Draft, name?: string): number[] {
  const waiting = stream.events.flatMap((event, at) => {
    const isWaiting = isGated(event) && event.lc.signal !== undefined && !isSuperseded(event) && stream.counts(at)
    if (!isWaiting || (name !== undefined && event.lc.signal !== name)) return []
    return progressOf(stream, event) === 'failed' ? [] : [{ at, id: event.id }]
  })
  return sortedById(waiting, ({ id }) => id).map(({ at }) => at)
}

/** Gives kept signals to the events that wait for them by now: the oldest of a name to the lowest id. */
export function giveKeptSignals(draft: Draft): void {
  for (const at of waitingFor(draft)) {
    const { signal: name } = draft.at(at).lc
    const kept = draft.signals.find(candidate => candidate.name === name)
    if (kept === undefined) continue
    draft.signals = draft.signals.filter(candidate => candidate !== kept)
    receive(draft, at, kept)
  }
}

/** Takes the signal out of the gate; what else keeps it closed stays. Its data is the input of the event. */
function receive(draft: Draft, at: number, { data }: KeptSignal): void {
  draft.patch(at, { lc: { signal: undefined } })
  draft.attach(at, 'input', data)
  const left = conditionsOf(draft.at(at))
  if (Object.keys(left).length > 0) keepClosed(draft, at, left)
}
